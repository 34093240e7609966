"""The dispatcher's tables of the emulated device: registered when it opens, as before when closed.

Private torch API used here, checked on 2.13.0: ``torch._C._dispatch_get_all_op_names``,
``torch._C._dispatch_has_computed_kernel_for_dispatch_key`` and ``Library._destroy``.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch.library import Library

from opcheck.emulate.device import Device
from opcheck.trace.torch_internals.dispatcher import (
    RAISING,
    SHALLOW_COPY,
    implicit_composites,
    override,
)
from opcheck.trace.torch_internals.kernels import falling_back

_KEY = "PrivateUse1"
_AUTOGRAD = "AutogradPrivateUse1"
_BELOW = torch._C._AutoDispatchBelowAutograd

_OURS = frozenset({"aten::_to_copy"})
"""Composites that run otherwise here than in C++, which asks for pinned memory in this one."""

_MOVED_IN_PLACE = frozenset({"cuda", "flagos", "mps", "musa", "npu", "supa", "xpu"})
"""Devices whose tensors a tensor of the host can become, so that ``Module.to`` keeps parameters.

PyTorch has it so for its own (``TensorImpl::has_compatible_shallow_copy_type``), torch_npu
registers the answer for every key (``csrc/aten/ops/HasCompatibleShallowCopyType.cpp``), and
torch_musa's patch counts PrivateUse1 among them (``c10_core_TensorImpl.h.patch``), and torch_supa
registers it as torch_npu does (``csrc/aten/ops/HasCompatibleShallowCopyType.cpp``), and Torch-FL in
its ``csrc/aten/register.cc``. torch_mlu
registers it from its release for torch 2.3 on, which its matrix says. Elsewhere ``Module.to`` makes
new parameters, and an optimizer that was made before goes on with those of the host.
"""

Kernel = Callable[..., Any]


@contextmanager
def registered(device: Device) -> Iterator[None]:
    """Have the dispatcher ask ``device`` inside the block."""
    library = Library("aten", "IMPL")
    try:
        _register(library, device)
        with falling_back(_unknown(device), (_KEY,)):
            yield
    finally:
        library._destroy()


def _register(library: Library, device: Device) -> None:
    matrix = device.matrix
    lacking = _without_any_kernel()
    for name in aten_overloads():
        entry = matrix.entries.get(name)
        if name == SHALLOW_COPY:
            if entry is not None or matrix.target.device_type in _MOVED_IN_PLACE:
                _put(library, name, _compatible)
        elif entry is not None and _KEY in entry.keys:
            _put(library, name, _asking(device, device.native, name))
        elif name in lacking:
            _put(library, name, _asking(device, device.missing, name))
    implicit = implicit_composites()
    for name in (*matrix.conditions, *(_OURS - matrix.conditions.keys())):
        if name in aten_overloads() and name not in matrix.entries and name not in lacking:
            kernel = _asking(device, device.composite, name)
            _put(library, name, kernel)
            if name in implicit:  # a kernel at PrivateUse1 hides it from autograd
                _put(library, name, kernel, _AUTOGRAD)


def _put(library: Library, name: str, kernel: Kernel, key: str = _KEY) -> None:
    override(library, name.removeprefix("aten::"), kernel, key)


def _asking(device: Device, answer: Callable[[str, Any, Any], Any], name: str) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            return answer(name, args, kwargs)
        except Exception as error:
            return device.backward.keep(error)

    return kernel


def _compatible(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    """Let host tensors become device tensors, as ``Module.to`` and ``tensor.data = other`` do."""
    return True


def _unknown(device: Device) -> Kernel:
    """What answers for overloads outside aten, which may be registered at any time."""

    def kernel(func: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        name = func.name()
        answer = device.native if name in device.matrix.entries else device.missing
        try:
            return answer(name, args, kwargs)
        except Exception as error:
            return device.backward.keep(error)

    return kernel


@cache
def aten_overloads() -> frozenset[str]:
    """Every overload of aten in the running torch."""
    names: Iterable[str] = torch._C._dispatch_get_all_op_names()
    return frozenset(name for name in names if name.startswith("aten::"))


@cache
def _without_any_kernel() -> frozenset[str]:
    """Overloads that a device finds neither a kernel nor a composite for, unless it brings one.

    Asked for while nothing of ours is registered.
    """
    reached = torch._C._dispatch_has_computed_kernel_for_dispatch_key
    return RAISING | {name for name in aten_overloads() if not reached(name, _KEY)}
