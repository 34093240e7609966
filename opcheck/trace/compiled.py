"""What ``torch.compile`` was asked to compile: it runs as it is written, and the trace says so.

Private torch API used here, checked on 2.13.0: ``torch._dynamo.eval_frame._callback_from_stance``,
which every compiled call passes through, ``_torchdynamo_orig_backend``,
``compiler_name``, ``Module._call_impl`` and ``Module._compiled_call_impl``.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import MethodType
from typing import Any

import torch
from torch import nn

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import COMPILED, GIVEN_BACKEND

Met = Callable[[str], None]
"""Is given the name of the backend by which something was to be compiled."""

_AS_WRITTEN = frozenset({"", "eager"})
"""Backends that change nothing: they call each operator as it is written."""
_listening: list[Met] = []


def reason(backend: str) -> str:
    """What is not seen of what a backend compiles, in one sentence."""
    if backend == GIVEN_BACKEND:
        return (
            "is compiled by torch.compile with the backend that it was given; it ran as it is "
            "written, and what the compiler makes of it was not seen"
        )
    return Sentence(
        "is compiled by torch.compile with the backend {backend}; it ran as it is written, "
        "and what the compiler makes of it was not seen",
        backend=backend,
    )


def prepare() -> None:
    """Have ``torch.compile`` note what it is given, for good; for a process of a model's own."""
    torch.compile = as_written


def backend_of(module: nn.Module) -> str:
    """The backend by which a module was to be compiled; "" where it is run as it is written."""
    return str(vars(module).get(COMPILED, ""))


def mark_compiled(original: nn.Module, copied: nn.Module) -> None:
    """Have a copy know what ``Module.compile`` leaves to the original alone."""
    for before, after in zip(original.modules(), copied.modules(), strict=True):
        if before._compiled_call_impl is not None:
            vars(after).setdefault(COMPILED, GIVEN_BACKEND)


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
                _tell(_name_in(callback))
            finally:
                running = False
        return original(callback)

    frames._callback_from_stance = told
    try:
        yield
    finally:
        frames._callback_from_stance = original
        _listening.remove(met)


def as_written(
    model: Any = None, *, backend: Any = "inductor", disable: bool = False, **options: Any
) -> Any:
    """What stands for ``torch.compile``: gives back what it is given, marked as compiled."""
    if model is None:
        return lambda function: as_written(function, backend=backend, disable=disable)
    name = "" if disable else _named(backend)
    if name in _AS_WRITTEN or isinstance(model, type):
        return model
    if isinstance(model, nn.Module):
        vars(model)[COMPILED] = name
        return model
    if isinstance(model, MethodType) and model.__func__ is nn.Module._call_impl:
        vars(model.__self__)[COMPILED] = name  # by Module.compile
        return model
    if isinstance(model, MethodType):  # a copy of its object must get a method of its own
        return MethodType(_watched(model.__func__, name), model.__self__)
    return _watched(model, name)


def _watched(function: Callable[..., Any], backend: str) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        _tell(backend)
        return function(*args, **kwargs)

    return call


def _tell(backend: str) -> None:
    if backend not in _AS_WRITTEN:
        for met in _listening[-1:]:
            met(backend)


def _name_in(callback: Any) -> str:
    """The backend of what Dynamo was to call back; "" where nothing is to be compiled."""
    while callback is not None and callback is not False:
        name = getattr(callback, "compiler_name", None)
        if isinstance(name, str):
            return name
        inner = getattr(callback, "_torchdynamo_orig_backend", None)
        if inner is None:
            return GIVEN_BACKEND
        callback = inner
    return ""


def _named(backend: Any) -> str:
    if isinstance(backend, str):
        return backend
    return str(getattr(backend, "__name__", type(backend).__name__))
