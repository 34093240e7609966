"""A module's tensors on another device for a while, each once; its own are put back."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from opcheck.runtime.precision import HALVES


class Placing:
    """Puts a module on a device and in evaluation mode, and takes it back.

    ``Module.to`` would not do: a PrivateUse1 device gets new parameters, so what was tied is not
    any more, and an optimizer that holds the old ones is left with them.
    """

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._modes = [(part, part.training) for part in module.modules()]
        self._own = list(_tensors(module))

    def put(self, device: torch.device, *, widened: bool = False) -> nn.Module:
        """Give the module, on ``device``; ``widened``: what is in 16 bits is in float32 there."""
        moved: dict[int, Tensor] = {}
        for part, name, tensor in self._own:
            if id(tensor) not in moved:
                dtype = torch.float32 if widened and tensor.dtype in HALVES else tensor.dtype
                moved[id(tensor)] = _like(tensor, tensor.to(device, dtype))
            setattr(part, name, moved[id(tensor)])
        _flatten(self._module)
        try:
            return self._module.eval()
        except NotImplementedError:  # of torch.export: its modes were settled by the export
            return self._module

    def forget(self) -> None:
        """Let the tensors that were there before go: nobody wants them back."""
        self._own, self._modes = [], []

    def back(self) -> None:
        """Put the module's own tensors back, and its modes."""
        for part, name, tensor in self._own:
            setattr(part, name, tensor)
        for part, training in self._modes:
            part.training = training
        if self._own:
            _flatten(self._module)
        self.forget()


def _tensors(module: nn.Module) -> Iterator[tuple[nn.Module, str, Tensor]]:
    """Every parameter and buffer with its owner; what is shared, as often as it is."""
    for part in module.modules():
        for table in (part._parameters, part._buffers):
            for name, tensor in table.items():
                if tensor is not None:
                    yield part, name, tensor


def _like(own: Tensor, moved: Tensor) -> Tensor:
    """A parameter for a parameter."""
    if isinstance(own, nn.Parameter) and not isinstance(moved, nn.Parameter):
        return nn.Parameter(moved.detach(), own.requires_grad)
    return moved


def _flatten(module: nn.Module) -> None:
    """Lay the weights of recurrent layers out as their kernels want them."""
    for part in module.modules():
        if isinstance(part, nn.RNNBase):
            part.flatten_parameters()
