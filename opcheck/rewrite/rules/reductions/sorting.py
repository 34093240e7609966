"""The largest of all by sorting, and sorting of rows where a kernel takes no single one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import ANY_OF_EQUAL, Call, Outcome, named_by_value
from opcheck.rewrite.draw import FLOATS, INTEGERS, Draw

_SOURCE = "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/Sorting.cpp"


def topk(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Sort all, and keep the first."""
    if not self.dim():
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    values, indices = sort(self, dim, largest)
    return values.narrow(dim, 0, k).clone(), indices.narrow(dim, 0, k).clone()


def topk_pair(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """``topk`` as users call it."""
    return torch.return_types.topk(topk(input, k, dim, largest, sorted))


def sort(self: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Make it a row among one, and name the dimension from the front."""
    rows = self.reshape(1, self.numel()) if self.dim() < 2 else self
    values, indices = rows.sort(dim % self.dim() if self.dim() > 1 else 1, descending)
    return values.reshape(self.shape), indices.reshape(self.shape)


class TopkBySorting(Rule):
    """Sorted in descending order, the largest are the first; in ascending order, the smallest.

    All are sorted, not just those that are wanted: that takes longer.
    """

    name = "topk-by-sorting"
    label = Label.TOLERANCE
    tolerance = 8.0
    replaces = ("aten::topk",)
    summary = "Sort, and take the first of them"
    gives_up = ANY_OF_EQUAL
    references = (_SOURCE,)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.topk": topk_pair,
        "Tensor.topk": topk_pair,
    }
    replace = staticmethod(topk)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Which of several equal values is named is left open, and the order if that is."""
        results, gradients = named_by_value(call, outcome)
        return self.unique(call, results), gradients

    def unique(self, call: Call, results: Sequence[Tensor]) -> Sequence[Tensor]:
        """In one order, where any will do."""
        if call.given("sorted") or not call.given("self").dim():
            return results
        return [each.sort(call.given("dim")).values for each in results]

    def example(self, op: str, draw: Draw) -> Arguments:
        """With equal values among them, and as few as none."""
        x = draw.tensor(draw.shape(high=3, largest=9), (*FLOATS, *INTEGERS))
        if x.is_floating_point() and draw.flag():
            x = (x * 2).round()
        dim = draw.dim(x)
        count = draw.integer(0, x.size(dim)) if x.dim() else 1
        return (x, count, dim, draw.flag(), draw.flag()), {}


class SortAsRows(Rule):
    """A single row is sorted as one of many, along a dimension that is counted from the front.

    It is the same operator: this is for converters that take two dimensions or more, or that fail
    where a graph leaves out the defaults.
    """

    name = "sort-as-rows"
    replaces = ("aten::sort",)
    summary = "Sort along a dimension counted from the front, with another one before it"
    gives_up = ANY_OF_EQUAL
    references = (
        "https://github.com/pytorch/TensorRT/blob/main/py/torch_tensorrt/dynamo/conversion/impl/topk.py",
    )
    replace = staticmethod(sort)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Which of several equal values is named is left open."""
        return named_by_value(call, outcome)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With equal values among them."""
        x = draw.tensor(draw.shape(high=3, largest=9), (*FLOATS, *INTEGERS))
        if x.is_floating_point() and draw.flag():
            x = (x * 2).round()
        return (x, draw.dim(x), draw.flag()), {}
