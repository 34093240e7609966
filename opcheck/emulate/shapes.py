"""Follows only dtypes, shapes and strides; small integers and masks keep their values."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from opcheck.emulate.memory import Memory
from opcheck.emulate.overload import CAST, Overload
from opcheck.trace.assume import Assumption
from opcheck.trace.device import DeviceTensor, Spec
from opcheck.trace.leaf import Leaves
from opcheck.trace.plans import small
from opcheck.trace.signature import Call
from opcheck.trace.swap import FLOAT_INPUT_LIMIT
from opcheck.trace.unseen import OtherLayout, Unseen


class Shapes:
    """Answers as the tracer does (:class:`opcheck.trace.leaf.Leaves`), on plain device tensors."""

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
        self._leaves = Leaves(memory.device, casts, assumed)

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
        except Unseen as error:
            raise NotImplementedError(str(error)) from error
        for tensor, origin, value in before:
            self._synchronise(origin, tensor, value)
        if not call.known:
            self._bring(overload.name, args, result)
        here = [isinstance(tensor, DeviceTensor) or not tensor.dim() for tensor in call.tensors]
        return self._plain(result, derived=bool(here) and all(here))

    def _bring(self, name: str, args: Any, result: Any) -> None:
        """Zeros for what is copied to the host without its values."""
        target = args[1] if name.startswith("aten::_copy_from") else result
        copies = target is not result or name in CAST or name == "aten::copy_"
        if copies and isinstance(target, Tensor) and target.device.type == "cpu":
            target.zero_()
            self._blanked()

    def _synchronise(self, origin: Tensor, tensor: DeviceTensor, value: Tensor | None) -> None:
        """Have the plain tensor follow what the call did to the one that stood for it."""
        if tensor.spec.shape != tuple(origin.shape) or tensor.spec.stride != origin.stride():
            self._memory.replace(origin, self._new(tensor.spec, tensor.value, derived=True))
        elif tensor.value is None and value is not None:
            self._memory.forget(origin)
        elif tensor.value is not None and tensor.value is not value:
            self._memory.know(origin, tensor.value)

    def _plain(self, value: Any, derived: bool) -> Any:
        if isinstance(value, DeviceTensor):
            made = value.origin
            return self._new(value.spec, value.value, derived) if made is None else made
        if isinstance(value, (list, tuple)):
            return [self._plain(item, derived) for item in value]
        return value

    def _new(self, spec: Spec, value: Tensor | None, derived: bool) -> Tensor:
        """A new tensor. What derives from known ones is known; all else may be weights."""
        if value is not None and (derived or keeps_values(spec)):
            return self._memory.adopt(value)
        return self._memory.blank(spec.dtype, spec.shape, spec.stride)


def keeps_values(spec: Spec) -> bool:
    """Whether Python may look at a tensor, come whence it may: integers and masks, short floats."""
    if spec.dtype.is_floating_point or spec.dtype.is_complex:
        return spec.numel <= FLOAT_INPUT_LIMIT
    return small(spec)
