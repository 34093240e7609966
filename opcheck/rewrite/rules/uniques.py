"""Distinct values from sorting, or from comparing neighbours."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, Draw
from opcheck.rewrite.ties import OTHER_ZERO, Outcome

_REFERENCES = ("https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/Unique.cpp",)


def _distinct(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The first of each run of equal neighbours, the run that each is of, and their lengths."""
    size = x.size(0)
    first = torch.cat([torch.ones_like(x[:1], dtype=torch.bool), x[1:] != x[:-1]])
    places = torch.arange(size, device=x.device)
    starts = places[first]
    ends = torch.cat([starts, starts.new_full([1], size)])[1:]
    return x[first], first.long().cumsum(0) - 1, ends - starts


def _unique2(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Sort, and keep what differs from the one before."""
    ordered, places = self.reshape(-1).sort(stable=True)
    found, runs, counts = _distinct(ordered)
    none = counts[:0]
    inverse = torch.zeros_like(runs).scatter(0, places, runs).reshape(self.shape)
    return found, inverse if return_inverse else none, counts if return_counts else none


def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Keep what differs from the one before."""
    found, runs, counts = _distinct(self.reshape(-1))
    none = counts[:0]
    inverse = runs.reshape(self.shape)
    return found, inverse if return_inverse else none, counts if return_counts else none


class UniqueBySorting(Rule):
    """Of sorted values, those that differ from the one before are kept by a mask.

    A running count of them tells which one each value equals, and the distances between their
    places how often each is there. How many there are depends on values, as it does in the
    original, so this needs a target that can index by a mask.
    """

    name = "unique-by-sorting"
    label = Label.TOLERANCE
    tolerance = 1.0
    gives_up = f"{OTHER_ZERO}; of several NaN, in which order they come"
    replaces: ClassVar[tuple[str, ...]] = ("aten::_unique2",)
    dynamic = True
    summary = "Sort, and keep what differs from the one before"
    references: ClassVar[tuple[str, ...]] = _REFERENCES
    replace: ClassVar[Callable[..., Any]] = staticmethod(_unique2)

    def refuses(self, call: Call) -> str:
        """Decline bools, which few targets sort, and complex numbers, which have no order."""
        x = call.given("self")
        if x.dtype is torch.bool or x.is_complex():
            return "its values are of bool or complex"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Few different values; NaN and infinities as well."""
        x = draw.tensor(draw.shape(largest=4), (*INTEGERS, *FLOATS))
        x = x.round() if x.is_floating_point() else x % 3
        return (x, True, draw.flag(), draw.flag()), {}

    def settled(self, call: Call, outcome: Outcome) -> Outcome:
        """In which order several NaN come is left open: take what each value equals."""
        (found, inverse, counts), gradients = outcome
        there = bool(inverse.numel()) and int(inverse.max()) < len(found)
        return (found, found.take(inverse) if there else inverse, counts), gradients


class UniqueConsecutiveByComparing(UniqueBySorting):
    """Of neighbours, those that differ from the one before are kept by a mask.

    A running count of them tells the run of each value, and the distances between their places
    how long each is. How many there are depends on values, as it does in the original, so this
    needs a target that can index by a mask.
    """

    name = "unique-consecutive-by-comparing"
    label = Label.EXACT
    tolerance = 0.0
    gives_up = ""
    replaces = ("aten::unique_consecutive",)
    summary = "Keep what differs from the one before"
    replace = staticmethod(unique_consecutive)

    def refuses(self, call: Call) -> str:
        """Decline slices along a dimension."""
        if call.given("dim") is not None:
            return "it compares slices along a dimension"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Few different values, next to one another."""
        (x, _, inverse, counts), _ = super().example(op, draw)
        return (x, inverse, counts), {}
