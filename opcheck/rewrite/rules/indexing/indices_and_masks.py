"""Reading and writing elements given by an index or a mask, and indices of what is not zero."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import ANY, NUMBERS, Draw

_LARGEST = 1 << 24
_REFERENCES = (
    "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/TensorAdvancedIndexing.cpp",
)


def _counted(index: Tensor, size: int) -> Tensor:
    """Count negative places from the end."""
    return torch.where(index < 0, index + size, index).long()


def index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Put the value where any index is."""
    if not self.dim():
        return index_fill(self.reshape(1), 0, index, value).reshape([])
    size = self.size(dim)
    places = _counted(index.reshape(-1, 1), size)
    hit = (places == torch.arange(size, device=self.device)).long().sum(0) > 0
    shape = [1] * self.dim()
    shape[dim] = size
    filled = value.to(self.dtype) if isinstance(value, Tensor) else self.new_full([], value)
    return torch.where(hit.reshape(shape), filled, self)


def take(self: Tensor, index: Tensor) -> Tensor:
    """Select from the flattened tensor."""
    flat = self.reshape(-1)
    return flat.index_select(0, _counted(index.reshape(-1), flat.numel())).reshape(index.shape)


def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Scatter into the flattened tensor."""
    flat = self.reshape(-1)
    places = _counted(index.reshape(-1), flat.numel())
    values = source.reshape(-1)
    done = flat.scatter_add(0, places, values) if accumulate else flat.scatter(0, places, values)
    return done.reshape(self.shape)


def nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Write each place that is not zero where its count says; all others aside."""
    flat = (self.reshape(-1) != 0).long()
    rank = flat.cumsum(0) - 1
    there = flat * (rank < size).long()
    slots = there * rank + (1 - there) * size  # the last one is cut off
    places = torch.ones_like(flat).cumsum(0) - 1
    found = flat.new_zeros([size + 1]).scatter(0, slots, places).narrow(0, 0, size)
    known = torch.arange(size, device=self.device) < flat.sum()
    steps = [math.prod(self.shape[d + 1 :]) for d in range(self.dim())]
    columns = [
        torch.where(known, found // max(step, 1) % max(length, 1), fill_value)
        for step, length in zip(steps, self.shape, strict=True)
    ]
    return torch.stack(columns, 1) if columns else flat.new_zeros([size, 0])


class IndexFillByComparing(Rule):
    """Every place along the dimension is compared with every index; hit ones take the value."""

    name = "index-fill-by-comparing"
    replaces: ClassVar[tuple[str, ...]] = ("aten::index_fill.int_Scalar",)
    summary = "Compare places with indices, and fill by where"
    spellings: ClassVar[tuple[str, ...]] = ("torch.index_fill", "Tensor.index_fill")
    references = _REFERENCES
    replace = staticmethod(index_fill)

    def refuses(self, call: Call) -> str:
        """Decline a table that is too large."""
        x, index = call.given("self"), call.given("index")
        table = index.numel() * (x.size(call.given("dim")) if x.dim() else 1)
        if table > _LARGEST:
            return Sentence(
                "it would compare {count} times, more than {count_most}",
                count=f"{table:,}",
                count_most=f"{_LARGEST:,}",
            )
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Places from either end, some twice where that leaves gradients alone."""
        x = draw.tensor(draw.shape(smallest=1), NUMBERS)
        dim = draw.dim(x)
        size = x.size(dim) if x.dim() else 1
        index = draw.indices([draw.integer(0, 4)], size) - draw.choose((0, size))
        value: Any = draw.integer(0, 3)
        if op.endswith("Tensor"):
            value, index = torch.tensor(value).to(x.dtype), index.unique()
        return (x, dim, index, value), {}


class IndexFillWithTensorByComparing(IndexFillByComparing):
    """Every place along the dimension is compared with every index; hit ones take the value.

    The value gets the gradient of each place once, even where it is given twice; PyTorch counts
    that one twice. It is added up in another order.
    """

    name = "index-fill-with-tensor-by-comparing"
    label = Label.TOLERANCE
    tolerance = 8
    replaces = ("aten::index_fill.int_Tensor",)


class TakeBySelecting(Rule):
    """Places in the flattened tensor are selected; negative ones count from the end."""

    name = "take-by-selecting"
    replaces = ("aten::take",)
    summary = "Flatten, and use index_select"
    spellings = ("torch.take", "Tensor.take")
    references = _REFERENCES
    replace = staticmethod(take)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Places from either end."""
        x = draw.tensor(draw.shape(smallest=1), ANY)
        return (x, draw.indices(draw.shape(), x.numel()) - draw.choose((0, x.numel()))), {}


class PutByScattering(Rule):
    """Values are scattered into the flattened tensor, or added there.

    Where a place is given twice and nothing is added, either value may be kept, here as in
    PyTorch. Of values in half precision that are added, PyTorch rounds each sum, and this the last.
    """

    name = "put-by-scattering"
    label = Label.TOLERANCE
    tolerance = 8.0
    replaces = ("aten::put",)
    summary = "Flatten, and use scatter or scatter_add"
    spellings = ("torch.put", "Tensor.put")
    references = _REFERENCES
    replace = staticmethod(put)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Places from either end, each once unless values are added."""
        dtype = (draw.choose(NUMBERS),)
        x = draw.tensor(draw.shape(smallest=1), dtype, edges=False)
        accumulate = draw.flag()
        index = draw.indices([draw.integer(0, 4)], x.numel())
        if not accumulate:
            index = index.unique()
        index = index - draw.choose((0, x.numel()))
        return (x, index, draw.tensor(index.shape, dtype, edges=False), accumulate), {}


class NonzeroStaticByCounting(Rule):
    """A running count tells which row each place that is not zero goes to.

    Places are scattered to their rows, and taken apart into coordinates by division. The size
    is fixed, so nothing depends on values.
    """

    name = "nonzero-static-by-counting"
    replaces = ("aten::nonzero_static",)
    summary = "Scatter places to where a running count says"
    spellings = ("torch.nonzero_static", "Tensor.nonzero_static")
    references = _REFERENCES
    replace = staticmethod(nonzero_static)

    def example(self, op: str, draw: Draw) -> Arguments:
        """More rows than places, and fewer."""
        x = draw.tensor(draw.shape(low=1, high=3, largest=4), (*NUMBERS, torch.bool))
        x = x if x.dtype is torch.bool else x * (x > 0).to(x.dtype)
        return (x,), {"size": draw.integer(0, 12), "fill_value": draw.integer(-2, 3)}


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
