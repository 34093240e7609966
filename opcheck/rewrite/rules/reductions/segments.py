"""Reductions of segments and of bags of embeddings."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.draw import FLOATS, Draw

_LARGEST = 1 << 24
_KINDS = ("sum", "mean", "max", "min", "prod")


def _belongs(bounds: Tensor, size: int) -> Tensor:
    """Which places lie in which segment: batch, segments, places."""
    place = torch.arange(size, device=bounds.device)
    count = bounds.size(-1) - 1
    first, last = bounds.narrow(-1, 0, count), bounds.narrow(-1, 1, count)
    return (place >= first.unsqueeze(-1)) & (place < last.unsqueeze(-1))


def _bounds(lengths: Tensor | None, offsets: Tensor | None) -> Tensor:
    if offsets is not None:
        return offsets
    assert lengths is not None, "lengths or offsets"
    ends = lengths.cumsum(-1)
    return torch.cat([torch.zeros_like(ends.narrow(-1, 0, 1)), ends], -1)


class _Shared(torch.autograd.Function):
    """A quotient whose gradient is divided where it is positive alone, as by PyTorch's kernel."""

    @staticmethod
    def forward(ctx: Any, sums: Tensor, count: Tensor, turned: bool) -> Tensor:
        """Divide."""
        ctx.save_for_backward(count)
        ctx.turned = turned
        return sums / count

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """Divide a positive gradient, or a negative one where what is reduced was negated."""
        (count,) = ctx.saved_tensors
        return torch.where(grad < 0 if ctx.turned else grad > 0, grad / count, grad), None, None


def _largest(wide: Tensor, here: Tensor, axis: int, start: float, turned: bool = False) -> Tensor:
    """Take the largest; all that are as large share its gradient, where that is positive."""
    values = wide.detach()
    low = torch.full_like(values, -math.inf)
    best = torch.where(here, values, low).amax(axis, keepdim=True)
    best = torch.where(best < start, torch.full_like(best, start), best)
    still = torch.where(best.abs() < math.inf, best, torch.zeros_like(best))
    equal = here & (values == best)
    moved = torch.where(equal, wide - still, torch.zeros_like(wide)).sum(axis)
    count = equal.to(wide.dtype).sum(axis)
    best, still = best.squeeze(axis), still.squeeze(axis)
    mean: Tensor = _Shared.apply(moved, count.clamp(min=1), turned)  # type: ignore[no-untyped-call]
    return torch.where(count == 0, best, still + mean)


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """Reduce each segment over a table of all segments times all places."""
    bounds = _bounds(lengths, offsets)
    here = _belongs(bounds, data.size(axis))
    here = here.reshape([*here.shape, *[1] * (data.dim() - axis - 1)])
    wide = data.unsqueeze(axis)
    if reduce == "max":
        return _largest(wide, here, axis + 1, -math.inf if initial is None else initial)
    if reduce == "min":
        start = -math.inf if initial is None else -initial
        return -_largest(-wide, here, axis + 1, start, turned=True)
    if reduce == "prod":
        product = torch.where(here, wide, torch.ones_like(wide)).prod(axis + 1)
        return product if initial is None else product * initial
    total = torch.where(here, wide, torch.zeros_like(wide)).sum(axis + 1)
    total = total if initial is None else total + initial
    if reduce == "sum":
        return total
    count = here.to(data.dtype).sum(axis + 1)
    mean = total / torch.where(count == 0, torch.ones_like(count), count)
    empty = torch.full_like(mean, math.nan) if initial is None else total
    return torch.where(count == 0, empty, mean)


class SegmentReduceByTable(Rule):
    """A table of segments times places tells what is reduced with what.

    Its size is segments times places times the size of an element. Equal extremes share a
    positive gradient, and each has the whole of a negative one, as in PyTorch.
    """

    name = "segment-reduce-by-table"
    label = Label.TOLERANCE
    tolerance = 16
    replaces = ("aten::segment_reduce",)
    summary = "Mask a table of segments times places, and reduce it"
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/SegmentReduce.cpp",
    )
    spellings = ("torch.segment_reduce",)
    replace = staticmethod(segment_reduce)

    def refuses(self, call: Call) -> str:
        """Decline a table that is too large."""
        bounds = call.given("offsets")
        bounds = call.given("lengths") if bounds is None else bounds
        if bounds is None:
            return "it has neither lengths nor offsets"
        table = call.given("data").numel() * bounds.size(-1)
        if table > _LARGEST:
            return Sentence(
                "its table takes {count} numbers, more than {count_most}",
                count=f"{table:,}",
                count_most=f"{_LARGEST:,}",
            )
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Segments of any length, 0 among them, by lengths or by offsets."""
        axis = draw.integer(0, 1)
        batch = draw.shape(axis, axis, smallest=1, largest=3)
        count, segments = draw.integer(1, 6), draw.integer(1, 3)
        tail = draw.shape(0, 1, smallest=1, largest=3)
        data = draw.tensor([*batch, count, *tail], FLOATS[:2], edges=False)
        if draw.flag():
            data = data.round()
        cuts = draw.indices([*batch, segments - 1], count + 1).sort(-1).values
        ends = [cuts.new_zeros([*batch, 1]), cuts, cuts.new_full([*batch, 1], count)]
        offsets = torch.cat(ends, -1)
        initial = draw.choose((None, 1.0, -0.5))
        given: dict[str, Any] = {"axis": axis, "initial": initial}
        if draw.flag():
            return (data, draw.choose(_KINDS)), {**given, "offsets": offsets}
        return (data, draw.choose(_KINDS)), {**given, "lengths": offsets.diff(dim=-1)}


def _bags(offsets: Tensor, bags: int, count: int) -> Tensor:
    """Which bag each place belongs to: the last that starts at or before it."""
    place = torch.arange(count, device=offsets.device).unsqueeze(-1)
    return (offsets.narrow(0, 0, bags) <= place).long().sum(-1) - 1


def _largest_of_bag(rows: Tensor, here: Tensor) -> tuple[Tensor, Tensor]:
    """The largest of each bag, and the place that it is at; 0 and -1 for an empty bag."""
    table = torch.where(here, rows, torch.full_like(rows, -math.inf))
    values, places = table.max(1)
    none = ~here.any(1)
    return torch.where(none, torch.zeros_like(values), values), torch.where(none, -1, places)


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Look the rows up, and add them up by the bag that they belong to."""
    count, size = indices.numel(), weight.size(1)
    bags = offsets.numel() - include_last_offset
    bag = _bags(offsets.long(), bags, count)
    kept = (indices != padding_idx).unsqueeze(-1)
    rows = weight.index_select(0, indices.long())
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    ones = torch.where(kept.squeeze(-1), torch.ones_like(bag), torch.zeros_like(bag))
    sizes = torch.zeros_like(offsets.narrow(0, 0, bags).long()).scatter_add(0, bag, ones)
    if mode == 2:
        number = torch.arange(bags, device=bag.device).unsqueeze(-1)
        here = ((bag == number) & kept.squeeze(-1)).unsqueeze(-1)
        best, places = _largest_of_bag(rows.unsqueeze(0), here)
        return best, bag, sizes, places
    rows = torch.where(kept, rows, torch.zeros_like(rows))
    total = weight.new_zeros([bags, size])
    total = total.scatter_add(0, bag.unsqueeze(-1).expand(count, size), rows)
    if mode == 1:
        total = total / sizes.clamp(min=1).unsqueeze(-1).to(total.dtype)
    return total, bag, sizes, torch.zeros_like(sizes)


def bags_of(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """``embedding_bag`` as users call it: the rows of a table of indices are bags as well."""
    if input.is_floating_point():  # both in the order of old, which PyTorch takes still
        input, weight = weight, input
    if max_norm is not None:
        with torch.no_grad():
            torch.embedding_renorm_(weight, input.reshape(-1), max_norm, norm_type)
    if offsets is None:
        offsets = torch.arange(0, input.numel(), input.size(1), device=input.device)
    own = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    none = -1 if padding_idx is None else padding_idx % weight.size(0)
    how = ("sum", "mean", "max").index(mode)
    return embedding_bag(
        weight, input.reshape(-1), offsets, scale_grad_by_freq, how, sparse, own,
        include_last_offset, none,
    )[0]  # fmt: skip


class EmbeddingBagByScatterAdd(Rule):
    """Rows are looked up, and ``scatter_add`` puts each where its bag is.

    For ``mode="max"`` a table of bags times rows is made instead. Of the results only the first
    is what users see; what the others hold is up to the kernel.
    """

    name = "embedding-bag-by-scatter-add"
    label = Label.TOLERANCE
    tolerance = 8
    replaces = ("aten::_embedding_bag_forward_only", "aten::_embedding_bag")
    summary = "Look the rows up, and add them up with scatter_add"
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_decomp/decompositions.py",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.embedding_bag": bags_of
    }
    replace = staticmethod(embedding_bag)

    def refuses(self, call: Call) -> str:
        """Decline other gradients than dense sums, and a table that is too large."""
        if call.given("scale_grad_by_freq") or call.given("sparse"):
            return "its gradient is dense, and not scaled by how often a row is used"
        offsets, indices = call.given("offsets"), call.given("indices")
        if not indices.numel() or not offsets.numel():
            return "there is nothing to look up"
        table = indices.numel() * offsets.numel()
        table *= call.given("weight").size(1) if call.given("mode") == 2 else 1
        if table > _LARGEST:
            return Sentence(
                "its table takes {count} numbers, more than {count_most}",
                count=f"{table:,}",
                count_most=f"{_LARGEST:,}",
            )
        return ""

    def valid(self, call: Call) -> Call:
        """Let bags start at 0 and come one after the other."""
        args = list(call.args)
        args[2] = (args[2].sort().values - args[2].min()).clamp(max=args[1].numel() - 1)
        return Call(call.func, tuple(args), call.kwargs)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Only the first result is promised."""
        return outcome[0][:1], outcome[1]

    def example(self, op: str, draw: Draw) -> Arguments:
        """Every mode, empty bags, weights of their own, and padding."""
        dtype = (draw.choose(FLOATS[:2]),)
        weight = draw.tensor([draw.integer(1, 5), draw.integer(1, 3)], dtype, edges=False) + 0
        count = draw.integer(1, 6)
        indices = draw.indices([count], weight.size(0))
        starts = draw.indices([draw.integer(0, 3)], count).sort().values
        offsets = torch.cat([starts.new_zeros([1]), starts])
        mode, last = draw.choose((0, 1, 2)), draw.flag()
        if last:
            offsets = torch.cat([offsets, offsets.new_full([1], count)])
        own = draw.tensor([count], dtype, edges=False) + 0 if not mode and draw.flag() else None
        given: tuple[Any, ...] = (False, mode, False, own, last, draw.choose((-1, 0)))
        return (weight, indices, offsets, *given), {}
