"""A traced device that says it is of a type that this torch cannot have, such as ``cuda``.

PrivateUse1 cannot be named so, and tensors of those devices need a torch built for them. The trace
runs on PrivateUse1 under another name; what Python sees says the type that was asked for, and
devices of that type among arguments are taken for the one that is there. C++ sees PrivateUse1: what
it branches on is another matter (``SupportMatrix.choices``).

Private torch API used here, checked on 2.13.0: ``torch.overrides.has_torch_function`` and its like
as globals of the modules whose functions ask them, and ``torch.Tensor._make_wrapper_subclass``.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from types import CellType, FunctionType, ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from opcheck.trace.calls.call_site import is_internal
from opcheck.trace.device.devices import Event, Stream
from opcheck.trace.device.module import DeviceModule
from opcheck.trace.device.tensors import DeviceTensor, prepare
from opcheck.trace.torch_internals.dispatcher import overload_named

ALIASED_TYPES = frozenset({"cuda", "hpu", "mps", "xla", "xpu"})
"""Device types of PyTorch's own, which no PrivateUse1 device can have."""

_REGISTERED = frozenset({"hpu"})
"""Those whose module a vendor's package gives torch, and C++ imports (``device_lazy_init``)."""

STAND_IN = "npu"
"""What a process names its PrivateUse1 device for a disguise, unless it has named it already."""

_PLACING = (torch.device, torch.Tensor.to)
"""Functions whose arguments may be the name of a device."""

_METHODS = "torch._tensor"
"""Whose functions stand for the methods of the same name in C++ that they call."""

CAPABILITY = (8, 0)
"""What ``torch.cuda`` answers when it is asked for the capability of the chip, which is not known:
what asks wants to know whether there are tensor cores that compute in bfloat16."""


_MAKING = ("empty.memory_format", "empty_strided")
"""What every function that makes tensors asks for first."""

_AUTOCAST: Sequence[tuple[Callable[..., None], Callable[[str], Any]]] = (
    (torch.set_autocast_enabled, torch.is_autocast_enabled),
    (torch.set_autocast_dtype, torch.get_autocast_dtype),
)
"""What sets each part of autocast's state for a device type, and what tells it."""


def device_for(device_type: str) -> torch.device:
    """Give the device to trace on, and make this process know it.

    It is the process's own PrivateUse1 device where that has a name already, whichever that is.
    """
    named = torch._C._get_privateuse1_backend_name()
    if named != "privateuseone":
        return prepare(named)
    return prepare(STAND_IN if device_type in ALIASED_TYPES else device_type)


@contextmanager
def aliased(device_type: str) -> Iterator[None]:
    """Have the traced device's tensors say that they are on ``device_type`` inside the block."""
    before = DeviceTensor.shown
    DeviceTensor.shown = torch.device(device_type, 0) if device_type in ALIASED_TYPES else None
    try:
        yield
    finally:
        DeviceTensor.shown = before


@contextmanager
def there(device: torch.device, met: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Have the device of the disguise that is worn be there inside the block, in place of ours.

    ``met`` is told where code names ours, which only another vendor has.
    """
    shown = DeviceTensor.shown
    if shown is None:
        yield
        return
    with ExitStack() as undo:
        undo.enter_context(_TakenFor(shown.type, device, met))
        for owner, name, value in _answers(shown, device):
            _set(undo, owner, name, value)
        undo.enter_context(_registered(shown.type))
        undo.enter_context(_making(shown.type, device))
        for setting, now in _AUTOCAST:
            undo.callback(setting, device.type, now(device.type))
            _set(undo, torch, setting.__name__, _also_for(setting, shown.type, device.type))
        yield


@contextmanager
def _registered(device_type: str) -> Iterator[None]:
    """Have the module ``torch.<device_type>`` inside the block that a vendor's package brings."""
    if device_type not in _REGISTERED or hasattr(torch, device_type):
        yield
        return
    module = _module(device_type)
    with ExitStack() as undo:
        _set(undo, torch, device_type, module)
        undo.callback(sys.modules.pop, module.__name__, None)
        sys.modules[module.__name__] = module
        yield


@contextmanager
def _making(shown: str, device: torch.device) -> Iterator[None]:
    """Have what makes tensors of the type that is shown make them on our device inside the block.

    This is for what C++ calls that is written in Python, which no mode sees: custom operators and
    gradients. A torch that was built for such devices keeps its own kernels.
    """
    key = shown.upper()
    library = torch.library.Library("aten", "IMPL")
    for name in _MAKING:
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", key):
            library.impl(name, partial(_made, overload_named(f"aten::{name}"), device), key)
    try:
        yield
    finally:
        library._destroy()


def _made(func: Any, ours: torch.device, /, *args: Any, **kwargs: Any) -> Any:
    return func(*args, **{**kwargs, "device": ours})


@contextmanager
def module_answers(device_type: str) -> Iterator[None]:
    """Have torch's module of a type of device answer inside the block as if one were there."""
    with ExitStack() as undo:
        for owner, name, value in _module_answers(
            getattr(torch, device_type), _module(device_type)
        ):
            _set(undo, owner, name, value)
        yield


def taken_for(
    device: torch.device, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of an operator, in which the type that is shown stands for our device.

    What C++ calls that is written in Python is seen by no mode, and names devices as models do.
    """
    shown = DeviceTensor.shown
    if shown is None:
        return args, kwargs

    def taken(value: Any) -> Any:
        return device if type(value) is torch.device and value.type == shown.type else value

    return tuple(map(taken, args)), {name: taken(value) for name, value in kwargs.items()}


class _TakenFor(TorchFunctionMode):
    """Takes devices of one type among the arguments of torch's functions for another device."""

    calls_anew = True  # see dispatcher.at_key: it is on in a backward

    def __init__(self, device_type: str, device: torch.device, met: Callable[[str], None]) -> None:
        super().__init__()
        self._met = met
        self._names_ours = re.compile(rf"{device.type}(:\d+)?").fullmatch
        self._move_to_ours = getattr(torch.Tensor, device.type, None)
        self._type = device_type
        self._named = re.compile(rf"{device_type}(:\d+)?").fullmatch
        self._device = device
        self._move = getattr(torch.Tensor, device_type, None)
        self._running: Any = None
        """The function written in Python that runs now."""

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Replace devices among the arguments; ``.cuda()`` becomes ``.to(device)``."""
        __tracebackhide__ = True
        self._watch(func, args, kwargs or {})
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        if func is self._move and func is not None:
            return args[0].to(self._device)
        if self._opens(func):
            with self, self._inside(func):
                return from_inside(func)(*args, **(kwargs or {}))
        moved = {name: self._moved(value) for name, value in (kwargs or {}).items()}
        return func(*map(self._moved, args), **moved)

    def _watch(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Tell of code that names what stands in for the device; ours and torch's own may."""
        named = (*args, kwargs.get("device")) if func in _PLACING else (kwargs.get("device"),)
        ours = any(isinstance(value, str) and self._names_ours(value) for value in named)
        ours = ours and not is_internal(sys._getframe(2).f_code)
        if ours or (func is self._move_to_ours and func is not None):
            self._met(self._device.type)

    def _opens(self, func: Any) -> bool:
        """Whether it is written in Python, and not one that asks in another way than most."""
        written = type(func) is FunctionType and func.__module__ != _METHODS
        runs_more = func is torch.Tensor.backward  # what a model defines, or has checkpointed
        return (written or runs_more) and func is not self._running

    @contextmanager
    def _inside(self, func: Any) -> Iterator[None]:
        before, self._running = self._running, func
        try:
            yield
        finally:
            self._running = before

    def _moved(self, value: Any) -> Any:
        if type(value) is torch.device:
            return self._device if value.type == self._type else value
        if type(value) is str and self._named(value):
            return self._device
        return value


@cache
def from_inside(function: FunctionType) -> Callable[..., Any]:
    """The same function, which no longer asks whether a mode wants to run instead of it.

    A mode is left while it answers, so what a function written in Python calls would not reach it.
    """
    names = dict(function.__globals__)
    for name in ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"):
        if name in names:
            names[name] = _nobody
    inside = function.__closure__
    if inside and function.__code__.co_qualname == _BY_FLAG:
        inside = tuple(map(_cell_from_inside, inside))
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, inside)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


_BY_FLAG = "boolean_dispatch.<locals>.fn"
"""One of two functions, as a flag has it, which both ask for the mode in the name of this one."""


def _cell_from_inside(cell: CellType) -> CellType:
    held = cell.cell_contents
    return CellType(from_inside(held)) if type(held) is FunctionType else cell


def _nobody(*_: Any) -> bool:
    return False


def _wrapped(
    make: Callable[..., Any], shown: str, ours: torch.device, /, *args: Any, **kwargs: Any
) -> Any:
    """Make a tensor around others on our device: autograd has no guard for the one shown."""
    named = kwargs.get("device")
    if named is not None and torch.device(named).type == shown:
        kwargs["device"] = ours
    return make(*args, **kwargs)


def _answers(shown: torch.device, ours: torch.device) -> Iterator[tuple[Any, str, Any]]:
    """What Python's own modules have to say while the device is there."""
    yield DeviceTensor, f"is_{shown.type}", True
    wraps = staticmethod(partial(_wrapped, torch.Tensor._make_wrapper_subclass, shown.type, ours))
    yield torch.Tensor, "_make_wrapper_subclass", wraps
    yield torch, "Event", Event  # made by a class, which no mode sees
    yield torch, "Stream", Stream
    yield torch.accelerator, "current_accelerator", lambda check_available=False: shown
    backend = getattr(torch.backends, shown.type, None)
    for asked in ("is_available", "is_built"):
        if hasattr(backend, asked):
            yield backend, asked, _always
    own = getattr(torch, shown.type, None)
    if own is not None:
        yield from _module_answers(own, _module(shown.type))


def _module_answers(own: ModuleType, module: DeviceModule) -> Iterator[tuple[Any, str, Any]]:
    for name in dir(module):
        has = vars(own).get(name)
        if not name.startswith("_") and has is not None and not isinstance(has, ModuleType):
            yield own, name, getattr(module, name)


def _also_for(setting: Callable[..., None], shown: str, stand_in: str) -> Callable[..., None]:
    """Set something of autocast's for what stands in as well, which is what C++ asks about."""

    def call(*args: Any, **kwargs: Any) -> None:
        setting(*args, **kwargs)
        if args and args[0] == shown:
            setting(stand_in, *args[1:], **kwargs)

    return call


def _always() -> bool:
    return True


@cache
def _module(device_type: str) -> DeviceModule:
    """What answers for the device type; like torch's own it is there only while a trace runs."""
    module = DeviceModule(device_type)
    module.host.capability = CAPABILITY if device_type == "cuda" else None
    return module


def _set(undo: ExitStack, owner: Any, name: str, value: Any) -> None:
    """Set an attribute until ``undo`` is closed."""
    own = vars(owner)
    if name in own:
        undo.callback(setattr, owner, name, own[name])
    else:
        undo.callback(delattr, owner, name)
    setattr(owner, name, value)
