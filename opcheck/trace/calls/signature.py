"""One call's arguments - its tensors, whether the device is called, a key for its signature."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor

from opcheck.model.trace import Constant, TensorMeta, Value, coarse_offset
from opcheck.trace.calls.constants import told
from opcheck.trace.device.host_copies import HostCopy
from opcheck.trace.device.sparse import SparseTensor
from opcheck.trace.device.tensors import DeviceTensor, Spec
from opcheck.trace.torch_internals.modes import Modes, modes_of
from opcheck.trace.torch_internals.reductions import reduction_of


@dataclass(slots=True)
class Call:
    """A call as the dispatcher hands it over, with bare device tensors adopted."""

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    key: tuple[Any, ...]
    """Equal for calls of one signature; values of tensors are no part of it."""
    tensors: list[Tensor]
    """Every tensor argument, ours and the host's, in order."""
    ours: bool
    """Some tensor argument is on the traced device."""
    device: torch.device | None
    """The ``device`` argument, if one is given."""
    known: bool
    """Every tensor argument has its values."""
    lazy: bool
    """Some tensor argument is a lazy conjugate or negative."""
    modes: Modes = ()
    """What the program had switched on."""


_OURS = (DeviceTensor, SparseTensor)
_TYPED = (bool, float, complex)


def take_apart(
    func: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    adopt_bare: Callable[[Tensor], DeviceTensor],
) -> Call:
    """Read the arguments of one call.

    ``adopt_bare`` gets tensors that are on the traced device or on meta but are not ours.
    """
    call = Call(func, args, dict(kwargs) if kwargs else {}, (), [], False, None, True, False)
    parts: list[Any] = [func]
    clean = True
    for value in args:
        clean &= _add(value, parts, call)
    for name, value in call.kwargs.items():
        parts.append(name)
        clean &= _add(value, parts, call)
    if not clean:
        return _adopted(call, adopt_bare)
    call.modes = (*modes_of(func, call.tensors), *told(func, args, call.kwargs))
    if call.modes:
        parts.append(call.modes)
    call.key = tuple(parts)
    return call


def _add(value: Any, parts: list[Any], call: Call) -> bool:
    """Append one argument to the key; False where a bare device tensor was met."""
    kind = type(value)
    if kind is DeviceTensor:
        offset = value.storage_offset()
        parts.append((value.spec, _coarse(value)) if offset else value.spec)
        call.tensors.append(value)
        call.ours = True
        if value.value is None:
            call.known = False
        if value.spec.lazy:
            call.lazy = True
        return True
    if value is None or kind is int or kind is str:
        parts.append(value)
        return True
    if kind is list or kind is tuple:
        clean = True
        inner: list[Any] = []
        for item in value:
            clean &= _add(item, inner, call)
        parts.append(tuple(inner))
        return clean
    if kind in _TYPED:
        parts.append((kind, value))
        return True
    if kind is SparseTensor:
        parts.append(value.key)
        call.tensors.append(value)
        call.ours = True
        return True
    if isinstance(value, Tensor):
        if value.device.type != "cpu":
            return False
        laid = (value.stride(), _coarse(value)) if value.layout is torch.strided else value.layout
        parts.append((value.dtype, value.size(), laid))
        call.tensors.append(value)
        call.known = call.known and kind is not HostCopy
        call.lazy = call.lazy or value.is_conj() or value.is_neg()
        return True
    if kind is torch.device:
        call.device = value
    elif kind is torch.ScriptObject:  # one process group is as good as another
        value = (kind, reduction_of(value))
    parts.append(value if kind.__hash__ is not None else repr(value))
    return True


def _adopted(call: Call, adopt_bare: Callable[[Tensor], DeviceTensor]) -> Call:
    def mend(value: Any) -> Any:
        if isinstance(value, Tensor) and type(value) not in _OURS:
            return value if value.device.type == "cpu" else adopt_bare(value)
        if isinstance(value, (list, tuple)):
            return [mend(v) for v in value]
        return value

    args = tuple(mend(value) for value in call.args)
    kwargs = {name: mend(value) for name, value in call.kwargs.items()}
    return take_apart(call.func, args, kwargs, adopt_bare)


def named_arguments(
    names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[str, Value], ...]:
    """Arguments as model values under their schema names, in schema order."""
    given = dict(zip(names, args, strict=False)) | dict(kwargs)
    order = [name for name in names if name in given]
    order += [name for name in given if name not in names]
    return tuple((name, to_value(given[name])) for name in order)


def _named(value: torch.dtype | torch.layout) -> str:
    return str(value).removeprefix("torch.")


def meta_of(tensor: Tensor) -> TensorMeta:
    """A tensor without its values: of the device, the emulated one's too, or of the host."""
    spec = tensor.spec if isinstance(tensor, DeviceTensor) else Spec.like(tensor)
    offset = _coarse(tensor)
    return replace(spec.meta, offset=offset) if offset else spec.meta


def _coarse(tensor: Tensor) -> int:
    return coarse_offset(int(tensor.storage_offset()) * tensor.dtype.itemsize)


def to_value(value: Any) -> Value:
    """Turn an argument or a result into a model value."""
    match value:
        case DeviceTensor():
            return meta_of(value)
        case Tensor():
            if value.layout is not torch.strided:
                meta = TensorMeta(_named(value.dtype), tuple(value.shape), ())
                return Constant("other", f"{_named(value.layout)} {meta}")
            return replace(meta_of(value), host=True)
        case None | bool() | int() | float() | str():
            return value
        case complex():
            return str(value)
        case list() | tuple():
            return tuple(to_value(item) for item in value)
        case torch.dtype():
            return Constant("dtype", str(value).removeprefix("torch."))
        case torch.layout():
            return Constant("layout", str(value).removeprefix("torch."))
        case torch.memory_format():
            return Constant("memory_format", str(value).removeprefix("torch."))
        case torch.device():
            return Constant("device", value.type)
        case torch.ScriptObject() if name := reduction_of(value):
            return Constant("reduction", name)
        case _:
            return Constant("other", type(value).__name__)
