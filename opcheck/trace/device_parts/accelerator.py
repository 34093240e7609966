"""``torch.accelerator``: what its C++ side cannot ask a device that Python hosts.

Checked on 2.13.0: the device guard and the allocator of such a device are C++ without overrides, so
``synchronize`` and the memory figures raise, and ``empty_host_cache`` ends the process. Everything
else there works by itself or asks the device module.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_ASKED = {
    "synchronize": "synchronize",
    "empty_cache": "empty_cache",
    "empty_host_cache": "host_empty_cache",
    "get_memory_info": "mem_get_info",
    "memory_stats": "memory_stats",
    "memory_allocated": "memory_allocated",
    "memory_reserved": "memory_reserved",
    "max_memory_allocated": "max_memory_allocated",
    "max_memory_reserved": "max_memory_reserved",
    "reset_peak_memory_stats": "reset_peak_memory_stats",
    "reset_accumulated_memory_stats": "reset_accumulated_memory_stats",
}
"""Function of ``torch.accelerator`` -> the device module's own."""


@contextmanager
def answering(module: Any) -> Iterator[None]:
    """Have the device module answer for ``torch.accelerator`` inside the block."""
    accelerator: Any = torch.accelerator
    before = {name: vars(accelerator)[name] for name in _ASKED if hasattr(accelerator, name)}
    for name in before:
        setattr(accelerator, name, getattr(module, _ASKED[name]))
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(accelerator, name, function)
