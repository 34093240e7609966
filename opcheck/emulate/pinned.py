"""Pinned host memory beside the emulated device: plain memory that says it is pinned.

torch asks the device's C++ hooks for an allocator of pinned memory, which Python cannot give, so
that ``pin_memory()`` and ``DataLoader(pin_memory=True)`` raise. ``torch.empty(pin_memory=True)``
asks below the dispatcher and still does.

Private torch API used here, checked on 2.13.0: ``Library._destroy``, and that the Python object of
a storage, with its ``__dict__``, lives as long as the storage does.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

_PINNED = "_emulated_pinned"


@contextmanager
def pinning() -> Iterator[None]:
    """Have host tensors pinned by Python inside the block."""
    library = torch.library.Library("aten", "IMPL")
    try:
        library.impl("_pin_memory", _pin, "CPU")
        library.impl("is_pinned", _is_pinned, "CPU")
        yield
    finally:
        library._destroy()


def _pin(tensor: Tensor, device: torch.device | None = None) -> Tensor:
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor)
    made.untyped_storage().__dict__[_PINNED] = True
    return made


def _is_pinned(tensor: Tensor, device: torch.device | None = None) -> bool:
    return _PINNED in tensor.untyped_storage().__dict__
