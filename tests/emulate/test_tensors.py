"""Tensors of a device that computes behave as the host's do: values, views, storages, errors."""

from collections.abc import Iterator

import pytest
import torch

from tests.emulate.conftest import opened
from tests.emulate.outcome import HOST, Raised, outcome
from tests.emulate.programs import ERRORS, PROGRAMS, numbers


@pytest.fixture(scope="module", name="device")
def open_for_all() -> Iterator[torch.device]:
    yield from opened(True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_the_host(device: torch.device, name: str) -> None:
    expected = outcome(PROGRAMS[name], HOST)
    assert not isinstance(expected, Raised)
    assert outcome(PROGRAMS[name], device) == expected


@pytest.mark.parametrize("name", ERRORS)
def test_a_mistake_raises_torchs_own_error(device: torch.device, name: str) -> None:
    expected = outcome(ERRORS[name], HOST)
    assert isinstance(expected, Raised)
    assert outcome(ERRORS[name], device) == expected
    assert torch.equal((numbers(device) + 1).cpu(), numbers(HOST) + 1)


def test_a_host_number_may_meet_the_device(device: torch.device) -> None:
    x = torch.ones(3, device=device) + torch.tensor(1.0)
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_memory_is_shared_with_nothing_on_the_host(device: torch.device) -> None:
    host = torch.zeros(2)
    there, back = host.to(device), host.to(device).cpu()
    host.fill_(1)
    there.add_(5)
    assert (host.tolist(), there.tolist(), back.tolist()) == ([1, 1], [5, 5], [0, 0])


@pytest.mark.slow
def test_a_device_has_no_dlpack(device: torch.device) -> None:
    with pytest.raises(ValueError, match="Unknown device type npu for Dlpack"):
        torch.utils.dlpack.from_dlpack(torch.ones(2, device=device))
