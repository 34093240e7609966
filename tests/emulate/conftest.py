"""Emulated devices, open for one test; a module may open them once for all of its own."""

from collections.abc import Iterator

import pytest
import torch

import opcheck


def opened(values: bool) -> Iterator[torch.device]:
    """An Ascend 910B, until the next step."""
    with opcheck.emulate("ascend-910b", values=values) as device:
        yield device


@pytest.fixture
def device() -> Iterator[torch.device]:
    """A device that computes."""
    yield from opened(True)


@pytest.fixture
def shapes() -> Iterator[torch.device]:
    """A device that follows only shapes."""
    yield from opened(False)


@pytest.fixture(params=[True, False], ids=["values", "shapes"])
def either(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """A device that computes, and one that follows only shapes."""
    yield from opened(request.param)
