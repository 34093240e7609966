"""Reading and writing at places given by an index, and places of what is not zero."""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor

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
            return f"it would compare {table:,} times, more than {_LARGEST:,}"
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
