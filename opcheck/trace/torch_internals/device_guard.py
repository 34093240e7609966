"""The guard that C++ asks to switch devices, for a device written in Python, before 2.10.

Many bindings open one before the dispatcher sees the call, as those of ``x[mask]``, ``nonzero`` and
``float(x)`` do; so does every structured kernel. From 2.10 on torch makes one for such a device.
Before, a registry in ``libc10`` is empty there and those calls fail; nothing in Python fills it.
The guard of meta tensors does nothing, whatever device it is asked for, which is what is needed.

Private torch API used here, checked on 2.6.0, and called on no torch from 2.10 on:
``c10::impl::device_guard_impl_registry``, an array of pointers by device type, all null but those
of devices that have a guard; and ``torch._C._autograd.DeviceType``, its indices.
"""

import ctypes
import sys
from pathlib import Path

import torch

_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
_LENGTH = 22
"""``c10::COMPILE_TIME_MAX_DEVICE_TYPES``."""


def borrow() -> bool:
    """Give the PrivateUse1 device the guard of meta tensors, unless it has one.

    False where the registry is not found under this name, as with Microsoft's compiler; what needs
    a guard stays a gap of the trace there.
    """
    types = torch._C._autograd.DeviceType
    device, meta = types.PrivateUse1.value, types.Meta.value
    registry = _registry()
    if registry is None or registry[meta] is None:
        return False
    if registry[device] is None:
        registry[device] = registry[meta]
    return True


def _registry() -> "ctypes.Array[ctypes.c_void_p] | None":
    name = "libc10.dylib" if sys.platform == "darwin" else "libc10.so"
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name))
        return (ctypes.c_void_p * _LENGTH).in_dll(library, _REGISTRY)
    except (OSError, ValueError):
        return None
