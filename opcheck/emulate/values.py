"""Runs a call on the host values behind its device tensors."""

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from opcheck.emulate.memory import Memory
from opcheck.emulate.overload import CAST, Overload
from opcheck.trace.device_only import kernel_for
from opcheck.trace.leaf import asks_for
from opcheck.trace.outputs import remark
from opcheck.trace.signature import Call
from opcheck.trace.unseen import require_strides


class Values:
    """Computes with the CPU kernels; every device tensor has its values."""

    def __init__(self, memory: Memory, casts: dict[torch.dtype, torch.dtype]) -> None:
        self._memory = memory
        self._casts = casts

    def run(self, overload: Overload, args: Any, kwargs: Any, call: Call) -> Any:
        """Give the outputs of one call.

        Raises:
            NotImplementedError: no CPU kernel is here for it.
            Exception: whatever torch raises for arguments that the operator refuses.
        """
        behind: dict[int, Tensor] = {}
        owners: dict[int, Tensor] = {}
        memory, device = self._memory, self._memory.device

        def down(value: Any) -> Any:
            if isinstance(value, Tensor):
                require_strides(value, overload.name)
                if value.device.type != device.type:
                    return value
                host = behind.get(id(value))
                if host is None:
                    host = memory.host(value)
                    assert host is not None, "a device that computes knows every value"
                    behind[id(value)] = host
                    owners[id(host)] = value
                return host
            return _CPU if isinstance(value, torch.device) else value

        given = tree_map(down, (args, kwargs))
        result = kernel_for(overload.func, given[0])(*given[0], **given[1])
        if overload.name in CAST and isinstance(result, Tensor) and asks_for(call, result.dtype):
            result = result.to(self._casts.get(result.dtype, result.dtype))
        stays = call.device is not None and call.device.type != device.type

        def up(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            require_strides(value, overload.name)
            owner = owners.get(id(value))
            if owner is not None:
                return value.clone() if stays else self._followed(owner, value)
            if stays or any(value is tensor for tensor in call.tensors):
                return value
            return self._made(value, owners.values())

        for host in behind.values():
            self._followed(owners[id(host)], host)
        if overload.name == _PACK:
            rows, batches = result
            return up(rows), batches
        return _mapped(up, result)

    def _made(self, host: Tensor, owners: Any) -> Tensor:
        """A new result on the device; one that views an argument's storage views it there too."""
        storage = host.untyped_storage()._cdata
        for owner in owners:
            behind = self._memory.host(owner)
            if behind is not None and behind.untyped_storage()._cdata == storage:
                return self._memory.sharing(owner, host)
        return self._memory.adopt(host.resolve_conj().resolve_neg())

    def _followed(self, owner: Tensor, host: Tensor) -> Tensor:
        """The caller's own tensor, which an ``out=`` or in-place kernel may have resized."""
        remark(host, owner.is_conj(), owner.is_neg())
        if owner.shape != host.shape or owner.stride() != host.stride():
            self._memory.replace(owner, self._memory.adopt(host))
        return owner


_CPU = torch.device("cpu")
_PACK = "aten::_pack_padded_sequence"
"""How many rows there are of each step is counted in host memory on every device."""


def _mapped(function: Any, value: Any) -> Any:
    """``tree_map`` that keeps lists lists and gives named results as plain tuples."""
    if isinstance(value, (list, tuple)):
        return (
            type(value)(map(function, value))
            if type(value) in (list, tuple)
            else tuple(map(function, value))
        )
    return function(value)
