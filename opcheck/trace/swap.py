"""A model's parameters and buffers put on the traced device for one run, then given back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from opcheck.trace.device import DeviceTensor, Spec, device_tensor
from opcheck.trace.plans import small

FLOAT_INPUT_LIMIT = 1 << 12
"""Largest floating-point weight or input, in elements, whose values are kept."""


def on_device(value: Any, device: torch.device) -> Any:
    """Put every tensor in nested inputs on the device; small ones keep their values."""
    return tree_map(lambda v: _moved(v, device) if isinstance(v, Tensor) else v, value)


def _moved(tensor: Tensor, device: torch.device) -> Tensor:
    if isinstance(tensor, DeviceTensor) or tensor.layout is not torch.strided:
        return tensor
    spec = Spec.of(tensor.dtype, tensor.shape, tensor.stride())
    steers = not spec.dtype.is_floating_point or spec.numel <= FLOAT_INPUT_LIMIT
    plain = tensor.device.type == "cpu" and type(tensor) in (Tensor, nn.Parameter)
    keep = plain and steers and small(spec)
    made = device_tensor(spec, dense_copy(tensor.detach()) if keep else None, device)
    return made.requires_grad_(tensor.requires_grad)


def dense_copy(tensor: Tensor) -> Tensor:
    """Give a copy on the host with the same strides, and no more storage than they reach."""
    if tensor.is_conj() or tensor.is_neg():
        return tensor.clone()
    made = torch.empty(extent(tensor.shape, tensor.stride()), dtype=tensor.dtype)
    made.copy_(tensor.as_strided(made.shape, (1,)))
    return made.as_strided(tensor.shape, tensor.stride())


def extent(shape: Sequence[int], stride: Sequence[int]) -> int:
    """Elements from the first to the last one of a strided tensor."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))


@contextmanager
def swapped(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Have every parameter and buffer of ``model`` on the device inside the block.

    Shared tensors stay shared. Nothing of the model's own tensors is copied or changed.
    """
    moved: dict[int, Tensor] = {}
    undo: list[tuple[dict[str, Any], str, Any]] = []
    with torch.no_grad():
        for module in model.modules():
            tables: tuple[dict[str, Any], ...] = (module._parameters, module._buffers)
            for table in tables:
                for name, tensor in table.items():
                    if tensor is None or isinstance(tensor, DeviceTensor):
                        continue
                    undo.append((table, name, tensor))
                    table[name] = _shared(tensor, moved, device)
    try:
        yield
    finally:
        for table, name, tensor in undo:
            table[name] = tensor


def _shared(tensor: Tensor, moved: dict[int, Tensor], device: torch.device) -> Tensor:
    found = moved.get(id(tensor))
    if found is None:
        found = moved[id(tensor)] = _moved(tensor, device)
        if isinstance(tensor, nn.Parameter) and isinstance(found, DeviceTensor):
            # What makes ``isinstance(t, nn.Parameter)`` true of a subclass, without a dispatch.
            found._is_param = True
    return found
