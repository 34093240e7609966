"""Kernels of families, called with what a project's own code lays out for them.

The host's side is what a Triton project has in Python; where the kernel is in another language, a
host compiler has made a library of it, and the start of the kernel is a call of that.
"""

import ctypes
import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from opcheck.rewrite.custom.families.interface import Interface, family, interface
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.custom.made import CHAINS, made
from tests.rewrite.custom.samples import calls
from tests.rewrite.custom.test_expressions import signature_of

Start = Callable[[Sequence[Tensor], Sequence[Tensor], Sequence[int], Sequence[float]], None]
"""Starts a kernel: tensors, results, sizes and values, in the order of its interface."""
NEAR = {torch.float64: 1e-9, torch.float32: 1e-4}
"""Of half precision and of integers, more than rounding of 16 bits explains."""


def interface_of(op: str) -> Interface:
    found = family(op)
    assert found is not None
    return interface(found, signature_of(op))


def struct(k: Interface) -> type[ctypes.Structure]:
    """The arguments of a kernel as C has them."""
    fields: list[tuple[str, Any]] = [(a.name, ctypes.c_void_p) for a in (*k.tensors, *k.results)]
    fields += [(name, ctypes.c_int64) for name in k.sizes]
    fields += [(name, ctypes.c_double) for name in k.values]
    return type("Arguments", (ctypes.Structure,), {"_fields_": fields})


@cache
def _host(op: str) -> CodeType:
    project = made(CHAINS["triton"], op)
    text = project.files[f"{project.name}/kernel.py"]
    part = text[text.index("def on_meta") : text.index("def into(")]
    return compile(part, op, "exec")


def computed(op: str, start: Start, call: dict[str, Any]) -> tuple[Tensor, ...]:
    """What a kernel makes of a call, by the code that a project lays its tensors out with."""

    def begun(given: Sequence[Tensor], results: Any, *more: Any) -> None:
        *sizes, values = more
        flat = sizes[0] if isinstance(sizes[0], tuple) else sizes
        start(given, [results] if isinstance(results, Tensor) else results, flat, values)

    space = {"torch": torch, "math": math, "OVERLOAD": overload_named(op), "start": begun}
    exec(_host(op), space)
    return _tuple(space["computed"](**call))


def _tuple(found: Any) -> tuple[Tensor, ...]:
    return found if isinstance(found, tuple) else (found,)


class NotComputedError(Exception):
    """A start of a kernel that does not compute in the dtype of a call."""


def require_as_the_cpu(op: str, start: Start, near: Callable[[torch.dtype], float]) -> int:
    """Fail where a kernel computes another thing than the CPU; how many calls were compared."""
    compared = 0
    for call in calls(op):
        given = {n: v.clone() if isinstance(v, Tensor) else v for n, v in call.items()}
        try:
            wanted = _tuple(overload_named(op)(**call))
        except (RuntimeError, NotImplementedError):
            continue  # the CPU has no kernel for this dtype
        try:
            found = computed(op, start, call)
        except (NotComputedError, NotImplementedError):  # which the host's side raises
            continue
        told = {n: tuple(v.shape) if isinstance(v, Tensor) else v for n, v in call.items()}
        promised = getattr(family(op), "promised", 0) or len(wanted)
        assert len(found) == len(wanted)
        for one, other in zip(found[:promised], wanted[:promised], strict=True):
            torch.testing.assert_close(
                one, other, rtol=near(other.dtype), atol=near(other.dtype), equal_nan=True,
                msg=lambda text: f"{op} of {told}: {text}",  # noqa: B023  # used at once
            )  # fmt: skip
        for name, value in given.items():
            if isinstance(value, Tensor):
                torch.testing.assert_close(call[name], value, rtol=0, atol=0, equal_nan=True)
        compared += 1
    return compared


def near(dtype: torch.dtype) -> float:
    return NEAR.get(dtype, 5e-3)


def on_host(text: str) -> str:
    """A kernel's text with launches as calls of what stands in for them."""
    return re.sub(r"(run(?:<T>)?)<<<(.*?)>>>(\(.*?\));", r"launched(\2, [&] { \1\3; });", text)
