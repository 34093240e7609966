"""How a call is computed - on the host's values, or for dtypes, shapes and strides alone."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from opcheck.emulate.memory import Memory
from opcheck.emulate.overload import CAST, Overload
from opcheck.trace.calls.signature import Call
from opcheck.trace.device.tensors import DeviceTensor, Spec
from opcheck.trace.outputs.device_only import kernel_for
from opcheck.trace.outputs.kernel_results import KernelResults, asks_for, is_made_up
from opcheck.trace.outputs.plan import remark, small
from opcheck.trace.outputs.unknown import (
    Assumption,
    OtherLayout,
    UnknownResult,
    require_strides,
    taken_to_be,
)
from opcheck.trace.running.model_state import FLOAT_INPUT_LIMIT


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
        if owner.size() != host.size() or owner.stride() != host.stride():
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


class Shapes:
    """Answers as the tracer does (:class:`.KernelResults`), on plain device tensors."""

    def __init__(
        self,
        memory: Memory,
        casts: dict[torch.dtype, torch.dtype],
        assumed: Callable[[Call, Assumption], None],
        blanked: Callable[[], None],
    ) -> None:
        self._memory = memory
        self._blanked = blanked
        """Told where values that are not known are brought to the host."""
        self._assumed = assumed
        self._leaves = KernelResults(memory.device, casts, assumed)

    def run(self, overload: Overload, args: Any, kwargs: Any, call: Call) -> Any:
        """Give the outputs of one call, whose device tensors are ``origin`` of those in ``call``.

        Raises:
            NotImplementedError: nothing here can tell what it returns.
            Exception: whatever torch raises for arguments that the operator refuses.
        """
        before = [
            (t, t.origin, t.value)
            for t in call.tensors
            if isinstance(t, DeviceTensor) and t.origin is not None
        ]
        try:
            result = self._leaves.run(call)
        except OtherLayout:
            raise
        except UnknownResult as error:
            raise NotImplementedError(str(error)) from error
        for tensor, origin, value in before:
            self._synchronise(origin, tensor, value)
        self._bring(overload.name, args, result, call)
        here = [isinstance(tensor, DeviceTensor) or not tensor.dim() for tensor in call.tensors]
        return self._plain(result, derived=bool(here) and all(here))

    def _bring(self, name: str, args: Any, result: Any, call: Call) -> None:
        """Zeros for what is copied to the host without its values; what was assumed is noted."""
        between = name.startswith("aten::_copy_from")
        target = args[1] if between else result
        copies = between or name in CAST or name == "aten::copy_"
        if not copies or not isinstance(target, Tensor) or target.device.type != "cpu":
            return
        if not call.known:
            target.zero_()
            self._blanked()
        elif any(map(is_made_up, call.tensors)) and target.numel():
            value = target.as_subclass(Tensor).flatten()[0].item()
            self._assumed(call, Assumption(lambda: value, taken_to_be(value)))

    def _synchronise(self, origin: Tensor, tensor: DeviceTensor, value: Tensor | None) -> None:
        """Have the plain tensor follow what the call did to the one that stood for it."""
        if tensor.spec.shape != tuple(origin.size()) or tensor.spec.stride != origin.stride():
            self._memory.replace(origin, self._new(tensor.spec, tensor.value, derived=True))
        elif tensor.value is None and value is not None:
            self._memory.forget(origin)
        elif tensor.value is not None and tensor.value is not value:
            self._memory.know(origin, tensor.value)

    def _plain(self, value: Any, derived: bool) -> Any:
        if isinstance(value, DeviceTensor):
            made = value.origin
            if made is not None:
                return made
            return self._new(value.spec, value.value, derived, int(value.storage_offset()))
        if isinstance(value, (list, tuple)):
            return [self._plain(item, derived) for item in value]
        return value

    def _new(self, spec: Spec, value: Tensor | None, derived: bool, offset: int = 0) -> Tensor:
        """A new tensor. What derives from known ones is known; all else may be weights."""
        if value is not None and (derived or keeps_values(spec)):
            return self._memory.adopt(value)
        return self._memory.blank(spec.dtype, spec.shape, spec.stride, offset)


def keeps_values(spec: Spec) -> bool:
    """Whether Python may look at a tensor, come whence it may: integers and masks, short floats."""
    if spec.dtype.is_floating_point or spec.dtype.is_complex:
        return spec.numel <= FLOAT_INPUT_LIMIT
    return small(spec)
