"""``segment_reduce`` by a table of what belongs to which segment."""

import math
from typing import Any

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
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


def _largest(wide: Tensor, here: Tensor, axis: int, start: float) -> Tensor:
    """Take the largest; all that are as large share its gradient."""
    values = wide.detach()
    low = torch.full_like(values, -math.inf)
    best = torch.where(here, values, low).amax(axis, keepdim=True)
    best = torch.where(best < start, torch.full_like(best, start), best)
    still = torch.where(best.abs() < math.inf, best, torch.zeros_like(best))
    equal = here & (values == best)
    moved = torch.where(equal, wide - still, torch.zeros_like(wide)).sum(axis)
    count = equal.to(wide.dtype).sum(axis)
    best, still = best.squeeze(axis), still.squeeze(axis)
    shared = still + moved / torch.where(count == 0, torch.ones_like(count), count)
    return torch.where(count == 0, best, shared)


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
        return -_largest(-wide, here, axis + 1, -math.inf if initial is None else -initial)
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

    Its size is segments times places times the size of an element. Equal extremes share the
    gradient, as PyTorch's do.
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
            return f"its table takes {table:,} numbers, more than {_LARGEST:,}"
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
