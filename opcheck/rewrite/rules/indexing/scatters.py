"""Scatters that reduce or are gradients, and writing at places, by comparing or counting places."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import SOURCES, Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, NUMBERS, Draw

_LARGEST = 1 << 24
_KINDS = ("sum", "prod", "mean", "amax", "amin")


def _lowest(dtype: torch.dtype) -> float | int:
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _within(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Cut a tensor to the sizes of an index, but for the dimension that is indexed."""
    for d, size in enumerate(index.shape):
        if d != dim:
            self = self.narrow(d, 0, size)
    return self


def _back(whole: Tensor, part: Tensor, dim: int) -> Tensor:
    """Put a part back at the start of every dimension."""
    for d in range(whole.dim()):
        if d == dim or part.size(d) == whole.size(d):
            continue
        rest = whole.narrow(d, part.size(d), whole.size(d) - part.size(d))
        for e in range(d + 1, whole.dim()):
            if e != dim:
                rest = rest.narrow(e, 0, part.size(e))
        part = torch.cat([part, rest], d)
    return part


def _hits(dim: int, index: Tensor, size: int) -> Tensor:
    """Compare every place with every index: ``index`` with ``size`` behind."""
    places = torch.arange(size, device=index.device)
    return index.unsqueeze(-1) == places


def _folded(values: Tensor, hits: Tensor, dim: int, empty: Any, kind: str) -> Tensor:
    """Reduce what hits each place; ``empty`` where nothing does."""
    wide = torch.where(hits, values.unsqueeze(-1), values.new_full([], empty))
    if kind == "prod":
        folded = wide.prod(dim, dtype=values.dtype)
    else:
        folded = wide.amax(dim) if kind == "amax" else wide.sum(dim, dtype=values.dtype)
    return folded.movedim(-1, dim)


def _reduced(
    self: Tensor, dim: int, index: Tensor, src: Tensor, kind: str, include_self: bool
) -> Tensor:
    hits = _hits(dim, index, self.size(dim))
    count = hits.long().sum(dim).movedim(-1, dim)
    touched = count > 0
    if kind in ("sum", "mean"):
        start = self if include_self else torch.where(touched, torch.zeros_like(self), self)
        total = start.scatter_add(dim, index, src)
        if kind == "sum":
            return total
        shares = (count + 1 if include_self else count).clamp(min=1)
        if self.is_floating_point():
            return total / shares.to(self.dtype)
        return torch.div(total, shares.to(self.dtype), rounding_mode="floor")
    if kind == "prod":
        product = _folded(src, hits, dim, 1, kind)
        return torch.where(touched, self * product if include_self else product, self)
    return _extreme(self, dim, index, src, (hits, touched), kind, include_self)


def _extreme(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    found: tuple[Tensor, Tensor],
    kind: str,
    include_self: bool,
) -> Tensor:
    """Take the largest or smallest; its gradient is shared by all that are equal to it."""
    hits, touched = found
    x, y = self.detach(), src.detach()
    if kind == "amin":
        best = _folded(_turned(y), hits, dim, _lowest(y.dtype), "amax")
        best = _turned(torch.maximum(_turned(x), best) if include_self else best)
    else:
        best = _folded(y, hits, dim, _lowest(y.dtype), "amax")
        best = torch.maximum(x, best) if include_self else best
    best = torch.where(touched, best, x)
    if not self.is_floating_point():
        return best
    still = torch.where(best.abs() < math.inf, best, torch.zeros_like(best))
    equal = x == best  # PyTorch counts it even where self does not take part
    own = equal if include_self else equal & ~touched
    theirs = y == best.gather(dim, index)
    none = torch.zeros_like(still)
    shares = equal.to(self.dtype).scatter_add(dim, index, theirs.to(self.dtype))
    moved = torch.where(own, self - still, none)
    apart = torch.where(theirs, src - still.gather(dim, index), src.new_zeros([]))
    return still + moved.scatter_add(dim, index, apart) / shares


def _turned(x: Tensor) -> Tensor:
    return -x if x.is_floating_point() else ~x


def scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Compare every place with every index, and reduce over those that hit it."""
    if not self.dim():
        given = (index.reshape(1), src.reshape(1), reduce)
        return scatter_reduce(self.reshape(1), 0, *given, include_self=include_self).reshape([])
    dim %= self.dim()
    if not index.numel():
        return self.clone()
    for d, size in enumerate(index.shape):
        src = src.narrow(d, 0, size)
    part = _within(self, dim, index)
    return _back(self, _reduced(part, dim, index, src, reduce, include_self), dim)


def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Compare every place with every index, and reduce over those that hit it."""
    if not self.dim():
        source = source.reshape(1)
        given = (index.reshape(-1), source, reduce)
        return index_reduce(self.reshape(1), 0, *given, include_self=include_self).reshape([])
    dim %= self.dim()
    if not index.numel() or not self.numel():
        return self.clone()
    shape = [1] * self.dim()
    shape[dim] = index.numel()
    places = index.long().reshape(shape).expand(source.shape)
    return _reduced(self, dim, places, source, reduce, include_self)


def scatter(self: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str) -> Tensor:
    """Compare every place with every index, and add or multiply those that hit it."""
    kind = {"add": "sum", "multiply": "prod"}[reduce]
    return scatter_reduce(self, dim, index.long(), src, kind).detach()


def scatter_value(self: Tensor, dim: int, index: Tensor, value: Any, *, reduce: str) -> Tensor:
    """Compare every place with every index, and add or multiply for each that hits it."""
    return scatter(self, dim, index, self.new_full(index.shape, value), reduce=reduce)


def scatter_any(self: Tensor, dim: int, index: Tensor, src: Any, *, reduce: str) -> Tensor:
    """Compare every place with every index, and add or multiply those that hit it."""
    if isinstance(src, Tensor):
        return scatter(self, dim, index, src, reduce=reduce)
    return scatter_value(self, dim, index, src, reduce=reduce)


class _ByComparing(Rule):
    label = Label.TOLERANCE
    tolerance = 8
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/torch/csrc/autograd/FunctionsManual.cpp",
    )

    def refuses(self, call: Call) -> str:
        """Decline a table that is too large."""
        x, dim, index = call.given("self"), call.given("dim"), call.given("index")
        if x.is_complex() or x.dtype is torch.bool:
            return Sentence("it does not reduce {text}", text=str(x.dtype).removeprefix("torch."))
        table = index.numel() * (x.size(dim) if x.dim() else 1)
        source = call.given("source")
        if source is not None and source.dim() and index.numel():
            table *= source.numel() // index.numel()
        if table > _LARGEST:
            return Sentence(
                "it would compare {count} times, more than {count_most}",
                count=f"{table:,}",
                count_most=f"{_LARGEST:,}",
            )
        return ""


class ScatterReduceByComparing(_ByComparing):
    """Every place is compared with every index, and reduced over what hits it.

    ``sum`` and ``mean`` use ``scatter_add``; ``prod``, ``amax`` and ``amin`` make a table of
    places times indices along the dimension. Gradients are shared among equal extremes, as
    PyTorch shares them; where an extreme is NaN its gradient is 0, PyTorch's NaN. PyTorch has no
    right gradient for a source larger than its index, this has.
    """

    name = "scatter-reduce-by-comparing"
    replaces = ("aten::scatter_reduce.two",)
    summary = "Compare places with indices, and reduce what hits"
    spellings = ("torch.scatter_reduce", "Tensor.scatter_reduce")
    replace = staticmethod(scatter_reduce)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Sources larger than indices, places hit twice or never, and equal values."""
        dtype = (draw.choose((*FLOATS[:2], *INTEGERS)),)
        x = draw.tensor(draw.shape(smallest=1, high=3, largest=4), dtype, edges=False)
        dim = draw.dim(x)
        sizes = [draw.integer(1, size) for size in x.shape]
        if x.dim():
            sizes[dim] = draw.integer(0, 5)
        index = draw.indices(sizes, x.size(dim) if x.dim() else 1)
        larger = 0 if x.is_floating_point() else draw.integer(0, 1)
        src = draw.tensor([s + larger for s in sizes], dtype, edges=False)
        if draw.flag():
            x, src = (t.round() if t.is_floating_point() else t for t in (x, src))
        return (x, dim, index, src, draw.choose(_KINDS)), {"include_self": draw.flag()}


class IndexReduceByComparing(_ByComparing):
    """Every place is compared with every index, and reduced over what hits it.

    ``mean`` uses ``scatter_add``; ``prod``, ``amax`` and ``amin`` make a table of places times
    the source. Gradients are shared among equal extremes, as PyTorch shares them; where an
    extreme is NaN its gradient is 0, PyTorch's NaN.
    """

    name = "index-reduce-by-comparing"
    replaces = ("aten::index_reduce",)
    summary = "Compare places with indices, and reduce what hits"
    spellings = ("torch.index_reduce", "Tensor.index_reduce")
    replace = staticmethod(index_reduce)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Places hit twice or never, and equal values."""
        dtype = (draw.choose((*FLOATS[:2], *INTEGERS)),)
        x = draw.tensor(draw.shape(smallest=1, low=1, high=3, largest=4), dtype, edges=False)
        dim = draw.dim(x)
        sizes = list(x.shape)
        sizes[dim] = draw.integer(0, 5)
        index = draw.indices([sizes[dim]], x.size(dim))
        source = draw.tensor(sizes, dtype, edges=False)
        if draw.flag():
            x, source = (t.round() if t.is_floating_point() else t for t in (x, source))
        return (x, dim, index, source, draw.choose(_KINDS[1:])), {"include_self": draw.flag()}


class ScatterByComparing(_ByComparing):
    """Adding is ``scatter_add``; multiplying makes a table of places times indices.

    As with the operator, no gradient goes through.
    """

    name = "scatter-by-comparing"
    replaces = ("aten::scatter.reduce",)
    summary = "Add with scatter_add; multiply what hits a place by comparing"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.scatter": scatter_any, "Tensor.scatter": scatter_any
    }  # fmt: skip
    replace = staticmethod(scatter)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Adding and multiplying."""
        dtype = (draw.choose((*FLOATS[:2], *INTEGERS)),)
        x = draw.tensor(draw.shape(smallest=1, high=3, largest=4), dtype, edges=False)
        dim = draw.dim(x)
        sizes = [draw.integer(1, size) for size in x.shape]
        index = draw.indices(sizes, x.size(dim) if x.dim() else 1)
        src = draw.tensor(sizes, dtype, edges=False)
        return (x, dim, index, src), {"reduce": draw.choose(("add", "multiply"))}


class ScatterValueByComparing(_ByComparing):
    """Adding is ``scatter_add``; multiplying makes a table of places times indices."""

    name = "scatter-value-by-comparing"
    replaces = ("aten::scatter.value_reduce",)
    summary = "Add with scatter_add; multiply what hits a place by comparing"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.scatter": scatter_any, "Tensor.scatter": scatter_any
    }  # fmt: skip
    replace = staticmethod(scatter_value)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Adding and multiplying."""
        x = draw.tensor(draw.shape(smallest=1, high=3, largest=4), NUMBERS[:6], edges=False)
        dim = draw.dim(x)
        sizes = [draw.integer(1, size) for size in x.shape]
        index = draw.indices(sizes, x.size(dim) if x.dim() else 1)
        return (x, dim, index, draw.integer(0, 3)), {"reduce": draw.choose(("add", "multiply"))}


def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """Count what the mask picks, and add each of it at its number."""
    size = math.prod(sizes)
    row, picks = grad_output.reshape(-1), mask.expand(grad_output.shape).reshape(-1)
    place = picks.to(torch.int64).cumsum(0) - 1
    behind = torch.full_like(place, size)
    place = torch.where(picks, torch.where(place < size, place, behind), behind)
    found = torch.zeros(size + 1, dtype=row.dtype, device=row.device).scatter_add(0, place, row)
    return found[:size].reshape(sizes)


class MaskedScatterBackwardByCounting(Rule):
    """What the mask picks is counted on, and each goes to the place of its number.

    Places that nothing was taken from stay 0; what is not picked goes behind the last and is cut
    off. Every place is written once, so the values are the same.
    """

    name = "masked-scatter-backward-by-counting"
    replaces = ("aten::masked_scatter_backward",)
    summary = "Count what the mask picks, and put each at its number"
    references = (f"{SOURCES}/aten/src/ATen/native/TensorAdvancedIndexing.cpp",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(masked_scatter_backward)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Masks of anything, and a source that is as large as what they may pick, or larger."""
        x = draw.tensor(draw.shape(low=1, high=3, smallest=1, largest=4), FLOATS[:2], edges=False)
        mask = draw.tensor(list(x.shape), (torch.bool,))
        return (x, mask, [x.numel() + draw.integer(0, 3)]), {}
