"""The old tensor types where ``torch.cuda`` is taken for the device: ``torch.cuda.FloatTensor``.

Read in the vendors' modules. ``torch.cuda.FloatTensor`` is the device's own type in each, and
``torch.cuda.DoubleTensor`` is Ascend's ``FloatTensor`` (``torch_npu/contrib/transfer_to_npu.py``).
``x.type("torch.cuda.HalfTensor")`` means the device in Cambricon's ``gpu_migration/migration.py``
and in sources that Moore Threads' converter wrote; Ascend replaces no such name, and it fails.
``torch.set_default_tensor_type`` takes none of them: C++ compares its argument with PyTorch's own
types, and those of each plugin are others. Ascend's list of supported functions says so, too.

Private torch API used here, checked on 2.13.0: ``torch._utils._import_dotted_name``, by which the
function itself finds what a string names.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from opcheck.trace.device.dtypes import LegacyType

_ASCEND = "npu"
_CUDA = "torch.cuda."


def default_noted(note: Callable[[str, str, str], None]) -> Callable[[Any], None]:
    """``torch.set_default_tensor_type``, which is noted where it is given a type of the device.

    Args:
        note: notes what happens, by a sentence without a line, one with it, and what was said.
    """
    original: Any = torch.set_default_tensor_type

    @wraps(original)
    def choose(t: Any) -> None:
        __tracebackhide__ = True
        named = torch._utils._import_dotted_name(t) if isinstance(t, str) else t
        if isinstance(named, LegacyType):
            note(
                "makes {said} the default, which torch takes from no plugin: "
                "torch.set_default_device and torch.set_default_dtype are what works there",
                "makes {said} the default at {text}, which torch takes from no plugin: "
                "torch.set_default_device and torch.set_default_dtype are what works there",
                named.__name__,
            )
        original(t)

    return choose


def double_of_cuda(module: Any) -> Any:
    """What ``torch.cuda.DoubleTensor`` is where ``module`` is taken for ``torch.cuda``."""
    ascend = module.host.device_type == _ASCEND
    return module.FloatTensor if ascend else module.DoubleTensor


def type_of_device(device_type: str, name: Any) -> Any:
    """The name of a type that ``x.type`` is given, as the vendor's module hands it on."""
    if device_type == _ASCEND or not isinstance(name, str) or not name.startswith(_CUDA):
        return name
    return f"torch.{device_type}.{name.removeprefix(_CUDA)}"
