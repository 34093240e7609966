"""Autocast where this torch has none - kernels at AutocastPrivateUse1 that cast as torch's own.

Vendors register the C++ templates of ``aten/src/ATen/autocast_mode.h``; Python cannot, so they are
followed here.

Private torch API used here, checked on 2.13.0: ``torch._C._ExcludeDispatchKeyGuard``,
``torch._C._RestorePythonTLSSnapshot``, ``torch._C._dispatch_has_kernel_for_dispatch_key``,
``torch._C._get_privateuse1_backend_name``, ``OpOverload._op_dk`` and ``Library._destroy``.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, assert_never

import torch
from torch import Tensor

from opcheck.trace.torch_internals.autocast_casts import UPSTREAM, Casts, Policy
from opcheck.trace.torch_internals.dispatcher import at_key, overload_named
from opcheck.trace.torch_internals.modes import cast_to

_KEYS: Any = torch._C.DispatchKey
_KEY = "AutocastPrivateUse1"
_EXCLUDED = torch._C.DispatchKeySet(_KEYS.AutocastPrivateUse1)
_WITH_DTYPE = {
    "aten::norm.Scalar": "aten::norm.ScalarOpt_dtype",
    "aten::norm.ScalarOpt_dim": "aten::norm.ScalarOpt_dim_dtype",
    "aten::norm.names_ScalarOpt_dim": "aten::norm.names_ScalarOpt_dim_dtype",
}
"""Overload -> the one that takes an output dtype as well."""

Kernel = Callable[..., Any]


@contextmanager
def autocasting(
    policies: Mapping[str, Collection[str]], device_type: str = ""
) -> Iterator[tuple[str, ...]]:
    """Cast inside the block as ``policies`` say, and let every other overload pass unchanged.

    Where a block is open already, its casts hold.

    Args:
        policies: policy, as torch names it -> overloads; empty: those of torch for CUDA.
        device_type: what the device's tensors say they are on, if that is not its own name.

    Yields:
        Overloads that the running torch lacks, or has no such policy for; they pass unchanged.
    """
    if torch._C._dispatch_has_kernel_for_dispatch_key("aten::linear", _KEY):
        yield ()
        return
    casts = Casts(device_type or torch._C._get_privateuse1_backend_name())
    library = torch.library.Library("aten", "IMPL")
    fallback = None if _staying else _fallthrough()
    left_out: list[str] = []
    try:
        for policy, names in (policies or UPSTREAM).items():
            for name in names:
                kernel = _kernel(overload_named(name), Policy(policy), casts)
                if kernel is None:
                    left_out.append(name)
                else:
                    library.impl(name.removeprefix("aten::"), _guarded(kernel), _KEY)
        with casts.cleared_with_torchs():
            yield tuple(sorted(left_out))
    finally:
        library._destroy()
        if fallback is not None:
            fallback._destroy()


_staying: list[torch.library.Library] = []


def falling_through() -> None:
    """Have what autocast leaves alone pass from here on, as long as the process lives.

    PyTorch goes through all its operators to take such a fallback, and again to drop it.
    """
    if not _staying:
        _staying.append(_fallthrough())


def _fallthrough() -> torch.library.Library:
    made = torch.library.Library("_", "IMPL")
    made.fallback(torch.library.fallthrough_kernel, _KEY)
    return made


def casts_around(device: torch.device) -> bool:
    """Whether autocast is on for the call that a dispatch mode is given.

    A mode is called with all keys above its own excluded, that of autocast among them; what was
    excluded before is kept by PyTorch, of the outermost call. A call by one of the kernels here is
    one without autocast.
    """
    if _inside.kernels:
        return False
    with torch._C._RestorePythonTLSSnapshot():  # type: ignore[attr-defined]  # no stub has it
        return torch.is_autocast_enabled(device.type)


@contextmanager
def cast_again(device: torch.device) -> Iterator[None]:
    """Have autocast cast inside the block, in a mode that is called with its key excluded."""
    torch.set_autocast_enabled(device.type, True)
    try:
        yield
    finally:
        torch.set_autocast_enabled(device.type, False)


def _guarded(kernel: Kernel) -> Kernel:
    """Leave autocast for all that the kernel calls."""

    def run(*args: Any, **kwargs: Any) -> Any:
        _inside.kernels += 1
        try:
            with torch._C._ExcludeDispatchKeyGuard(_EXCLUDED):
                return kernel(*args, **kwargs)
        finally:
            _inside.kernels -= 1

    return run


class _Inside(threading.local):
    kernels = 0
    """Of this module, that are running on this thread."""


_inside = _Inside()


def _kernel(func: Any, policy: Policy, casts: Casts) -> Kernel | None:
    """Make the kernel of one overload; None where this torch cannot do it."""
    if func is None:
        return None
    match policy:
        case Policy.LOWER_PRECISION:
            return lambda *args, **kwargs: _lowered(func, casts, args, kwargs)
        case Policy.FP32:
            return lambda *args, **kwargs: _call(func, casts, torch.float32, args, kwargs)
        case Policy.PROMOTE:
            return _promoting(func, casts)
        case Policy.FP32_SET_OPT_DTYPE:
            return _asking_for_float32(func, casts)
        case Policy.FP32_APPEND_DTYPE:
            return _appending(func, casts)
        case Policy.BANNED:
            return _banned(func)
        case _:
            assert_never(policy)


def _lowered(func: Any, casts: Casts, args: Any, kwargs: Any) -> Any:
    to = casts.region()
    with cast_to(to):
        return _call(func, casts, to, args, kwargs)


def _call(func: Any, casts: Casts, to: torch.dtype, args: Any, kwargs: Any) -> Any:
    given = {name: casts.cast(value, to) for name, value in kwargs.items()}
    return func(*(casts.cast(value, to) for value in args), **given)


def _promoting(func: Any, casts: Casts) -> Kernel:
    """Optional tensors are cast too, but have no say in what to."""
    voting = [str(a.type) in ("Tensor", "List[Tensor]") for a in func._schema.arguments]

    def run(*args: Any, **kwargs: Any) -> Any:
        widest = casts.region()
        for value, votes in zip(args, voting, strict=False):
            for tensor in ([value] if isinstance(value, Tensor) else value) if votes else ():
                if casts.takes(tensor):
                    widest = _wider(widest, tensor.dtype)
        return _call(func, casts, widest, args, kwargs)

    return run


def _wider(dtype: torch.dtype, other: torch.dtype) -> torch.dtype:
    if torch.float32 in (dtype, other):
        return torch.float32
    if dtype == other:
        return dtype
    raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")


def _asking_for_float32(func: Any, casts: Casts) -> Kernel | None:
    position = next((i for i, a in enumerate(func._schema.arguments) if a.name == "dtype"), None)
    if position is None:
        return None

    def run(*args: Any, **kwargs: Any) -> Any:
        asked = args[position] if len(args) > position else kwargs.get("dtype")
        if asked is not None or not casts.takes(args[0]):
            return func(*args, **kwargs)
        return func(*args[:position], **{**kwargs, "dtype": torch.float32})

    return run


def _appending(func: Any, casts: Casts) -> Kernel | None:
    name = _WITH_DTYPE.get(func.name())
    if name is None:
        return None
    other = overload_named(name)

    def run(*args: Any, **kwargs: Any) -> Any:
        left = func._schema.arguments[len(args) :]
        given = [kwargs.get(a.name, a.default_value) for a in left]
        dtype = torch.float32 if casts.takes(args[0]) else args[0].dtype
        return other(*args, *given, dtype=dtype)

    return run


def _banned(func: Any) -> Kernel | None:
    """Raise what torch raises: its kernel for CUDA looks at no argument."""
    if func.name() not in UPSTREAM[Policy.BANNED]:
        return None
    return partial(at_key, func, _KEYS.AutocastCUDA)
