"""What no emulated device takes: tensors that are not strided, or any once it is closed.

What meets a tensor of an emulated device while none is open: an error that says so. torch's own
error there lists every backend that it knows, and copying a storage crashes.

Private torch API used here, checked on 2.13.0: that ``torch.UntypedStorage`` is a Python class that
inherits its ``__new__``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opcheck.emulate.errors import Backward
from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence
from opcheck.trace.torch_internals.kernels import LAYOUTS, falling_back


def not_emulated(op: str) -> EmulationError:
    """What to raise where ``op`` takes or gives a tensor of another layout."""
    return EmulationError(
        Sentence(
            "{op} takes or gives a sparse, quantised or nested tensor, which is not emulated", op=op
        ),
        Sentence(
            "what the device does with it is not known here: keep to ordinary "
            "tensors, or to the host"
        ),
    )


@contextmanager
def layouts_refused(backward: Backward) -> Iterator[None]:
    """Have the device refuse such tensors where it has no kernel for them, inside the block."""

    def kernel(func: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return backward.keep(not_emulated(func.name()))

    with falling_back(kernel, LAYOUTS):
        yield


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
