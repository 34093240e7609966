"""Copies of a call's arguments on the host: what shares memory there shares it here.

Private torch API used here, checked on 2.13.0: ``torch._C._ForceDispatchKeyGuard`` and
``torch._C._dispatch_tls_local_include_set``, ``torch._C._dispatch_tls_local_exclude_set``.
"""

from collections import defaultdict
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

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
