"""``logcumsumexp`` by joining spans, stable sorting by sorting twice, and distinct values."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import OTHER_ZERO, Call, Outcome
from opcheck.rewrite.draw import FLOATS, INTEGERS, Draw


def _logaddexp(a: Tensor, b: Tensor) -> Tensor:
    top = torch.maximum(a, b).detach()
    top = torch.where(top.abs() < float("inf"), top, torch.zeros_like(top))
    total = (a - top).exp() + (b - top).exp()
    none = total == 0
    logs = torch.where(none, torch.ones_like(total), total).log() + top
    return torch.where(none, torch.full_like(logs, float("-inf")), logs)


def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """Join spans of twice the length until they reach the start."""
    if not self.dim():
        return self.clone()
    size = self.size(dim)
    sums = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    reach = 1
    while reach < size:
        late, early = sums.narrow(dim, reach, size - reach), sums.narrow(dim, 0, size - reach)
        sums = torch.cat([sums.narrow(dim, 0, reach), _logaddexp(early, late)], dim)
        reach *= 2
    return sums.to(self.dtype) if sums is not self else self.clone()


def sort(
    self: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    """Sort, then sort the places of each run of equal values."""
    if not self.dim():
        return self.clone(), torch.zeros([], dtype=torch.int64, device=self.device)
    size = self.size(dim)
    ordered, places = self.detach().sort(dim, descending)
    if size > 1:
        after, before = ordered.narrow(dim, 1, size - 1), ordered.narrow(dim, 0, size - 1)
        apart = (after != before) & ((after == after) | (before == before))  # all NaN are equal
        first = torch.zeros_like(places.narrow(dim, 0, 1))
        runs = torch.cat([first, apart.long().cumsum(dim)], dim)
        places = (runs * size + places).sort(dim).values % size
    return self.gather(dim, places), places


def sorted_stably(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Any:
    """Sort, then sort the places of each run of equal values."""
    if not stable:
        return input.sort(dim, descending)
    return torch.return_types.sort(sort(input, stable=True, dim=dim, descending=descending))


def places_sorted_stably(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Tensor:
    """Sort, then sort the places of each run of equal values; the places alone."""
    if not stable:
        return input.argsort(dim, descending)
    return sort(input, stable=True, dim=dim, descending=descending)[1]


class LogcumsumexpByHalves(Rule):
    """Spans of 1, 2, 4, ... elements are joined by ``log(exp(a) + exp(b))`` until they reach back.

    The larger of the two is taken out first, so nothing overflows. It takes a dozen kernels for
    each doubling of the dimension. Where everything up to an element is ``-inf``, the gradient
    is 0; PyTorch's is NaN.
    """

    name = "logcumsumexp-by-halves"
    label = Label.TOLERANCE
    tolerance = 128
    replaces = ("aten::logcumsumexp", "aten::_logcumsumexp")
    summary = "Join spans of twice the length with exp, add and log"
    spellings = ("torch.logcumsumexp", "Tensor.logcumsumexp")
    references = ("https://en.wikipedia.org/wiki/Prefix_sum#Parallel_algorithms",)
    replace = staticmethod(logcumsumexp)

    def refuses(self, call: Call) -> str:
        """Decline complex numbers, of which none is the larger."""
        return "it takes no complex numbers" if call.given("self").is_complex() else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Far from 0 too, and without what makes PyTorch's gradient NaN."""
        x = draw.tensor(draw.shape(high=3, largest=9), edges=False)
        return (x * draw.choose((1, 30)), draw.dim(x)), {}


class StableSortBySortingTwice(Rule):
    """Once sorted, the places within each run of equal values are sorted as well.

    Runs are numbered, and ``run * size + place`` is sorted: these numbers are all different, so
    that any sort gives the one order that a stable sort gives.
    """

    name = "stable-sort-by-sorting-twice"
    replaces = ("aten::sort.stable",)
    summary = "Sort, then sort the places of each run of equal values"
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_torch_docs.py",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.sort": sorted_stably,
        "Tensor.sort": sorted_stably,
        "torch.argsort": places_sorted_stably,
        "Tensor.argsort": places_sorted_stably,
    }
    replace = staticmethod(sort)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With equal values among them."""
        x = draw.tensor(draw.shape(high=3, largest=9), (*FLOATS, *INTEGERS))
        if x.is_floating_point() and draw.flag():
            x = x.round()
        given = {"stable": True, "dim": draw.dim(x), "descending": draw.flag()}
        return (x,), given


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

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
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
