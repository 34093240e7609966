"""Emulated devices, open for one test."""

from collections.abc import Iterator

import pytest
import torch

import opcheck


@pytest.fixture(scope="module")
def device() -> Iterator[torch.device]:
    """An Ascend 910B that computes, for a module's tests together: opening takes a while."""
    with opcheck.emulate("ascend-910b") as device:
        yield device


@pytest.fixture(params=[True, False], ids=["values", "shapes"])
def either(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """An Ascend 910B that computes, and one that follows only shapes."""
    with opcheck.emulate("ascend-910b", values=request.param) as device:
        yield device
