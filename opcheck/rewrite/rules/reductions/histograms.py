"""Histograms and counts by ``scatter_add``."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, Draw

_LARGEST = 1 << 24
_WIDE = FLOATS[:2]


def _ends(x: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """The ends of the range: those given, or those of the values where they are the same."""
    first, last = x.new_full([], low), x.new_full([], high)
    if low == high and x.numel():
        first, last = x.min(), x.max()
    same = first == last
    return torch.where(same, first - 0.5, first), torch.where(same, last + 0.5, last)


def _edges(x: Tensor, bins: int, ends: Sequence[float] | None) -> Tensor:
    """Edges at equal distances."""
    low, high = ends if ends is not None else (0.0, 0.0 if x.numel() else 1.0)
    first, last = _ends(x, low, high)
    step = (last - first) / bins
    count = torch.arange(bins + 1, device=x.device).to(x.dtype)
    return torch.where(count < (bins + 1) // 2, first + step * count, last - step * (bins - count))


def _histogram(
    rows: Tensor, edges: Sequence[Tensor], weight: Tensor | None, density: bool
) -> Tensor:
    """Count rows by the bins of their columns."""
    shape = [e.numel() - 1 for e in edges]
    place = torch.zeros_like(rows.select(1, 0), dtype=torch.int64)
    inside = place == 0
    for column, (ends, size) in enumerate(zip(edges, shape, strict=True)):
        x = rows.select(1, column)
        last = ends.narrow(0, size, 1)
        within = torch.logical_and(x >= ends.narrow(0, 0, 1), x <= last)
        inside = torch.logical_and(inside, within)
        before = (ends <= x.unsqueeze(-1)).sum(-1) - 1
        place = place * size + before.clamp(0, size - 1)
    share = inside.to(rows.dtype)
    if weight is not None:
        share = torch.where(inside, weight.detach().reshape(-1), torch.zeros_like(share))
    counts = rows.new_zeros([math.prod(shape)]).scatter_add(0, place, share).reshape(shape)
    if not density:
        return counts
    counts = counts / counts.sum()
    for column, ends in enumerate(edges):
        widths = ends.narrow(0, 1, shape[column]) - ends.narrow(0, 0, shape[column])
        counts = counts / widths.reshape([-1 if d == column else 1 for d in range(len(shape))])
    return counts


def histogram_of_count(
    self: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,  # the schema's
    weight: Tensor | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor]:
    """Lay the edges, compare values with them, and count."""
    rows = self.detach().reshape(-1, 1)
    edges = _edges(rows, bins, range)
    return _histogram(rows, [edges], weight, density), edges


def histogram_of_edges(
    self: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    """Compare values with the edges, and count."""
    edges = bins.detach()
    return _histogram(self.detach().reshape(-1, 1), [edges], weight, density), edges.clone()


def bin_edges(
    self: Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,  # the schema's
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    """Lay the edges of every column."""
    rows = self.detach().reshape(-1, len(bins))
    ends = [None if range is None else range[2 * i : 2 * i + 2] for i, _ in enumerate(bins)]
    return [_edges(rows.select(1, i), count, ends[i]) for i, count in enumerate(bins)]


def histogramdd_of_counts(
    self: Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,  # the schema's
    weight: Tensor | None = None,
    density: bool = False,
) -> Tensor:
    """Lay the edges, compare values with them, and count."""
    edges = bin_edges(self, bins, range=range)
    return _histogram(self.detach().reshape(-1, len(bins)), edges, weight, density)


def histogramdd_of_edges(
    self: Tensor, bins: Sequence[Tensor], *, weight: Tensor | None = None, density: bool = False
) -> Tensor:
    """Compare values with the edges, and count."""
    return _histogram(self.detach().reshape(-1, len(bins)), list(bins), weight, density)


def bincount(self: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Add up in as many bins as are given; PyTorch takes no look at weights of no values."""
    if weights is None or not self.numel():
        one = torch.ones_like(self, dtype=torch.int64)
        return one.new_zeros([minlength]).scatter_add(0, self.long(), one)
    share = weights.detach()
    share = share if share.dtype == torch.float32 else share.double()
    return share.new_zeros([minlength]).scatter_add(0, self.long(), share)


def histogram(
    input: Tensor, bins: Tensor | int = 100, *, range: Sequence[float] | None = None,
    weight: Tensor | None = None, density: bool = False,
) -> Any:  # fmt: skip
    """``histogram`` as users call it, by the number of bins or by their edges."""
    if isinstance(bins, Tensor):
        found = histogram_of_edges(input, bins, weight=weight, density=density)
    else:
        found = histogram_of_count(input, bins, range=range, weight=weight, density=density)
    return torch.return_types.histogram(found)


def histogramdd(
    input: Tensor, bins: Any, range: Sequence[float] | None = None, weight: Tensor | None = None,
    density: bool = False,
) -> Any:  # fmt: skip
    """``histogramdd`` as users call it, by numbers of bins or by their edges."""
    full: list[Any] = [bins] * input.size(-1) if isinstance(bins, int) else list(bins)
    if full and isinstance(full[0], Tensor):
        edges = [edge.detach() for edge in full]
    else:
        edges = bin_edges(input, full, range=range)
    counts = histogramdd_of_edges(input, edges, weight=weight, density=density)
    return torch.return_types.histogramdd((counts, tuple(edges)))


class _Histogram(Rule):
    label = Label.TOLERANCE
    tolerance = 16
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cpu/HistogramKernel.cpp",
    )

    def refuses(self, call: Call) -> str:
        """Decline a table that is too large, and bins of which there are none."""
        x, bins = call.given("self"), call.given("bins")
        counts = [bins] if isinstance(bins, int | Tensor) else list(bins)
        sizes = [b.numel() - 1 if isinstance(b, Tensor) else b for b in counts]
        if min(sizes, default=0) < 1:
            return "there are no bins"
        if x.numel() * max(sizes) > _LARGEST:
            return Sentence(
                "it would compare {count} times, more than {count_most}",
                count=f"{x.numel() * max(sizes):,}",
                count_most=f"{_LARGEST:,}",
            )
        return ""

    def valid(self, call: Call) -> Call:
        """Sort the edges."""
        bins = call.given("bins")
        if isinstance(bins, Tensor):
            return Call(call.func, (call.args[0], bins.sort().values), call.kwargs)
        if not isinstance(bins, int) and isinstance(bins[0], Tensor):
            return Call(call.func, (call.args[0], [b.sort().values for b in bins]), call.kwargs)
        return call

    def _shared(self, draw: Draw, values: Tensor, columns: int = 0) -> dict[str, Any]:
        """Weights and density, or neither."""
        given: dict[str, Any] = {"density": False}
        sizes = values.shape[:-1] if columns else values.shape
        if draw.flag():
            given["weight"] = draw.tensor(sizes, (values.dtype,), edges=False).abs()
        if values.numel() and draw.flag():
            given["density"] = True
        return given


class HistogramOfCountByComparing(_Histogram):
    """Edges are laid at equal distances; how many of them come before a value is its bin.

    The ends of the range stay on the device. Edges may differ by rounding, so that a value that
    close to one may be counted on its other side.
    """

    name = "histogram-of-count-by-comparing"
    replaces = ("aten::histogram.bin_ct",)
    summary = "Lay the edges, compare, and count with scatter_add"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.histogram": histogram,
        "Tensor.histogram": histogram,
    }
    replace = staticmethod(histogram_of_count)

    def example(self, op: str, draw: Draw) -> Arguments:
        """A range, or that of the values."""
        x = draw.tensor(dtypes=_WIDE, edges=False)
        given = self._shared(draw, x)
        if draw.flag():
            given["range"] = [-4.0, 5.0]
        return (x, draw.integer(1, 5)), given


class HistogramOfEdgesByComparing(_Histogram):
    """How many edges come before a value is its bin; ``scatter_add`` counts them."""

    name = "histogram-of-edges-by-comparing"
    replaces = ("aten::histogram.bins_tensor",)
    summary = "Compare with the edges, and count with scatter_add"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.histogram": histogram,
        "Tensor.histogram": histogram,
    }
    replace = staticmethod(histogram_of_edges)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Edges apart at random."""
        x = draw.tensor(dtypes=_WIDE)
        edges = draw.tensor([draw.integer(2, 6)], (x.dtype,), edges=False).sort().values
        given = self._shared(draw, x)
        return (x, edges), {**given, "density": False}


class BinEdgesByMultiples(_Histogram):
    """Edges are multiples of a step, from the first to the middle and back from the last."""

    name = "bin-edges-by-multiples"
    replaces = ("aten::_histogramdd_bin_edges",)
    summary = "Lay the edges of each column by multiples of a step"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.histogramdd": histogramdd}
    replace = staticmethod(bin_edges)

    def example(self, op: str, draw: Draw) -> Arguments:
        """A range, or that of the values."""
        columns = draw.integer(1, 3)
        x = draw.tensor([draw.integer(0, 5), columns], _WIDE, edges=False)
        given: dict[str, Any] = {"range": [-4.0, 5.0] * columns} if draw.flag() else {}
        return (x, [draw.integer(1, 5) for _ in range(columns)]), given


class HistogramddOfCountsByComparing(_Histogram):
    """Edges are laid at equal distances; how many of them come before a value is its bin.

    Edges may differ by rounding, so that a value that close to one may be counted on its other
    side.
    """

    name = "histogramdd-of-counts-by-comparing"
    replaces = ("aten::_histogramdd_from_bin_cts",)
    summary = "Lay the edges, compare, and count with scatter_add"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.histogramdd": histogramdd}
    replace = staticmethod(histogramdd_of_counts)

    def example(self, op: str, draw: Draw) -> Arguments:
        """A range, or that of the values."""
        columns = draw.integer(1, 3)
        x = draw.tensor([draw.integer(0, 5), columns], _WIDE, edges=False)
        given = self._shared(draw, x, columns)
        if draw.flag():
            given["range"] = [-4.0, 5.0] * columns
        return (x, [draw.integer(1, 5) for _ in range(columns)]), given


class HistogramddOfEdgesByComparing(_Histogram):
    """How many edges of its column come before a value is its bin there."""

    name = "histogramdd-of-edges-by-comparing"
    replaces = ("aten::_histogramdd_from_bin_tensors",)
    summary = "Compare with the edges, and count with scatter_add"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.histogramdd": histogramdd}
    replace = staticmethod(histogramdd_of_edges)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Edges apart at random."""
        columns = draw.integer(1, 3)
        x = draw.tensor([draw.integer(0, 5), columns], _WIDE)
        sizes = [draw.integer(2, 5) for _ in range(columns)]
        edges = [draw.tensor([s], (x.dtype,), edges=False).sort().values for s in sizes]
        return (x, edges), {**self._shared(draw, x, columns), "density": False}


class BincountOfFixedLength(Rule):
    """Counts go to as many bins as ``minlength`` says, so that the size depends on no value."""

    name = "bincount-of-fixed-length"
    tier = Tier.STRUCTURAL
    replaces = ("aten::bincount",)
    summary = "Give minlength, and count with scatter_add"
    gives_up = "values of minlength and above, which would make the result longer, are an error"
    references = ("https://docs.pytorch.org/docs/stable/generated/torch.bincount.html",)
    spellings = ("torch.bincount", "Tensor.bincount")
    replace = staticmethod(bincount)

    def refuses(self, call: Call) -> str:
        """Decline a size that depends on values."""
        if not call.given("minlength"):
            return "the size of its result depends on values; give a minlength above the largest"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Values below the length, with weights or without."""
        length = draw.integer(1, 8)
        x = draw.indices([draw.integer(0, 6)], length).to(draw.choose(INTEGERS))
        weights = draw.tensor(x.shape, _WIDE) if draw.flag() else None
        return (x, weights, length), {}
