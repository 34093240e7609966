"""The arguments of a call as values without torch, as a trace has them."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from opcheck.model.trace import Constant, TensorMeta, Value


def arguments(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], device_type: str
) -> tuple[tuple[str, Value], ...]:
    """Arguments by their names in the schema, in its order; those at their default are not there.

    A call below the dispatcher may give defaults as well, and these are kept.
    """
    names = [argument.name for argument in func._schema.arguments]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    return tuple((name, value_of(given[name], device_type)) for name in names if name in given)


def value_of(value: Any, device_type: str) -> Value:
    """One argument; a tensor on another device than this is the host's."""
    match value:
        case Tensor():
            stride = value.stride() if value.layout is torch.strided else ()
            host = value.device.type != device_type
            shape = tuple(map(int, value.shape))
            return TensorMeta(_plain(value.dtype), shape, tuple(map(int, stride)), host)
        case None | bool() | int() | float() | str():
            return value
        case complex():
            return str(value)
        case list() | tuple():
            return tuple(value_of(item, device_type) for item in value)
        case torch.dtype():
            return Constant("dtype", _plain(value))
        case torch.memory_format():
            return Constant("memory_format", _plain(value))
        case torch.layout():
            return Constant("layout", _plain(value))
        case torch.device():
            return Constant("device", value.type)
        case _:
            return Constant("other", type(value).__name__)


def _plain(value: object) -> str:
    return str(value).removeprefix("torch.")
