"""Reading and writing where a mask is true."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import NUMBERS, Draw

_REFERENCES = (
    "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/TensorAdvancedIndexing.cpp",
)


def _in_turn(mask: Tensor, rows: Tensor) -> Tensor:
    """Lay rows out over a mask: the next one at each place where it is true, any elsewhere."""
    flat = mask.reshape(-1)
    ranks = flat.long().cumsum(0) - 1
    ranks = torch.where(flat, ranks, torch.zeros_like(ranks))
    more = torch.cat([rows, rows.new_zeros([1, *rows.shape[1:]])])  # so that there is one to name
    return more.index_select(0, ranks).reshape([*mask.shape, *rows.shape[1:]])


def index_put(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Take the values where the mask is true, and what is there elsewhere."""
    before = sum(index is None for index in indices)
    mask = next(index for index in indices if index is not None)
    after = self.dim() - before - mask.dim()
    if values.dim() > after:
        lead = values.shape[: values.dim() - after - 1]
        tail = values.shape[values.dim() - after :]
        if values.size(len(lead)) == 1:
            values = values.reshape([*lead, *[1] * mask.dim(), *tail])
        else:
            laid = _in_turn(mask, values.movedim(len(lead), 0))
            places = list(range(mask.dim()))
            values = laid.movedim(places, [len(lead) + place for place in places])
    chosen = mask.reshape([*mask.shape, *[1] * after])
    return torch.where(chosen, self + values if accumulate else values, self)


def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Count which element of the source goes to each place, and select it there."""
    shape = torch.broadcast_shapes(self.shape, mask.shape)
    wide = mask.expand(shape)
    return torch.where(wide, _in_turn(wide, source.reshape(-1)), self)


def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """Index by the mask."""
    shape = torch.broadcast_shapes(self.shape, mask.shape)
    return self.expand(shape).reshape(-1)[mask.expand(shape).reshape(-1)]


class _OfMask(Rule):
    references: ClassVar[tuple[str, ...]] = _REFERENCES


class IndexPutByWhere(_OfMask):
    """What is written by a mask, the same for every place, is chosen by ``where``.

    So no place has to be found, and no size depends on values. Gradients of the values are added
    up over all places, those that the mask leaves out with zero.
    """

    name = "index-put-by-where"
    label = Label.TOLERANCE
    tolerance = 64
    replaces: ClassVar[tuple[str, ...]] = ("aten::index_put",)
    summary = "Choose between values and what is there by where"
    replace = staticmethod(index_put)

    def refuses(self, call: Call) -> str:
        """Decline all but one mask, and other values for each place."""
        declined = _not_one_mask(call)
        if declined or not _rows(call):
            return declined
        return "values have a row for each place"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Values of any shape that broadcasts."""
        x, indices, mask, _ = _target(draw)
        after = x.shape[len(indices) - 1 + mask.dim() :]
        shapes: tuple[list[int], ...] = (
            [],
            [1],
            list(after),
            [1, *after],
            [*x.shape[: len(indices) - 1], 1, *after],
        )
        values = draw.tensor(draw.choose(shapes), (x.dtype,), edges=False)
        return (x, indices, values, draw.flag()), {}


class IndexPutRowsByWhere(_OfMask):
    """Rows that are written by a mask are laid out in turn, then chosen by ``where``.

    A running count of the mask says which row goes to each place. Where there are more rows than
    places, the operator raises; here they are left.
    """

    name = "index-put-rows-by-where"
    replaces = ("aten::index_put",)
    summary = "Lay values out by a running count of the mask, and choose by where"
    replace = staticmethod(index_put)

    def refuses(self, call: Call) -> str:
        """Decline all but one mask, and values that are the same for each place."""
        declined = _not_one_mask(call)
        if declined or _rows(call):
            return declined
        return "values are the same for each place"

    def valid(self, call: Call) -> Call:
        """A mask that is true at as many places as there are rows."""
        *before, mask = call.given("indices")
        values = call.given("values")
        rows = values.size(len(before) + mask.dim() - call.given("self").dim() - 1)
        chosen = (torch.arange(mask.numel()) < rows).reshape(mask.shape)
        accumulate = call.given("accumulate")
        return Call(call.func, (call.given("self"), [*before, chosen], values, accumulate), {})

    def example(self, op: str, draw: Draw) -> Arguments:
        """As many rows as the mask has places."""
        x, indices, mask, count = _target(draw)
        after = x.shape[len(indices) - 1 + mask.dim() :]
        lead = x.shape[: len(indices) - 1] if draw.flag() or len(indices) == 1 else [1]
        values = draw.tensor([*lead, count, *after], (x.dtype,))
        return (x, indices, values, draw.flag()), {}


class MaskedScatterByCounting(_OfMask):
    """A running count of the mask says which element of the source goes to each place."""

    name = "masked-scatter-by-counting"
    replaces = ("aten::masked_scatter",)
    summary = "Select from the source by a running count of the mask, and choose by where"
    spellings = ("torch.masked_scatter", "Tensor.masked_scatter")
    replace = staticmethod(masked_scatter)

    def example(self, op: str, draw: Draw) -> Arguments:
        """A mask of the same shape, or one that broadcasts; as many elements, or more."""
        x = draw.tensor(draw.shape(), (draw.choose(NUMBERS),))
        shape = list(x.shape) if draw.flag() else list(x.shape[1:])
        mask = draw.tensor(shape, (torch.bool,))
        count = int(mask.expand(x.shape).sum()) + draw.integer(0, 2)
        return (x, mask, draw.tensor([count], (x.dtype,))), {}


class MaskedSelectByIndexing(_OfMask):
    """Indexing by a mask selects the same elements in the same order.

    How many depends on values, here as there: what is gained is another kernel.
    """

    name = "masked-select-by-indexing"
    replaces = ("aten::masked_select",)
    dynamic = True
    summary = "Index by the mask: x[mask]"
    spellings = ("torch.masked_select", "Tensor.masked_select")
    replace = staticmethod(masked_select)

    def example(self, op: str, draw: Draw) -> Arguments:
        """A mask of the same shape, or one of the two broadcasts."""
        shape = draw.shape()
        shapes = (shape, shape) if draw.flag() else (shape, shape[1:])
        first, second = shapes if draw.flag() else shapes[::-1]
        return (draw.tensor(first, NUMBERS), draw.tensor(second, (torch.bool,))), {}


def _not_one_mask(call: Call) -> str:
    given = [index for index in call.given("indices") if index is not None]
    if len(given) != 1 or given[0].dtype not in (torch.bool, torch.uint8):
        return "it is not indexed by one mask alone"
    if given[0].dtype is torch.uint8 or not given[0].dim():
        return "its mask is not of bool, or has no dimension"
    return "" if call.given("indices")[-1] is not None else "its mask comes before other dimensions"


def _rows(call: Call) -> bool:
    """Whether there is a row of values for each place."""
    x, values, indices = call.given("self"), call.given("values"), call.given("indices")
    after = x.dim() - (len(indices) - 1) - indices[-1].dim()
    return bool(values.dim() > after and values.size(-1 - after) != 1)


def _target(draw: Draw) -> tuple[Tensor, list[Tensor | None], Tensor, int]:
    """What is written to, its indices, the mask among them, and how many places that has."""
    shape = draw.shape(1, 4, largest=4)
    before = draw.integer(0, min(1, len(shape) - 1))
    dims = draw.integer(1, len(shape) - before)
    mask = draw.tensor(shape[before : before + dims], (torch.bool,))
    x = draw.tensor(shape, (draw.choose(NUMBERS),)).contiguous()
    return x, [*[None] * before, mask], mask, int(mask.sum())
