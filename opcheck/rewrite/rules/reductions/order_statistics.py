"""Order statistics: the largest and smallest of all, medians, ``kthvalue`` and ``mode``."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import ANY_OF_EQUAL, OTHER_ZERO, Call, Outcome, named_by_value
from opcheck.rewrite.draw import FLOATS, INTEGERS, Draw


def _spread(self: Tensor, value: Tensor) -> Tensor:
    """Give ``value``, with a gradient to every element that is equal to it, the same to each."""
    if not self.is_floating_point():
        return value
    still = torch.where(value.abs() < float("inf"), value, torch.zeros_like(value))
    equal = (self == value) | (self.isnan() & value.isnan())
    moved = torch.where(equal, still - self, torch.zeros_like(self)).sum()
    return still - moved / equal.sum()  # -0.0 less 0.0 keeps its sign, and with 0.0 it would not


def _known(self: Tensor) -> Tensor:
    """Where values are numbers."""
    return self == self  # which NaN is not


def median(self: Tensor) -> Tensor:
    """Take the lower of the two in the middle; NaN where there is one."""
    ordered = self.detach().flatten().sort().values
    value = ordered.select(0, (ordered.numel() - 1) // 2)
    if self.is_floating_point():
        value = torch.where(_known(ordered).all(), value, ordered.select(0, -1))
    return _spread(self, value)


def nanmedian(self: Tensor) -> Tensor:
    """Take the lower of the two in the middle of what is not NaN."""
    ordered = self.detach().flatten().sort().values
    place = ((_known(ordered).sum() - 1) // 2).clamp(min=0)
    return _spread(self, ordered.gather(0, place.reshape(1)).reshape([]))


def largest(self: Tensor) -> Tensor:
    """Take the largest along all dimensions."""
    return _spread(self, self.detach().amax(list(range(self.dim()))))


def smallest(self: Tensor) -> Tensor:
    """Take the smallest along all dimensions."""
    return _spread(self, self.detach().amin(list(range(self.dim()))))


def _named(self: Tensor, index: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """Values and their places, as reductions give them."""
    values = self.gather(dim, index)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


def _of_one(self: Tensor) -> tuple[Tensor, Tensor]:
    """What a reduction of a single number gives."""
    return self.clone(), torch.zeros([], dtype=torch.int64, device=self.device)


def median_dim(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Take the lower of the two in the middle; NaN where there is one."""
    if not self.dim():
        return _of_one(self)
    ordered, places = self.detach().sort(dim)
    last = self.size(dim) - 1
    index = places.narrow(dim, last // 2, 1)
    if self.is_floating_point():
        known = _known(ordered.narrow(dim, last, 1))
        index = torch.where(known, index, places.narrow(dim, last, 1))
    return _named(self, index, dim, keepdim)


def nanmedian_dim(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Take the lower of the two in the middle of what is not NaN."""
    if not self.dim():
        return _of_one(self)
    ordered, places = self.detach().sort(dim)
    middle = ((_known(ordered).sum(dim, keepdim=True) - 1) // 2).clamp(min=0)
    return _named(self, places.gather(dim, middle), dim, keepdim)


def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Take the one at ``k - 1`` once sorted."""
    if not self.dim():
        return _of_one(self)
    places = self.detach().sort(dim).indices
    return _named(self, places.narrow(dim, k - 1, 1), dim, keepdim)


def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Count the runs once sorted, and take the first of the longest."""
    if not self.dim():
        return _of_one(self)
    ordered, places = self.detach().sort(dim)
    size = self.size(dim)
    apart = ordered.narrow(dim, 1, size - 1) != ordered.narrow(dim, 0, size - 1)
    first = torch.zeros_like(places.narrow(dim, 0, 1))
    runs = torch.cat([first, apart.long().cumsum(dim)], dim)
    lengths = torch.zeros_like(places).scatter_add(dim, runs, torch.ones_like(places))
    most = lengths.max(dim, keepdim=True).values
    # runs are in the order of their values: how many come before the first of the longest
    shorter = (lengths < most).long()
    before = (shorter.cumsum(dim) == torch.ones_like(places).cumsum(dim)).long()
    longest = before.sum(dim, keepdim=True)
    return _named(self, places.gather(dim, (runs < longest).sum(dim, keepdim=True)), dim, keepdim)


def median_pair(input: Tensor, dim: int, keepdim: bool = False) -> Any:
    """Take the lower of the two in the middle; NaN where there is one."""
    return torch.return_types.median(median_dim(input, dim, keepdim))


def nanmedian_pair(input: Tensor, dim: int, keepdim: bool = False) -> Any:
    """Take the lower of the two in the middle of what is not NaN."""
    return torch.return_types.nanmedian(nanmedian_dim(input, dim, keepdim))


def kthvalue_pair(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Take the one at ``k - 1`` once sorted."""
    return torch.return_types.kthvalue(kthvalue(input, k, dim, keepdim))


def mode_pair(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """Count the runs once sorted, and take the first of the longest."""
    return torch.return_types.mode(mode(input, dim, keepdim))


class _Named(Rule):
    """Names one of several equal values."""

    label = Label.TOLERANCE
    tolerance = 1.0
    gives_up = ANY_OF_EQUAL
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/Sorting.cpp",
    )

    def refuses(self, call: Call) -> str:
        """Decline what has no values to choose from."""
        x = call.given("self")
        dim = call.given("dim")
        if dim is not None and x.dim() and not x.size(dim):
            return "there is nothing to choose from along the dimension"
        return ""

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Which of several equal values is named is left open."""
        return named_by_value(call, outcome)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any dtype that has an order, with equal values among them."""
        x = draw.tensor(dtypes=(*FLOATS, *INTEGERS))
        if x.is_floating_point() and draw.flag():
            x = (x * 2).round()
        return (x, draw.dim(x), draw.flag()), {}


class MedianBySorting(Rule):
    """The lower of the two in the middle of the sorted values, NaN where any is NaN.

    NaN sorts last: ``nanmedian`` takes the middle of what comes before it. The gradient is spread
    evenly over all elements equal to it, as PyTorch's is.
    """

    name = "median-by-sorting"
    label = Label.TOLERANCE
    tolerance = 1.0
    gives_up = OTHER_ZERO
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::median": median,
        "aten::nanmedian": nanmedian,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.median": median,
        "Tensor.median": median,
        "torch.nanmedian": nanmedian,
        "Tensor.nanmedian": nanmedian,
    }
    summary = "Sort, and take the middle"
    references = _Named.references

    def refuses(self, call: Call) -> str:
        """Decline what has no middle."""
        return "" if call.given("self").numel() else "there is nothing in it"

    def example(self, op: str, draw: Draw) -> Arguments:
        """With equal values among them."""
        x = draw.tensor(draw.shape(smallest=draw.integer(0, 1)), (*FLOATS, *INTEGERS))
        return (x if draw.flag() or not x.is_floating_point() else (x * 2).round(),), {}


class MedianOfDimBySorting(_Named):
    """The lower of the two in the middle of each sorted row, NaN where the row has one.

    NaN sorts last: ``nanmedian`` takes the middle of what comes before it. Which of several equal
    values ``indices`` names is the kernel's choice, here as in PyTorch.
    """

    name = "median-of-dim-by-sorting"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::median.dim": median_dim,
        "aten::nanmedian.dim": nanmedian_dim,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.median": median_pair,
        "Tensor.median": median_pair,
        "torch.nanmedian": nanmedian_pair,
        "Tensor.nanmedian": nanmedian_pair,
    }
    summary = "Sort along the dimension, and take the middle"


class KthvalueBySorting(_Named):
    """The ``k``-th of each sorted row, NaN being the largest.

    Which of several equal values ``indices`` names is the kernel's choice, here as in PyTorch.
    """

    name = "kthvalue-by-sorting"
    replaces = ("aten::kthvalue",)
    summary = "Sort along the dimension, and take the k-th"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.kthvalue": kthvalue_pair,
        "Tensor.kthvalue": kthvalue_pair,
    }
    replace = staticmethod(kthvalue)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any ``k`` that there is."""
        (x, dim, keepdim), named = super().example(op, draw)
        size = x.size(dim) if x.dim() else 1
        return (x, draw.integer(1, max(size, 1)), dim, keepdim), named


class ModeBySorting(_Named):
    """Equal values are runs once sorted; the longest run is taken, the first of those as long.

    NaN is a run of its own each time, after all numbers. PyTorch's kernel on the host sorts by
    ``<`` alone, so that in a row with NaN its runs, and with them the result, depend on where NaN
    stands. Which of several equal values ``indices`` names is the kernel's choice.
    """

    name = "mode-by-sorting"
    label = Label.APPROXIMATE
    tolerance = 0.0
    gives_up = (
        "what PyTorch finds in a row with NaN; of equal values, which one is taken: another index, "
        "and of zeros the other sign"
    )
    replaces = ("aten::mode",)
    summary = "Sort along the dimension, and count the runs"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.mode": mode_pair,
        "Tensor.mode": mode_pair,
    }
    replace = staticmethod(mode)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Nothing is promised of a row with NaN."""
        results, gradients = super().canonical(call, outcome)
        x, dim = call.given("self").detach(), call.given("dim")
        lost = (x != x).any(dim, keepdim=True)
        there = lost if call.given("keepdim", False) or not x.dim() else lost.squeeze(dim)
        results = [torch.where(there, torch.zeros_like(r), r) for r in results]
        return results, gradients and [torch.where(lost, torch.zeros_like(g), g) for g in gradients]


class _OfAll(Rule):
    label = Label.TOLERANCE
    tolerance = 1.0
    gives_up = OTHER_ZERO
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/ReduceAllOps.cpp",
    )

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of any number of dimensions."""
        return (draw.tensor(dtypes=(*FLOATS, *INTEGERS, torch.bool)),), {}


class ExtremeByAmax(_OfAll):
    """The largest or smallest of all is that along all dimensions, which has another kernel."""

    name = "extreme-by-amax"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::max": largest,
        "aten::min": smallest,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.max": largest,
        "Tensor.max": largest,
        "torch.min": smallest,
        "Tensor.min": smallest,
    }
    summary = "Take amax or amin along all dimensions"
