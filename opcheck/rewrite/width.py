"""An overload computed in float32, for a target that refuses it in float64 or half precision."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.model.trace import OpName
from opcheck.rewrite.call import Call
from opcheck.trace.torch_internals.dispatcher import facts

_MOVERS = frozenset({"_to_copy", "copy_", "copy", "_copy_from", "to", "clone", "type_as"})
"""What only moves values cannot move them in another dtype."""


def in_float32(func: Any, dtype: torch.dtype) -> Callable[..., Any]:
    """A function that takes what ``func`` takes and gives what it gives, computed in float32."""
    return narrowed(func, dtype, torch.float32)


def narrowed(func: Any, dtype: torch.dtype, other: torch.dtype) -> Callable[..., Any]:
    """A function that takes and gives what ``func`` does, computed in another dtype than one."""

    def moved(value: Any, source: torch.dtype, to: torch.dtype) -> Any:
        if isinstance(value, Tensor) and value.dtype is source:
            return value.to(to)
        return to if value is source else value

    def computed(*args: Any, **kwargs: Any) -> Any:
        wide, named = tree_map(lambda v: moved(v, dtype, other), (args, kwargs))
        return tree_map(lambda v: moved(v, other, dtype), func(*wide, **named))

    return computed


def code(op: OpName, dtype: torch.dtype) -> str:
    """Give the same as text."""
    return _TEXT.format(
        name=op.base, func=f"torch.ops.{op.namespace}.{op.base}.{op.overload or 'default'}",
        dtype=dtype,
    )  # fmt: skip


def refuses(call: Call, dtype: torch.dtype) -> str:
    """Say why a call cannot be computed in float32 instead of ``dtype``."""
    tensors = [t for t in tree_leaves((call.args, dict(call.kwargs))) if isinstance(t, Tensor)]
    kinds = {t.dtype for t in tensors if t.is_floating_point() or t.is_complex()}
    if kinds != {dtype}:
        return f"its arguments are not of {str(dtype).removeprefix('torch.')} alone"
    if facts(call.func).view or OpName.parse(call.func.name()).base in _MOVERS:
        return "it moves values and computes none"
    if torch.Tag.nondeterministic_seeded in call.func.tags:
        return "it draws random numbers"
    return ""


_TEXT = """\
import torch
from torch.utils._pytree import tree_map


def _moved(value, source, to):
    if isinstance(value, torch.Tensor) and value.dtype is source:
        return value.to(to)
    return to if value is source else value


def {name}(*args, **kwargs):
    wide, named = tree_map(lambda v: _moved(v, {dtype}, torch.float32), (args, kwargs))
    result = {func}(*wide, **named)
    return tree_map(lambda v: _moved(v, torch.float32, {dtype}), result)
"""
