"""Copies of lazy conjugates and negatives on a device that copies by ``_copy_from``.

PyTorch resolves such a tensor before any kernel reads it, by a clone; only ``copy_`` takes it as it
is. Where neither ``clone`` nor ``copy_`` is the device's own, both come to ``_copy_from``, which
would have its argument cloned again, for ever, unless the device registers it at the keys that say
what to do with lazy tensors, as torch_musa does. That is taken to be so wherever it must be.

Private torch API used here, checked on 2.13.0: ``Library._destroy``.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from torch.library import Library, fallthrough_kernel

_COPIES = "aten::_copy_from"
_INSTEAD = ("aten::clone", "aten::copy_")
_LAZY = ("Conjugate", "Negative")


@contextmanager
def copied_as_they_are(registered: Collection[str]) -> Iterator[None]:
    """Have ``_copy_from`` take lazy tensors inside the block, on a device with these kernels."""
    if any(op in registered for op in _INSTEAD):
        yield
        return
    library = Library("aten", "IMPL")
    try:
        for key in _LAZY:
            library.impl(_COPIES.removeprefix("aten::"), fallthrough_kernel, key)
        yield
    finally:
        library._destroy()
