"""The arguments of a call with its tensors replaced by ones that a kernel can be given."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from opcheck.trace.device import DeviceTensor, Spec
from opcheck.trace.signature import Call
from opcheck.trace.unseen import require_strides


def on_meta(tensor: Tensor) -> Tensor:
    """Its shape alone; numbers of the host stay."""
    if isinstance(tensor, DeviceTensor):
        return tensor.spec.on_meta()
    if tensor.dim() == 0 or tensor.device.type == "meta":
        return tensor
    return Spec.like(tensor).on_meta()


def bare(value: Any) -> Any:
    """A device tensor by its shape alone, anything else as it is."""
    return value.spec.on_meta() if isinstance(value, DeviceTensor) else value


def zeros(tensor: Tensor) -> Tensor:
    """Its value on the host, or zeros where that is not known."""
    if isinstance(tensor, DeviceTensor):
        return tensor.spec.zeros() if tensor.value is None else tensor.value.clone()
    return tensor


def value_of(tensor: Tensor) -> Tensor:
    """Its value on the host."""
    if not isinstance(tensor, DeviceTensor):
        return tensor
    assert tensor.value is not None, "only called where every value is known"
    return tensor.value


def replaced(
    call: Call, make: Callable[[Tensor], Tensor], device: str
) -> tuple[tuple[Any, ...], dict[str, Any], list[Tensor]]:
    """The call's arguments with its tensors replaced, one replacement per tensor."""
    made: dict[int, Tensor] = {}

    def convert(value: Any) -> Any:
        if isinstance(value, Tensor):
            require_strides(value, call.func.name())
            if id(value) not in made:
                made[id(value)] = make(value)
            return made[id(value)]
        if isinstance(value, torch.device):
            return torch.device("cpu" if value.type == "cpu" else device)
        if isinstance(value, torch.Generator):
            return None
        return value

    args: tuple[Any, ...] = tree_map(convert, call.args)
    kwargs: dict[str, Any] = tree_map(convert, call.kwargs)
    if device == "meta":
        kwargs.pop("pin_memory", None)
        if call.device is not None and call.device.type == "cpu":
            kwargs = {k: torch.device("meta") if k == "device" else v for k, v in kwargs.items()}
            args = tuple(torch.device("meta") if isinstance(a, torch.device) else a for a in args)
    return args, kwargs, [made[id(tensor)] for tensor in call.tensors]
