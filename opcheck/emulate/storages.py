"""Storages made by hand on the emulated device, as ``torch.load`` and ``storage.to`` make them.

torch asks the device's C++ allocator for them, which Python cannot give: without this it crashes.
Checked on 2.13.0: ``torch.UntypedStorage`` is a Python class that inherits its ``__new__``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opcheck.emulate.memory import Memory


@contextmanager
def allocated(memory: Memory, values: bool) -> Iterator[None]:
    """Have ``torch.UntypedStorage(nbytes, device=…)`` work for the device inside the block."""

    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None or torch.device(device).type != memory.device.type:
            wanted = {} if device is None else {"device": device}
            return torch._C.StorageBase.__new__(cls, *args, **wanted, **kwargs)
        host = torch.empty(0, dtype=torch.uint8)
        host.set_(torch.UntypedStorage(*args, **kwargs))
        if values:
            return memory.adopt(host).untyped_storage()
        return memory.blank(host.dtype, host.shape, host.stride()).untyped_storage()

    torch.UntypedStorage.__new__ = new  # type: ignore[method-assign]  # taken back below
    try:
        yield
    finally:
        del torch.UntypedStorage.__new__
