"""Device types of plugins that are not installed: ``torch.npu`` is there, and has no device.

It gives way to the module of a device that is traced under the same name (``trace/device.py``):
torch takes one module a device type, and refuses a second.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.model.schemas import DeviceSchema

GIVES_WAY = "_opcheck_gives_way"
"""Attribute of a stand-in for a device module: a function that takes it away."""

_ANSWERS = {
    "is_available": False, "is_initialized": False, "device_count": 0, "empty_cache": None,
    "manual_seed": None, "manual_seed_all": None, "memory_allocated": 0,
    "max_memory_allocated": 0, "memory_reserved": 0, "max_memory_reserved": 0,
}  # fmt: skip
"""What ``torch.cuda`` answers where there is no CUDA; everything else there is an error."""


class NoDevice(ModuleType):
    """The module of a device type of which there is no device."""

    def __init__(self, plugin: str, device: DeviceSchema) -> None:
        super().__init__(f"torch.{device.type}", f"Stands in for that of {plugin}.")
        self._plugin, self._type = plugin, device.type
        for name, value in {**_ANSWERS, **device.answers}.items():
            setattr(self, name, _always(value))
        setattr(self, GIVES_WAY, self._give_way)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{self.__name__}.{name} needs a device: {self._plugin} is not installed, and there "
            f"is no {self._type} here"
        )

    def _give_way(self) -> None:
        """Take the module and the methods away, for those of a device that is there."""
        delattr(torch, self._type)
        sys.modules.pop(self.__name__, None)
        for owner in (Tensor, nn.Module):
            delattr(owner, self._type)


def bring(plugin: str, device: DeviceSchema) -> Callable[[str], Any]:
    """Let torch have a device type as the plugin would; gives what looks names up in its module.

    Where torch has one of that name it is left as it is.
    """
    device_type = device.type
    if not hasattr(torch, device_type):
        module = NoDevice(plugin, device)
        setattr(torch, device_type, module)
        sys.modules[module.__name__] = module
        setattr(Tensor, device_type, _tensor_method(device_type))
        setattr(nn.Module, device_type, _module_method(device_type))
    return lambda name: getattr(getattr(torch, device_type), name)


def _always(value: object) -> Callable[..., Any]:
    return lambda *_, **__: value


def _tensor_method(device_type: str) -> Callable[..., Tensor]:
    def move(self: Tensor, device: Any = None, non_blocking: bool = False, **_: Any) -> Tensor:
        return self.to(_place(device_type, device), non_blocking=non_blocking)

    return move


def _module_method(device_type: str) -> Callable[..., nn.Module]:
    def move(self: nn.Module, device: Any = None) -> nn.Module:
        place = _place(device_type, device)
        moved: nn.Module = self._apply(lambda tensor: tensor.to(place))
        return moved

    return move


def _place(device_type: str, device: Any) -> Any:
    """The device as code names it, which torch refuses where there is none."""
    return f"{device_type}:{device}" if isinstance(device, int) else device or device_type
