"""A run as eager PyTorch - nothing compiled, and ``cuda`` taken for the traced device.

Private torch API used here, checked on 2.13.0: ``torch._dynamo.eval_frame._callback_from_stance``,
which every compiled call passes through from its ``compile_wrapper``,
``_torchdynamo_orig_backend``, ``compiler_name``,
``Module._call_impl`` and ``Module._compiled_call_impl``.

Private torch API used here, checked on 2.13.0: ``torch.utils._device._device_constructors``.
``torch.compiler.set_stance`` is used where Dynamo is already loaded.

Private torch API used here, checked on 2.13.0: ``torch._C._InferenceMode``, which
``torch.inference_mode`` enters, and ``torch._C._set_grad_enabled``.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from types import CodeType, MethodType
from typing import Any
from unittest.mock import patch

import torch
from msgspec.structs import replace
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from torch.utils._pytree import tree_map

from opcheck.model.plugins import PLUGINS
from opcheck.model.trace import COMPILED, GIVEN_BACKEND, INSIDE, Compilation
from opcheck.trace.calls.call_site import from_frame
from opcheck.trace.device.alias import from_inside
from opcheck.trace.device.tensors import DeviceTensor

Met = Callable[[Compilation], None]
"""Is given how something was to be compiled."""

_AS_WRITTEN = frozenset({"", "eager"})
"""Backends that change nothing: they call each operator as it is written."""
_listening: list[Met] = []


def as_set(how: Compilation) -> Compilation:
    """How something is compiled with what ``torch._dynamo.config`` says at the time.

    ``suppress_errors`` may be set by code, which has loaded the module then, or by the environment.
    """
    config = sys.modules.get("torch._dynamo.config")
    given = bool(os.environ.get("TORCHDYNAMO_SUPPRESS_ERRORS"))
    on = getattr(config, "suppress_errors", False) if config is not None else given
    return replace(how, suppressed=True) if on else how


def prepare() -> None:
    """Have ``torch.compile`` note what it is given, for good; for a process of a model's own."""
    torch.compile = as_written


def compilation_of(module: nn.Module) -> Compilation | None:
    """How a module was to be compiled; None where it is run as it is written."""
    found: Compilation | None = vars(module).get(COMPILED)
    return found


def mark_compiled(original: nn.Module, copied: nn.Module) -> None:
    """Have a copy know what ``Module.compile`` leaves to the original alone."""
    for before, after in zip(original.modules(), copied.modules(), strict=True):
        if before._compiled_call_impl is not None:
            vars(after).setdefault(COMPILED, Compilation(GIVEN_BACKEND))


def compiled_at(until: CodeType | None) -> tuple[tuple[str, str], ...]:
    """The mode that tells where a compiled function was called that runs now; () outside of any.

    Its own frame says it: that of what was marked here, or torch's ``compile_wrapper``. The search
    ends at a frame running ``until``.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code is not until:
        code = frame.f_code
        if code is _MARKED or (code.co_name == _WRAPPER and code.co_filename.endswith(_FRAMES)):
            file, line = from_frame(frame.f_back, until)
            return ((INSIDE, f"{file}:{line}"),) if file else ()
        frame = frame.f_back
    return ()


@contextmanager
def listening(met: Met) -> Iterator[None]:
    """Tell of every call of a compiled function inside the block."""
    _listening.append(met)
    frames: Any = sys.modules.get("torch._dynamo.eval_frame")
    if frames is None:
        try:
            yield
        finally:
            _listening.remove(met)
        return
    original = frames._callback_from_stance
    running = False

    def told(callback: Any) -> Any:
        nonlocal running
        if not running:  # to tell of it may run compiled code itself
            running = True
            try:
                _tell(_compilation_in(callback))
            finally:
                running = False
        return original(callback)

    frames._callback_from_stance = told
    try:
        yield
    finally:
        frames._callback_from_stance = original
        _listening.remove(met)


def as_written(model: Any = None, **given: Any) -> Any:
    """What stands for ``torch.compile``: gives back what it is given, marked as compiled."""
    if model is None:
        return lambda function: as_written(function, **given)
    how = _asked(**given)
    if how is None or isinstance(model, type):
        return model
    if isinstance(model, nn.Module):
        vars(model)[COMPILED] = how
        return model
    if isinstance(model, MethodType) and model.__func__ is nn.Module._call_impl:
        vars(model.__self__)[COMPILED] = how  # by Module.compile
        return model
    if isinstance(model, MethodType):  # a copy of its object must get a method of its own
        return MethodType(_watched(model.__func__, how), model.__self__)
    return _watched(model, how)


def _asked(
    *,
    backend: Any = "inductor",
    mode: str | None = None,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    options: Mapping[str, Any] | None = None,
    disable: bool = False,
    **_: Any,
) -> Compilation | None:
    """How the arguments of ``torch.compile`` ask to compile; None where they change nothing."""
    name = _named(backend)
    if disable or name in _AS_WRITTEN:
        return None
    return Compilation(
        name,
        mode or "",
        fullgraph,
        "" if dynamic is None else str(dynamic).lower(),
        _options(options),
        not isinstance(backend, str),
    )


def _options(given: Any) -> tuple[str, ...]:
    if not isinstance(given, Mapping):
        return ()
    return tuple(sorted(f"{name}={value}" for name, value in given.items()))


def _watched(function: Callable[..., Any], how: Compilation) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        _tell(how)
        return function(*args, **kwargs)

    return call


_MARKED = next(one for one in _watched.__code__.co_consts if isinstance(one, CodeType))
_WRAPPER, _FRAMES = "compile_wrapper", os.path.join("torch", "_dynamo", "eval_frame.py")


def _tell(how: Compilation | None) -> None:
    if how is not None and how.backend not in _AS_WRITTEN:
        for met in _listening[-1:]:
            met(how)


def _compilation_in(callback: Any) -> Compilation | None:
    """How what Dynamo was to call back compiles; None where nothing is to be compiled.

    torch keeps the options of inductor there, which say what a mode stands for.
    """
    while callback is not None and callback is not False:
        name = getattr(callback, "compiler_name", None)
        if isinstance(name, str):
            return Compilation(name, options=_options(getattr(callback, "config", None)))
        inner = getattr(callback, "_torchdynamo_orig_backend", None)
        if inner is None:
            return Compilation(GIVEN_BACKEND)
        callback = inner
    return None


def _named(backend: Any) -> str:
    if isinstance(backend, str):
        return backend
    return str(getattr(backend, "__name__", type(backend).__name__))


NEEDS_CUDA = (
    "not compiled with CUDA", "Found no NVIDIA driver", "No CUDA GPUs are available",
    "with arguments from the 'CUDA' backend",  # once it takes CUDA for prepared
    "not linked with support for cuda devices",
    "requires CUDA support", "Tried to instantiate dummy base class",  # streams, events, graphs
)  # fmt: skip
"""What torch says where code asks for CUDA and there is none."""

_NEEDS_PLUGIN = tuple(f"device type at start of device string: {name}" for name in PLUGINS)


@contextmanager
def not_compiled(met: Met) -> Iterator[None]:
    """Have ``torch.compile`` give back what it is given, and compiled code run as written.

    ``met`` is told how a function that is called was to be compiled.
    """
    original = torch.compile
    torch.compile = as_written
    stance = torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else None
    try:
        with stance or nullcontext(), listening(met):
            yield
    finally:
        torch.compile = original


@contextmanager
def no_inference_tensors() -> Iterator[None]:
    """Have ``torch.inference_mode`` switch gradients off, and nothing else.

    A view of a tensor of Python's own device cannot be made in it: "Cannot set version_counter for
    inference tensor". What is called is the same.
    """
    on = False

    class Mode:
        def __init__(self, mode: bool = True) -> None:
            self._wanted = mode
            self._before = (on, torch.is_grad_enabled())

        def __enter__(self) -> None:
            nonlocal on
            self._before = (on, torch.is_grad_enabled())
            on = self._wanted
            torch._C._set_grad_enabled(not on)

        def __exit__(self, *_: object) -> None:
            nonlocal on
            on, gradients = self._before
            torch._C._set_grad_enabled(gradients)

    with (
        patch.object(torch._C, "_InferenceMode", Mode),
        patch.object(torch, "is_inference_mode_enabled", lambda: on),
    ):
        yield


@contextmanager
def numbers_read() -> Iterator[None]:
    """Have ``torch.tensor`` read device tensors inside lists as every device does, one by one.

    Its C++ reads them below the mode, where this device has no kernels.
    """
    # torch notes for good, when first asked, which functions a ``with torch.device(...)`` is for:
    # asked while ours stand in for them, it would never again mean the real ones
    _device_constructors()
    originals = {name: getattr(torch, name) for name in ("tensor", "as_tensor")}
    for name, original in originals.items():
        setattr(torch, name, _reading(original))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(torch, name, original)


def _reading(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(data: Any, *args: Any, **kwargs: Any) -> Any:
        return original(_numbers(data), *args, **kwargs)

    return call


def _numbers(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [item.tolist() if type(item) is DeviceTensor else _numbers(item) for item in data]
    return data


def asks_for_other(error: BaseException) -> bool:
    """Whether a model failed only because it names a CUDA device, or one of another vendor."""
    return any(text in str(error) for text in (*NEEDS_CUDA, *_NEEDS_PLUGIN))


_BACKWARD = (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)


class OtherAsDevice(TorchFunctionMode):
    """Takes every ``cuda`` device for the traced one, as the vendors' transfer modules do.

    Those that another vendor's plugin names too; ``met`` is told the type of each.
    """

    calls_anew = True  # see dispatcher.at_key

    def __init__(self, device: torch.device, met: Callable[[str], None]) -> None:
        super().__init__()
        self._device = device
        self._met = met
        self._others = {"cuda", *PLUGINS} - {device.type}

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Replace devices among the arguments; ``.cuda()`` becomes ``.to(device)``."""
        __tracebackhide__ = True
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            self._met("cuda")
            return args[0].to(self._device)
        if func in _BACKWARD:  # which runs gradients that a model defines
            with self:
                return from_inside(func)(*args, **kwargs)
        return func(*tree_map(self._moved, args), **tree_map(self._moved, kwargs))

    def _moved(self, value: Any) -> Any:
        named = ""
        if isinstance(value, str):
            named = value.partition(":")[0]
        elif isinstance(value, torch.device):
            named = value.type
        if named not in self._others:
            return value
        self._met(named)
        return self._device
