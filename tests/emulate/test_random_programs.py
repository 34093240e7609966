"""Random programs give on the emulated device exactly what they give on the host."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.emulate.outcome import HOST, Raised, outcome


class Chosen:
    """Numbers that a program draws on, the same wherever it runs."""

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = iter(numbers)

    def below(self, end: int) -> int:
        """A number from 0 to ``end``, without ``end`` itself."""
        return next(self._numbers) % end if end else 0

    def one(self, tensors: list[Tensor]) -> Tensor:
        """Some tensor made so far."""
        return tensors[self.below(len(tensors))]

    def dim(self, tensor: Tensor) -> int:
        """Some dimension; 0 where there is none, which most operators take."""
        return self.below(tensor.dim())

    def order(self, tensor: Tensor) -> list[int]:
        """Its dimensions in some order."""
        left = list(range(tensor.dim()))
        return [left.pop(self.below(len(left))) for _ in range(tensor.dim())]


def _view(x: Tensor, y: Tensor, c: Chosen) -> Tensor:
    views: list[Callable[[], Tensor]] = [
        lambda: x.permute(c.order(x)),
        lambda: x.narrow(d := c.dim(x), 0, max(x.shape[d] - 1, 0)),
        lambda: x.select(d := c.dim(x), c.below(x.shape[d])),
        lambda: x[..., :: 1 + c.below(3)],
        lambda: x.unsqueeze(c.dim(x)),
        lambda: x.expand(2, *x.shape),
        lambda: x.diagonal(),
        lambda: x.view(-1),
        lambda: x.reshape(-1),
        lambda: x.detach(),
        lambda: x.unfold(d := c.dim(x), min(2, x.shape[d]), 1),
        lambda: torch.as_strided(x, (2, 2), (1, 1), c.below(4)),
        lambda: x.chunk(2, c.dim(x))[0],
        lambda: x.squeeze(),
    ]
    return views[c.below(len(views))]()


def _write(x: Tensor, y: Tensor, c: Chosen) -> Tensor:
    writes: list[Callable[[], Tensor]] = [
        lambda: x.add_(y),
        lambda: x.mul_(2),
        lambda: x.copy_(y),
        lambda: x.zero_(),
        lambda: x.clamp_(-3, 3),
        lambda: x.masked_fill_(x > 2, c.below(5)),
        lambda: x.index_fill_(c.dim(x), torch.zeros(1, dtype=torch.int64, device=x.device), 4),
        lambda: x.transpose_(c.dim(x), c.dim(x)),
        lambda: torch.add(x, y, out=torch.empty(0, device=x.device)),
    ]
    return writes[c.below(len(writes))]()


def _compute(x: Tensor, y: Tensor, c: Chosen) -> Tensor:
    computed: list[Callable[[], Tensor]] = [
        lambda: x + y,
        lambda: x - y,
        lambda: x * y,
        lambda: torch.maximum(x, y),
        lambda: torch.where(x > y, x, y),
        lambda: x.matmul(y),
        lambda: x @ x.mT,
        lambda: x.sum(c.dim(x)),
        lambda: x.amax(c.dim(x), keepdim=True),
        lambda: x.cumsum(c.dim(x)),
        lambda: x.flip(c.dim(x)),
        lambda: x.relu(),
        lambda: torch.cat([x, y], c.dim(x)),
        lambda: torch.stack([x, x]),
        lambda: x.clone(),
        lambda: x.contiguous(),
        lambda: x.sort(c.dim(x)).values,
        lambda: x.gather(c.dim(x), torch.zeros_like(x, dtype=torch.int64)),
        lambda: x.index_select(c.dim(x), torch.zeros(2, dtype=torch.int64, device=x.device)),
        lambda: x.half().float(),
        lambda: torch.zeros_like(x),
        lambda: torch.nn.functional.pad(x, (1, 1)),
    ]
    return computed[c.below(len(computed))]()


KINDS = (_view, _write, _compute)
LARGEST = 1000


def run(numbers: list[int], device: torch.device) -> list[Any]:
    """Every tensor that a program made, and how many there were at each step that raised."""
    c = Chosen(numbers)
    tensors = [
        torch.arange(12.0).view(3, 4).to(device),
        torch.arange(24.0).view(2, 3, 4).sub(9).to(device),
        torch.tensor(3.0).to(device),
        torch.ones(4, 3).t().to(device),
    ]
    raised: list[int] = []
    while True:
        try:
            made = KINDS[c.below(3)](c.one(tensors), c.one(tensors), c)
        except StopIteration:
            return [raised, *tensors]
        except (RuntimeError, IndexError):
            raised.append(len(tensors))
        else:
            if made.numel() <= LARGEST:
                tensors.append(made)


PROGRAMS = st.lists(st.integers(0, 600), min_size=8, max_size=60)
QUICKLY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
AT_LENGTH = settings(QUICKLY, max_examples=600)


def holds(numbers: list[int], device: torch.device, values: bool) -> None:
    def program(device: torch.device) -> list[Any]:
        return run(numbers, device)

    expected = outcome(program, HOST, values=values)
    assert not isinstance(expected, Raised)
    assert outcome(program, device, values=values) == expected


@pytest.mark.slow
@QUICKLY
@given(PROGRAMS)
def test_a_device_that_computes_gives_the_hosts_values_and_strides(
    device: torch.device, numbers: list[int]
) -> None:
    holds(numbers, device, values=True)


@pytest.mark.slow
@QUICKLY
@given(PROGRAMS)
def test_a_device_without_values_gives_the_hosts_shapes_and_strides(
    shapes: torch.device, numbers: list[int]
) -> None:
    holds(numbers, shapes, values=False)


@pytest.mark.slow
@AT_LENGTH
@given(PROGRAMS)
def test_many_programs_give_the_hosts_values_and_strides(
    device: torch.device, numbers: list[int]
) -> None:
    holds(numbers, device, values=True)


@pytest.mark.slow
@AT_LENGTH
@given(PROGRAMS)
def test_many_programs_give_the_hosts_shapes_and_strides(
    shapes: torch.device, numbers: list[int]
) -> None:
    holds(numbers, shapes, values=False)
