"""The device's queue and memory: waited for, given back, and told of when it runs out."""

import gc
import importlib
from typing import Any

import torch

from opcheck.errors import out_of_memory
from opcheck.runtime.device import DetectedDevice

_SAID = ("out of memory", "RESOURCE_EXHAUSTED", "MemoryError")
"""How vendors' allocators say that there is no more; CUDA's and XPU's have a class besides."""


def synchronize(device: DetectedDevice) -> None:
    """Wait until the device has done all that was asked of it."""
    kind = device.device.type
    if kind == "xla":
        torch_xla: Any = importlib.import_module("torch_xla")
        torch_xla.sync(wait=True)
    else:
        _call(kind, "synchronize")


def release(device: DetectedDevice) -> None:
    """Give memory that nothing uses back to the device, for other processes."""
    if device.device.type != "cpu":
        gc.collect()
        _call(device.device.type, "empty_cache")


def ran_out(error: BaseException) -> bool:
    """Whether an error says that memory ran out, of the device or of the host."""
    if isinstance(error, torch.OutOfMemoryError) or out_of_memory(error):
        return True
    return isinstance(error, RuntimeError) and any(said in str(error) for said in _SAID)


def _call(kind: str, function: str) -> None:
    """Call what the device's module has under that name: not every device needs it."""
    getattr(getattr(torch, kind, None), function, lambda: None)()
