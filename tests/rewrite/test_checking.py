"""Rules tried as users try their own: a wrong one is told by its smallest call."""

from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.draw import Draw
from opcheck.rewrite.trial import checked


def floor(self: Tensor) -> Tensor:
    return torch.trunc(self)


class FloorByTrunc(Rule):
    """Wrong below 0."""

    name: ClassVar[str] = "floor-by-trunc"
    replaces: ClassVar[tuple[str, ...]] = ("aten::floor",)
    summary: ClassVar[str] = "Truncate"
    replace = floor

    def example(self, op: str, draw: Draw) -> Arguments:
        return (draw.tensor(dtypes=(torch.float32,)),), {}


@pytest.mark.slow
def test_a_wrong_rule_is_told_by_its_smallest_call_and_the_values_of_it() -> None:
    (found,) = checked([FloorByTrunc()])
    assert not found.holds
    assert 0 < found.wrong < found.compared
    assert found.first.startswith("float32[")
    call, _, told = found.first.partition(": ")
    assert told.startswith("results are off by ")
    values = call.rpartition(" strides ")[2]
    assert values.count("-") == 1
    assert found == next(iter(checked([FloorByTrunc()])))


class Halved(torch.autograd.Function):
    """A square with half of its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.square(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        found: Tensor = gradients[0] * x
        return found


def square(self: Tensor) -> Tensor:
    found: Tensor = Halved.apply(self)  # type: ignore[no-untyped-call]
    return found


class SquareWithHalfOfItsGradient(FloorByTrunc):
    """Right but for training."""

    name = "square-halved"
    replaces = ("aten::square",)
    summary = "Square"
    replace = square


@pytest.mark.slow
def test_a_rule_whose_gradients_are_wrong_is_told_so() -> None:
    (found,) = checked([SquareWithHalfOfItsGradient()])
    assert not found.holds
    assert "gradients are off by " in found.first
