"""A model and its inputs put on the emulated device, without asking the device for anything."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from opcheck.emulate.device import Device
from opcheck.emulate.shapes import keeps_values
from opcheck.trace.device import Spec
from opcheck.trace.swap import dense_copy


class Placing:
    """Puts host tensors on a device, each once, so that what is shared stays shared.

    ``Module.to`` would not keep parameters shared: PyTorch gives a PrivateUse1 device new ones.
    """

    def __init__(self, device: Device, values: bool) -> None:
        self._memory = device.memory
        self._values = values
        self._placed: dict[int, tuple[Tensor, Tensor]] = {}

    def module(self, module: nn.Module) -> None:
        """Put every parameter and buffer of a module on the device, in place."""
        for part in module.modules():
            tables: tuple[dict[str, Any], ...] = (part._parameters, part._buffers)
            for table in tables:
                for name, tensor in table.items():
                    if tensor is not None:
                        table[name] = self._once(tensor)

    def inputs(self, value: Any) -> Any:
        """Give nested inputs with their tensors on the device."""
        return tree_map(lambda v: self._once(v) if isinstance(v, Tensor) else v, value)

    def _once(self, tensor: Tensor) -> Tensor:
        if id(tensor) not in self._placed:
            # the tensor is kept, so that its id stays its own
            self._placed[id(tensor)] = (tensor, self._on_device(tensor))
        return self._placed[id(tensor)][1]

    def _on_device(self, tensor: Tensor) -> Tensor:
        if tensor.device.type not in ("cpu", "meta") or tensor.layout is not torch.strided:
            return tensor
        made = self._moved(tensor.detach())
        if isinstance(tensor, nn.Parameter):
            return nn.Parameter(made, tensor.requires_grad)
        return made.requires_grad_(tensor.requires_grad)

    def _moved(self, tensor: Tensor) -> Tensor:
        spec = Spec.like(tensor)
        if tensor.is_meta or not (self._values or keeps_values(spec)):
            return self._memory.blank(spec.dtype, spec.shape, spec.stride)
        return self._memory.adopt(dense_copy(tensor))
