"""Modes of PyTorch that a program switches on, and that change what a device does with a call.

Private torch API used here, checked on 2.13.0: ``torch._C._get_deterministic_algorithms``,
``torch._C._get_deterministic_algorithms_warn_only`` and ``torch._C._set_deterministic_algorithms``,
of which ``torch.use_deterministic_algorithms`` is made; ``torch._C._get_flash_sdp_enabled`` and the
like of other kernels of attention with ``torch._C._set_sdp_use_flash`` and theirs, of which
``torch.nn.attention.sdpa_kernel`` is.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

Modes = tuple[tuple[str, str], ...]
"""(name, value) of each mode that is on."""
DETERMINISTIC = "deterministic"
_RAISES: Modes = ((DETERMINISTIC, "error"),)
_WARNS: Modes = ((DETERMINISTIC, "warn"),)
_deterministic = torch._C._get_deterministic_algorithms
_warns = torch._C._get_deterministic_algorithms_warn_only


AUTOCAST = "autocast"
ATTENTION = "attention"
GRADIENT = "gradient"
_ATTENTION: Any = torch.ops.aten.scaled_dot_product_attention.default
_FOLLOWED = frozenset((
    torch.ops.aten._pack_padded_sequence.default,
    *(
        getattr(getattr(torch.ops.aten, layer), packed)
        for layer in ("lstm", "gru", "rnn_tanh", "rnn_relu") for packed in ("input", "data")
    ),
))  # fmt: skip
"""What tells whether gradients are wanted: recurrent layers, and what packs their sequences."""
SWITCH = "XLA_DISABLE_FUNCTIONALIZATION"
"""A variable of the environment that kernels look at: on where it is ``true``, or not 0."""
EXPERIMENTS = "XLA_EXPERIMENTAL"
"""One that lists names of kernels between colons: ``nonzero:masked_select``."""
_ON_HOST = ("PYTORCH_ENABLE_MPS_FALLBACK", "PYTORCH_ENABLE_XPU_FALLBACK")
"""Those that have the host run what the device has no kernel for: on where they are a number that
is not 0. A real process reads them once, as torch is loaded."""
_NUMBER = re.compile(r"\s*[+-]?\d+")
_KERNELS = {"cudnn": "cudnn", "efficient": "mem_efficient", "flash": "flash", "math": "math"}
"""Kernels of attention as conditions name them -> as torch does."""
_ALL = "+".join(_KERNELS)


def _allowed(kernel: str) -> Callable[[], bool]:
    found: Callable[[], bool] = getattr(torch._C, f"_get_{kernel}_sdp_enabled")
    return found


_ALLOWED = {name: _allowed(kernel) for name, kernel in _KERNELS.items()}


def modes_of(func: Any = None, tensors: Sequence[Tensor] = ()) -> Modes:
    """What the program has switched on for a call that it makes now, of these tensors."""
    found = () if not _deterministic() else _WARNS if _warns() else _RAISES
    found += (*of_environment(), *_cast.get())
    if func is _ATTENTION:
        return (*found, *_of_attention(), *of_gradients(tensors))
    return (*found, *of_gradients(tensors)) if func in _FOLLOWED else found


def of_environment() -> Modes:
    """What the environment switches on, as torch and torch_xla read it: truth values and names."""
    switch, listed = os.environ.get(SWITCH), os.environ.get(EXPERIMENTS)
    asked = [name for name in _ON_HOST if name in os.environ and _is_on(os.environ[name])]
    if not (switch or listed or asked):
        return ()
    named = (f"{EXPERIMENTS}={name}" for name in (listed or "").split(":") if name)
    switched = [SWITCH] if switch == "true" or _is_on(switch or "") else []
    return tuple((name, "on") for name in (*switched, *named, *asked))


def _is_on(text: str) -> bool:
    number = _NUMBER.match(text)
    return bool(number and int(number[0]))


def _of_attention() -> Modes:
    """Which kernels the program allows for attention."""
    allowed = "+".join(name for name, asks in _ALLOWED.items() if asks())
    return () if allowed == _ALL else ((ATTENTION, allowed or "none"),)


def of_gradients(tensors: Sequence[Tensor]) -> Modes:
    """Whether gradients are wanted of a call, which fares otherwise then."""
    enabled = torch.is_grad_enabled() or _followed.get()
    wanted = enabled and any(tensor.requires_grad for tensor in tensors)
    return ((GRADIENT, "wanted"),) if wanted else ()


_cast: ContextVar[Modes] = ContextVar("cast", default=())


@contextmanager
def cast_to(dtype: torch.dtype) -> Iterator[None]:
    """Inside is a call for which autocast casts to this dtype; float16, its default, is no mode."""
    token = _cast.set(((AUTOCAST, "bfloat16"),) if dtype is torch.bfloat16 else ())
    try:
        yield
    finally:
        _cast.reset(token)


_followed = ContextVar("followed", default=False)


@contextmanager
def followed() -> Iterator[None]:
    """Inside is a kernel that autograd follows from without, so that it is off there."""
    token = _followed.set(True)
    try:
        yield
    finally:
        _followed.reset(token)


@contextmanager
def as_found() -> Iterator[None]:
    """Have the modes be after the block what they were before it, whatever a run made of them."""
    before, only = _deterministic(), _warns()
    allowed = {name: asks() for name, asks in _ALLOWED.items()}
    try:
        yield
    finally:
        torch._C._set_deterministic_algorithms(before, warn_only=only)
        for name, value in allowed.items():
            getattr(torch._C, f"_set_sdp_use_{_KERNELS[name]}")(value)


@contextmanager
def switched_off() -> Iterator[None]:
    """Compute inside the block as if no mode were on.

    The host's kernels, which stand in for those of the device, refuse other calls than it does.
    """
    with as_found():
        torch._C._set_deterministic_algorithms(False)
        yield
