"""Follows only dtypes, shapes and strides; small integers and masks keep their values."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from opcheck.emulate.memory import Memory
from opcheck.emulate.overload import Overload
from opcheck.trace.assume import Assumption
from opcheck.trace.device import DeviceTensor, Spec
from opcheck.trace.leaf import Leaves, small
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
    ) -> None:
        self._memory = memory
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
        if overload.name.startswith("aten::_copy_from") and not call.known:
            _blanked(args[1])
        return self._plain(result)

    def _synchronise(self, origin: Tensor, tensor: DeviceTensor, value: Tensor | None) -> None:
        """Have the plain tensor follow what the call did to the one that stood for it."""
        if tensor.spec.shape != tuple(origin.shape) or tensor.spec.stride != origin.stride():
            self._memory.replace(origin, self._new(tensor.spec, tensor.value))
        elif tensor.value is None and value is not None:
            self._memory.forget(origin)
        elif tensor.value is not None and tensor.value is not value:
            self._memory.know(origin, tensor.value)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, DeviceTensor):
            return self._new(value.spec, value.value) if value.origin is None else value.origin
        if isinstance(value, (list, tuple)):
            return [self._plain(item) for item in value]
        return value

    def _new(self, spec: Spec, value: Tensor | None) -> Tensor:
        if value is not None and keeps_values(spec):
            return self._memory.adopt(value)
        return self._memory.blank(spec.dtype, spec.shape, spec.stride)


def keeps_values(spec: Spec) -> bool:
    """Whether Python may look at such a tensor: integers and masks, and short floats."""
    if spec.dtype.is_floating_point or spec.dtype.is_complex:
        return spec.numel <= FLOAT_INPUT_LIMIT
    return small(spec)


def _blanked(host: Tensor) -> None:
    """Zeros for what was copied to the host without its values."""
    if host.device.type == "cpu":
        host.zero_()
