"""What is replaced in PyTorch for an emulated device - printing, optimizers, ``torch.cuda``.

CUDA taken for the emulated device, in programs that name no other accelerator. It follows what
Ascend's transfer module replaces (``torch_npu/contrib/transfer_to_npu.py``): the functions of
``torch.cuda``, ``cuda`` devices among arguments, ``Tensor.cuda``, ``Module.cuda`` and
``Tensor.is_cuda``. As there, ``tensor.device.type`` is the vendor's own name, and a
``torch.device("cuda")`` stays one until it is used.

Private torch API used here, checked on 2.13.0: ``torch._tensor_str._str``, which ``repr`` calls,
``torch._tensor_str._tensor_str``, which formats values, ``_disable_current_modes``, and
``torch.utils._device.DeviceContext``, which holds the default device.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map

from opcheck.emulate.device import Device
from opcheck.emulate.memory import known_block
from opcheck.emulate.record import Record
from opcheck.emulate.tensor_types import double_of_cuda, type_of_device
from opcheck.model.trace import Phase
from opcheck.trace.device.ranges import CNPX
from opcheck.trace.running.eager import OtherAsDevice


def printable() -> None:
    """Have tensors of emulated devices print what they hold, from now on: they outlive devices."""
    original: Any = torch._tensor_str._str
    if hasattr(original, "__wrapped__"):
        return

    @wraps(original)
    def show(tensor: Tensor, *, tensor_contents: str | None = None) -> str:
        if tensor_contents is None:
            with torch.no_grad(), _disable_current_modes():
                tensor_contents = _contents(tensor)
        return str(original(tensor, tensor_contents=tensor_contents))

    torch._tensor_str._str = show


@contextmanager
def printed(device: Device) -> Iterator[None]:
    """Count nothing that printing asks of an open device, as that of a tangent does."""
    original: Any = torch._tensor_str._str

    def show(tensor: Tensor, *, tensor_contents: str | None = None) -> str:
        with device.quiet():
            return str(original(tensor, tensor_contents=tensor_contents))

    torch._tensor_str._str = show
    try:
        yield
    finally:
        torch._tensor_str._str = original


def _contents(tensor: Tensor) -> str | None:
    """Values of a device tensor, sizes where those are not known; None for any other tensor."""
    block = known_block(tensor)
    if block is None:
        return None
    host = block.memory.host(tensor)
    if host is None:
        return f"..., size={tuple(tensor.shape)}"
    plain = type(tensor) in (Tensor, nn.Parameter)
    name = "tensor" if plain else type(tensor).__name__
    format_values: Any = torch._tensor_str._tensor_str
    return str(format_values(host, len(f"{name}(")))


@contextmanager
def optimizer_noticed(record: Record) -> Iterator[None]:
    """Count what any optimizer's ``step`` asks for as of that phase, inside the block."""
    before: list[Phase | None] = []

    def begins(_: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if before:  # the last step raised, and never told that it ended
            record.phase = before.pop()
        before.append(record.phase)
        record.phase = Phase.OPTIMIZER
        around = before[-1]
        return tree_map(partial(_outside, record, around), (args, kwargs))  # type: ignore[no-any-return]  # torch

    def ends(*_: Any) -> None:
        record.phase = before.pop()

    hooks = (register_optimizer_step_pre_hook(begins), register_optimizer_step_post_hook(ends))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _outside(record: Record, phase: Phase | None, value: Any) -> Any:
    """Have a closure that the step calls, to compute the loss again, count as of ``phase``."""
    if not isinstance(value, FunctionType | MethodType | partial):
        return value

    @wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        inside, record.phase = record.phase, phase
        result = value(*args, **kwargs)
        record.phase = inside  # where it raises, so does the step
        return result

    return call


_CLASSES = (torch.autocast, torch.amp.GradScaler, DeviceContext)
"""They take a device type, and no mode sees it; meshes of devices do so too."""
_MESH = "init_device_mesh"


@contextmanager
def as_cuda(device: torch.device, met: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Have ``cuda`` mean ``device``, which is open, inside the block; ``met`` is told its name."""
    name, moved = device.type, partial(_moved, device)
    module = getattr(torch, name)
    with ExitStack() as undo:
        undo.callback(setattr, module.host, "stands_for", "")
        module.host.stands_for = "cuda"
        _answer(undo, torch.cuda, module)
        if CNPX in module.submodules:
            _answer(undo, torch.cuda.nvtx, module.submodules[CNPX])
        set_until(undo, torch.cuda, "DoubleTensor", double_of_cuda(module))
        for owner in (torch.Tensor, torch.nn.Module):
            set_until(undo, owner, "cuda", getattr(owner, name))
        set_until(
            undo, torch.Tensor, "is_cuda", _asked_by_users(getattr(torch.Tensor, f"is_{name}"))
        )
        set_until(undo, torch, "load", _taking(torch.load, moved))
        for place in (torch.distributed, getattr(torch.distributed, "device_mesh", None)):
            if hasattr(place, _MESH):
                set_until(undo, place, _MESH, _taking(getattr(place, _MESH), moved))
        meshes = getattr(torch.distributed, "DeviceMesh", None)
        for made in (*_CLASSES, *([meshes] if meshes else [])):
            set_until(undo, made, "__init__", _taking(made.__init__, moved))
        undo.enter_context(_Transfer(device, met))
        yield


def _asked_by_users(own: Any) -> property:
    """A tensor's property of the device's that is not PyTorch's: its code means NVIDIA's libraries.

    Its ``broadcast`` would compare a compute capability, in releases of this torch's age alone.
    """

    def get(tensor: Tensor) -> bool:
        asks: str = sys._getframe(1).f_globals.get("__name__", "")
        return not asks.startswith("torch.") and bool(own.__get__(tensor))

    return property(get)


class _Transfer(OtherAsDevice):
    """Takes ``cuda`` for the device where it is used, not where it is named."""

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Replace devices among the arguments of everything but ``torch.device``."""
        __tracebackhide__ = True
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        if func is torch.Tensor.type:
            named = partial(type_of_device, self._device.type)
            args, kwargs = tree_map(named, (args, dict(kwargs or {})))
        return super().__torch_function__(func, types, args, kwargs)


def _answer(undo: ExitStack, asked: ModuleType, module: Any) -> None:
    """Have ``module`` answer for every public name of ``asked`` that both have."""
    for name in dir(module):
        own = vars(asked).get(name)
        if name.startswith("_") or own is None:
            continue
        if isinstance(own, ModuleType):
            _answer(undo, own, getattr(module, name))
        else:
            set_until(undo, asked, name, getattr(module, name))


def set_until(undo: ExitStack, owner: Any, name: str, value: Any) -> None:
    """Set an attribute until ``undo`` is closed."""
    own = vars(owner)
    if name in own:
        undo.callback(setattr, owner, name, own[name])
    else:
        undo.callback(delattr, owner, name)
    setattr(owner, name, value)


def _taking(function: Callable[..., Any], moved: Callable[[Any], Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(*map(moved, args), **{name: moved(v) for name, v in kwargs.items()})

    return call


def _moved(device: torch.device, value: Any) -> Any:
    """Give the device for a CUDA one; any other value as it is."""
    if isinstance(value, torch.device):
        return device if value.type == "cuda" else value
    if isinstance(value, str) and value.partition(":")[0] == "cuda":
        return device.type if value == "cuda" else str(device)
    if type(value) is dict:  # a map_location
        return {_moved(device, key): _moved(device, item) for key, item in value.items()}
    return value
