"""A call's arguments: copied on the host with the same aliasing, and as a trace has them.

Private torch API used here, checked on 2.13.0: ``torch._C._ForceDispatchKeyGuard`` and
``torch._C._dispatch_tls_local_include_set``, ``torch._C._dispatch_tls_local_exclude_set``.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.model.trace import Constant, TensorMeta, Value

_KEYS = torch._C.DispatchKey
_LAZY = (
    torch._C.DispatchKeySet(_KEYS.Conjugate)
    | torch._C.DispatchKeySet(_KEYS.Negative)
    | torch._C.DispatchKeySet(_KEYS.ZeroTensor)
)


def resolving() -> AbstractContextManager[None]:
    """Have C++ resolve lazy conjugates and negatives inside of a mode, as it does outside."""
    included = torch._C._dispatch_tls_local_include_set()
    excluded = torch._C._dispatch_tls_local_exclude_set()
    return torch._C._ForceDispatchKeyGuard(included, excluded - _LAZY)


def copied(given: Any) -> Any:
    """The same nested values with every tensor copied to the host, and every device the host.

    Raises:
        RuntimeError: the device does not give a tensor's values; NotImplementedError likewise.
    """
    copies = _copies([leaf for leaf in tree_leaves(given) if isinstance(leaf, Tensor)])

    def host(value: Any) -> Any:
        if isinstance(value, Tensor):
            return copies[id(value)]
        return torch.device("cpu") if isinstance(value, torch.device) else value

    return tree_map(host, given)


def _copies(found: list[Tensor]) -> dict[int, Tensor]:
    """By the id of each tensor its copy."""
    sharing: dict[Any, dict[int, Tensor]] = defaultdict(dict)
    for tensor in found:
        sharing[_memory(tensor)][id(tensor)] = tensor
    made: dict[int, Tensor] = {}
    for views in sharing.values():
        if len(views) > 1:
            made.update(_views(views))
        else:
            made.update({key: _alone(tensor) for key, tensor in views.items()})
    return made


def _memory(tensor: Tensor) -> Any:
    """What two tensors have in common that share memory and can share a copy of it."""
    if tensor.layout is not torch.strided or tensor.is_conj() or tensor.is_neg():
        return id(tensor)
    return tensor.device, tensor.dtype, tensor.untyped_storage()._cdata


def _alone(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().clone()


def _views(views: dict[int, Tensor]) -> dict[int, Tensor]:
    """Copies of tensors that lie in the same memory, in one copy of all that they reach."""
    first = next(iter(views.values())).detach()
    size = max(tensor.storage_offset() + _reach(tensor) for tensor in views.values())
    memory = _alone(first.as_strided((size,), (1,), 0))
    return {
        key: memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        for key, tensor in views.items()
    }


def _reach(tensor: Tensor) -> int:
    """How many elements of its memory lie between its first and behind its last."""
    if not tensor.numel():
        return 0
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return 1 + sum((size - 1) * step for size, step in pairs)


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
