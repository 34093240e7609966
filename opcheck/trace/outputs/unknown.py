"""Calls whose result cannot be known here, and what is assumed of sizes and numbers.

What is assumed where a size or a Python number depends on values that a trace does not have. Sizes
take their upper bound (every mask element true), so that the code behind them is reached, but
``unique`` finds few values, since Python loops over them; numbers read by Python take one,
of which the reader is told.
"""

from collections.abc import Callable
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.trace.calls.signature import Call
from opcheck.trace.device.host_copies import HostCopy
from opcheck.trace.device.tensors import DeviceTensor


class UnknownResult(Exception):  # noqa: N818  # the reason a trace stops here, not a fault of anybody's
    """A call whose result cannot be known without the device or its extension."""

    @property
    def reason(self) -> str:
        """What is not known, as it was said: :class:`str` would make plain text of a sentence."""
        said = self.args[0] if self.args else ""
        return said if isinstance(said, Sentence) else str(self).strip().split("\n", 1)[0].strip()


class OtherLayout(UnknownResult):
    """A call that takes or gives a tensor of a layout that is not followed: it has no strides."""

    def __init__(self, op: str, tensor: Tensor) -> None:
        layout = str(tensor.layout).removeprefix("torch.")
        text = "{op} meets a tensor of layout {layout}; only strided ones are followed"
        super().__init__(Sentence(text, op=op, layout=layout))


class QuantizedResult(OtherLayout):
    """A call that takes or gives a tensor with a quantizer, which no device's tensor can have."""

    def __init__(self, op: str, tensor: Tensor) -> None:
        dtype = str(tensor.dtype).removeprefix("torch.")
        text = "{op} meets a tensor of {dtype}; quantized tensors are not followed"
        UnknownResult.__init__(self, Sentence(text, op=op, dtype=dtype))


def is_asked_for(met: Exception, call: Call) -> bool:
    """Whether a call stopped at a tensor of another layout, but what it asks for is known.

    Kernels that take a tensor with a quantizer, or make an empty one, have dispatch keys of their
    own, which few lists tell of; those that round a plain tensor are listed as all others are.
    """
    if not isinstance(met, QuantizedResult):
        return isinstance(met, OtherLayout)
    makes_empty = call.func.name().startswith("aten::_empty")
    return bool(call.tensors) and not makes_empty and not any(t.is_quantized for t in call.tensors)


def require_strides(tensor: Tensor, op: str) -> None:
    """Let only tensors of the usual layout pass, and none with a quantizer.

    Raises:
        OtherLayout: it is sparse, say.
        QuantizedResult: it is of ``torch.qint8`` or its like.
    """
    if tensor.is_quantized:
        raise QuantizedResult(op, tensor)
    if tensor.layout is not torch.strided:
        raise OtherLayout(op, tensor)


_MASKS = (torch.bool, torch.uint8)
_LARGE = 1 << 22
"""Elements above which an assumed index is kept without values."""


_FEW = 4
"""Distinct values that ``unique`` is assumed to find."""


class Assumption(Struct, frozen=True):
    """An assumed result, and what Python is told by it."""

    result: Callable[[], Any]
    text: str = ""
    """What a number is taken to be that goes to Python, as a clause; "" where none does."""
    holds: bool = False
    """Whether all that it rests on is known, so that it is what any device gives."""

    @property
    def steers(self) -> bool:
        """Whether Python may decide by it: what it does otherwise was not seen."""
        return bool(self.text)


def taken_to_be(value: Any) -> Sentence:
    """The clause for a value that was taken."""
    return Sentence("it is taken to be {value}", value=str(value))


def read_as(value: Any) -> Sentence:
    """What is not seen where Python reads ``value``, a number or many, on the host."""
    while isinstance(value, list):
        value = value[0] if value else 0
    first = next(iter(getattr(value, "flat", (value,))), 0)
    text = "reads values that depend on data; they are taken to be {value} here"
    return Sentence(text, value=_WHOLE.get(str(first), str(first)))


_WHOLE = {"0.0": "0", "0j": "0"}


def assumption_for(call: Call) -> Assumption | None:
    """Give the assumption for a call whose result depends on values; None for all others."""
    name = call.func.name()
    make = _RULES.get(name)
    if make is not None:
        return make(call)
    if name.startswith(("aten::index.Tensor", "aten::index_put", "aten::_index_put_impl")):
        return _index(call)
    return None


def _number(call: Call) -> Assumption:
    dtype = call.tensors[0].dtype
    value: Any = 1
    if dtype is torch.bool:
        value = False
    elif dtype.is_floating_point:
        value = 1.0
    elif dtype.is_complex:
        value = 1 + 0j
    return Assumption(lambda: value, taken_to_be(value))


def _false(call: Call) -> Assumption:
    return Assumption(lambda: False, taken_to_be(False))


def _true(call: Call) -> Assumption:
    return Assumption(lambda: True, taken_to_be(True))


def _nonzero(call: Call) -> Assumption:
    shape = tuple(call.tensors[0].shape)
    return Assumption(lambda: _all_places(shape))


def _all_places(shape: tuple[int, ...]) -> Tensor:
    """``nonzero`` of an all-true tensor, int64[numel, dims]; without values where it is large."""
    count = torch.Size(shape).numel()
    if count > _LARGE:
        return torch.empty(count, len(shape), dtype=torch.int64, device="meta")
    return torch.ones(shape, dtype=torch.bool).nonzero()


def _blank(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """A result without values; zeros where it is an index that Python may look at."""
    large = dtype.is_floating_point or torch.Size(shape).numel() > _LARGE
    return torch.zeros(shape, dtype=dtype, device="meta" if large else "cpu")


def _masked_select(call: Call) -> Assumption:
    shape = torch.broadcast_shapes(*(t.shape for t in call.tensors[:2]))
    dtype = call.tensors[0].dtype
    return Assumption(lambda: _blank((torch.Size(shape).numel(),), dtype))


def _unique(call: Call) -> Assumption:
    """A few distinct values: Python often loops over them."""
    tensor = call.tensors[0]
    few = min(tensor.numel(), _FEW)
    return _few_of(call, few, lambda: torch.arange(few).to(tensor.dtype), tuple(tensor.shape))


def _unique_dim(call: Call) -> Assumption:
    """A few distinct slices along one dimension."""
    tensor = call.tensors[0]
    dim = call.args[1] if len(call.args) > 1 else call.kwargs["dim"]
    shape = list(tensor.shape)
    count, shape[dim] = shape[dim], min(shape[dim], _FEW)
    return _few_of(call, shape[dim], lambda: _blank(tuple(shape), tensor.dtype), (count,))


def _few_of(
    call: Call, few: int, found: Callable[[], Tensor], inverse: tuple[int, ...]
) -> Assumption:
    """``found`` with the place of each input among them, of shape ``inverse``, and counts."""

    def result() -> tuple[Tensor, ...]:
        inverted = torch.empty(inverse, dtype=torch.int64, device="meta")
        counts = torch.ones(few, dtype=torch.int64)
        return (found(), inverted, counts)[: len(call.func._schema.returns)]

    return Assumption(result)


def _repeat_interleave(call: Call) -> Assumption:
    repeats = call.tensors[0]
    size = call.kwargs.get("output_size") or repeats.numel()
    return Assumption(lambda: torch.arange(size) % max(repeats.numel(), 1))


def _bincount(call: Call) -> Assumption:
    """``minlength`` of them, each as large as the others: Python splits rows by them.

    Of unknown many, at their most, none is there: a loop over them would go beyond its list.
    """
    counted = call.tensors[0].numel()
    fewest = call.kwargs.get("minlength", call.args[2] if len(call.args) > 2 else 0)
    dtype = _dtype_of_counts(call)

    def result() -> Tensor:
        places = torch.arange(counted) % fewest if fewest else torch.empty(0, dtype=torch.int64)
        counts = torch.bincount(places, minlength=fewest or counted)
        return counts.to(dtype).as_subclass(HostCopy)

    return Assumption(result)


def _dtype_of_counts(call: Call) -> torch.dtype:
    """``_bincount_cpu`` in ATen's SummaryOps.cpp: sums of weights are float32 or float64."""
    if len(call.tensors) == 1:
        return torch.int64
    return torch.float32 if call.tensors[1].dtype is torch.float32 else torch.float64


def _index(call: Call) -> Assumption | None:
    """Indexing with masks: known ones as they are, others as if every element were true."""
    masks = [t for t in call.args[1] if isinstance(t, Tensor) and t.dtype in _MASKS]
    if not masks:
        return None
    found = [_known(mask) for mask in masks]
    known = all(mask is not None and type(mask) is not HostCopy for mask in found)
    return Assumption(lambda: _indexed(call), holds=known)


def _indexed(call: Call) -> Tensor:
    target = call.tensors[0]
    if not call.func.name().startswith("aten::index.Tensor"):
        in_place = call.func._schema.is_mutable
        return (
            target
            if in_place
            else torch.empty_strided(
                target.shape, target.stride(), dtype=target.dtype, device="meta"
            )
        )
    places: list[Tensor | None] = []
    for item in call.args[1]:
        if item is None:
            places.append(None)
        elif item.dtype in _MASKS:
            mask = _known(item)
            found = _all_places(tuple(item.shape)) if mask is None else mask.nonzero()
            places += [column.to("meta") for column in found.unbind(1)]
        else:
            places.append(torch.empty(item.shape, dtype=torch.int64, device="meta"))
    bare = torch.empty_strided(target.shape, target.stride(), dtype=target.dtype, device="meta")
    return torch.ops.aten.index.Tensor(bare, places)  # type: ignore[no-any-return]  # untyped ops


def _known(tensor: Tensor) -> Tensor | None:
    if isinstance(tensor, DeviceTensor):
        return tensor.value
    return None if type(tensor) is HostCopy else tensor


_RULES: dict[str, Callable[[Call], Assumption | None]] = {
    "aten::item": _number,
    "aten::_local_scalar_dense": _number,
    "aten::is_nonzero": _false,
    "aten::equal": _true,
    "aten::allclose": _true,
    "aten::nonzero": _nonzero,
    "aten::masked_select": _masked_select,
    "aten::_unique": _unique,
    "aten::_unique2": _unique,
    "aten::unique_consecutive": _unique,
    "aten::unique_dim": _unique_dim,
    "aten::unique_dim_consecutive": _unique_dim,
    "aten::repeat_interleave.Tensor": _repeat_interleave,
    "aten::bincount": _bincount,
}
