"""Rules tried as users try their own: a wrong one is told by its smallest call."""

from typing import ClassVar

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
