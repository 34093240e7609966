"""What meets a tensor of an emulated device while none is open: an error that says so.

torch's own error there lists every backend that it knows, and copying a storage crashes.

Private torch API used here, checked on 2.13.0: that ``torch.UntypedStorage`` is a Python class that
inherits its ``__new__``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opcheck.trace.fallbacks import falling_back


@contextmanager
def closed() -> Iterator[None]:
    """Have all that is asked of the device raise inside the block; printing asks nothing of it."""
    torch.UntypedStorage.__new__ = _no_storage  # type: ignore[method-assign]  # taken back below
    try:
        with falling_back(_refuse, ("PrivateUse1",)):
            yield
    finally:
        del torch.UntypedStorage.__new__


def _refuse(func: Any, *_: Any, **__: Any) -> Any:
    raise _error(func.name())


def _no_storage(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
    if device is not None:
        if torch.device(device).type == torch._C._get_privateuse1_backend_name():
            raise _error("a storage")
        kwargs["device"] = device
    return torch._C.StorageBase.__new__(cls, *args, **kwargs)


def _error(asked: str) -> NotImplementedError:
    """The class of torch's own error for a device without kernels."""
    name = torch._C._get_privateuse1_backend_name()
    return NotImplementedError(
        f"{asked} is asked of {name}:0, but its emulated device is closed; use its tensors inside "
        "the with block, and take along what is to outlive it with .cpu()"
    )
