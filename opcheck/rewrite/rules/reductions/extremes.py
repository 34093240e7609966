"""Smallest values by what finds the largest, and running extremes by halves."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import OTHER_ZERO
from opcheck.rewrite.draw import FLOATS, INTEGERS, NUMBERS, Draw


def _turned(x: Tensor) -> Tensor:
    """Turn the order around: the largest becomes the smallest; twice is as before."""
    return -x if x.is_floating_point() else ~x


def amin(self: Tensor, dim: Sequence[int] | int = (), keepdim: bool = False) -> Tensor:
    """Take the largest of what is turned around."""
    dims = dim if isinstance(dim, int) else list(dim)
    return _turned(_turned(self).amax(dims, keepdim))


def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Find the largest of what is turned around."""
    return _turned(self).argmax(dim, keepdim)


def min_dim(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Take the largest of what is turned around."""
    values, indices = _turned(self).max(dim, keepdim)
    return _turned(values), indices


def aminmax(
    self: Tensor, *, dim: int | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Take the largest, and the largest of what is turned around."""
    dims = list(range(self.dim())) if dim is None else [dim]
    low, high = _turned(_turned(self).amax(dims, keepdim)), self.amax(dims, keepdim)
    return low, high


def larger(self: Tensor, other: Tensor) -> Tensor:
    """Compare element by element."""
    return torch.maximum(self, other)


def smaller(self: Tensor, other: Tensor) -> Tensor:
    """Compare element by element."""
    return torch.minimum(self, other)


def least_along(input: Tensor, dim: int, keepdim: bool = False) -> Any:
    """``torch.min`` along a dimension; that of two tensors is left to torch."""
    if isinstance(dim, Tensor):
        return torch.min(input, dim)
    return torch.return_types.min(min_dim(input, dim, keepdim))


def least_and_largest(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """Take the largest, and the largest of what is turned around."""
    return torch.return_types.aminmax(aminmax(input, dim=dim, keepdim=keepdim))


def larger_of(input: Tensor, other: Tensor) -> Any:
    """``torch.max`` of two tensors; that along a dimension is left to torch."""
    return torch.maximum(input, other) if isinstance(other, Tensor) else torch.max(input, other)


def smaller_of(input: Tensor, other: Tensor) -> Any:
    """``torch.min`` of two tensors; that along a dimension is left to torch."""
    return torch.minimum(input, other) if isinstance(other, Tensor) else torch.min(input, other)


def cummax(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Join spans of twice the length until they reach the start."""
    if not self.dim():
        return self.clone(), torch.zeros([], dtype=torch.int64, device=self.device)
    size = self.size(dim)
    values = self.detach()
    index = torch.ones_like(values, dtype=torch.int64).cumsum(dim) - 1
    reach = 1
    while reach < size:
        # what ends at an element, and what ends right before that begins
        late, early = values.narrow(dim, reach, size - reach), values.narrow(dim, 0, size - reach)
        wins = (late >= early) & (early == early) | (late != late)  # NaN wins, and stays
        index = torch.cat(
            [
                index.narrow(dim, 0, reach),
                torch.where(
                    wins,
                    index.narrow(dim, reach, size - reach),
                    index.narrow(dim, 0, size - reach),
                ),
            ],
            dim,
        )
        values = torch.cat([values.narrow(dim, 0, reach), torch.where(wins, late, early)], dim)
        reach *= 2
    return self.gather(dim, index), index


def cummin(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Take the running largest of what is turned around."""
    values, index = cummax(_turned(self), dim)
    return _turned(values), index


def cummax_pair(input: Tensor, dim: int) -> Any:
    """Join spans of twice the length until they reach the start."""
    return torch.return_types.cummax(cummax(input, dim))


def cummin_pair(input: Tensor, dim: int) -> Any:
    """Take the running largest of what is turned around."""
    return torch.return_types.cummin(cummin(input, dim))


_TURNING = ("https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/ReduceOps.cpp",)


class AminByAmax(Rule):
    """The smallest is the largest of the negated: ``-x``, or ``~x`` for integers.

    ``~x`` turns the order of signed and unsigned integers around without overflow.
    """

    name = "amin-by-amax"
    replaces = ("aten::amin",)
    summary = "Negate, take amax, and negate"
    spellings = ("torch.amin", "Tensor.amin")
    references = _TURNING
    replace = staticmethod(amin)

    def example(self, op: str, draw: Draw) -> Arguments:
        """One dimension, several, or all."""
        x = draw.tensor(dtypes=(*NUMBERS, torch.bool))
        if not x.dim() or draw.flag():
            return (x,), {}
        return (x, [draw.dim(x)], draw.flag()), {}


class ArgminByArgmax(Rule):
    """The first smallest is the first largest of the negated: ``-x``, or ``~x`` for integers."""

    name = "argmin-by-argmax"
    replaces = ("aten::argmin",)
    summary = "Negate, and take argmax"
    spellings = ("torch.argmin", "Tensor.argmin")
    references = _TURNING
    replace = staticmethod(argmin)

    def example(self, op: str, draw: Draw) -> Arguments:
        """One dimension, or all."""
        x = draw.tensor(dtypes=NUMBERS)
        return (x, draw.choose((None, draw.dim(x))), draw.flag()), {}


class MinByMax(Rule):
    """The smallest and its place are those of the largest of the negated: ``-x``, or ``~x``."""

    name = "min-by-max"
    replaces = ("aten::min.dim",)
    summary = "Negate, take max along the dimension, and negate"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.min": least_along,
        "Tensor.min": least_along,
    }
    references = _TURNING
    replace = staticmethod(min_dim)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along any dimension."""
        x = draw.tensor(dtypes=(*NUMBERS, torch.bool))
        return (x, draw.dim(x), draw.flag()), {}


class AminmaxByAmax(Rule):
    """The smallest is the largest of the negated: ``-x``, or ``~x`` for integers."""

    name = "aminmax-by-amax"
    label = Label.TOLERANCE
    tolerance = 1.0
    gives_up = OTHER_ZERO
    replaces = ("aten::aminmax",)
    summary = "Take amax, and negate, amax and negate"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.aminmax": least_and_largest,
        "Tensor.aminmax": least_and_largest,
    }
    references = _TURNING
    replace = staticmethod(aminmax)

    def example(self, op: str, draw: Draw) -> Arguments:
        """One dimension, or all."""
        x = draw.tensor(dtypes=(*NUMBERS, torch.bool))
        return (x,), {"dim": draw.choose((None, draw.dim(x))), "keepdim": draw.flag()}


class _OfTwo(Rule):
    references: ClassVar[tuple[str, ...]] = (
        "https://docs.pytorch.org/docs/stable/generated/torch.max.html",
    )

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of two dtypes, or shapes that broadcast."""
        x = draw.tensor(dtypes=(*NUMBERS, torch.bool))
        shape = [draw.choose((size, 1)) for size in x.shape]
        return (x, draw.tensor(shape, dtypes=(x.dtype, torch.float32, torch.int64))), {}


class ExtremeOfTwoByMaximum(_OfTwo):
    """``torch.max`` of two tensors is ``torch.maximum`` by another name; ``torch.min`` likewise."""

    name = "extreme-of-two-by-maximum"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::max.other": larger,
        "aten::min.other": smaller,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.max": larger_of,
        "Tensor.max": larger_of,
        "torch.min": smaller_of,
        "Tensor.min": smaller_of,
    }
    summary = "Use torch.maximum or torch.minimum"


class _ByHalves(Rule):
    references: ClassVar[tuple[str, ...]] = (
        "https://en.wikipedia.org/wiki/Prefix_sum#Parallel_algorithms",
    )

    def example(self, op: str, draw: Draw) -> Arguments:
        """With equal values among them."""
        x = draw.tensor(draw.shape(high=3, largest=9), (*FLOATS, *INTEGERS, torch.bool))
        if x.is_floating_point() and draw.flag():
            x = x.round()
        return (x, draw.dim(x)), {}


class CumulativeExtremeByHalves(_ByHalves):
    """Spans of 1, 2, 4, ... elements are joined until each reaches the start.

    Of equal values the last one's place counts, and NaN stays, as in PyTorch. The running smallest
    is the largest of the negated, ``-x`` or ``~x``. It takes some six kernels for each doubling of
    the dimension.
    """

    name = "cumulative-extreme-by-halves"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::cummax": cummax,
        "aten::cummin": cummin,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.cummax": cummax_pair,
        "Tensor.cummax": cummax_pair,
        "torch.cummin": cummin_pair,
        "Tensor.cummin": cummin_pair,
    }
    summary = "Join spans of twice the length with where and cat"
