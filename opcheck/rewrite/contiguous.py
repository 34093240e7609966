"""An overload given its tensors in order, for a target that is wrong where they are not."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.model.plan import Label, Tier
from opcheck.model.trace import OpName
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate
from opcheck.trace.torch_internals.dispatcher import facts, overload_named


def laid_out(op: str) -> Candidate:
    """The overload itself, given contiguous tensors."""
    name = OpName.parse(op)
    return Candidate(
        rule="contiguous-first",
        tier=Tier.SWAP,
        label=Label.EXACT,
        summary="Call .contiguous() on its tensors first",
        function=in_order(overload_named(op)),
        refuses=_refuses,
        code=_TEXT.format(
            name=name.base,
            func=f"torch.ops.{name.namespace}.{name.base}.{name.overload or 'default'}",
        ),
        entry=name.base,
    )


def in_order(func: Any) -> Callable[..., Any]:
    """A function that takes and gives what ``func`` does, and lays its tensors out in order."""

    def computed(*args: Any, **kwargs: Any) -> Any:
        given, named = tree_map(_laid_out, (args, kwargs))
        return func(*given, **named)

    return computed


def _laid_out(value: Any) -> Any:
    return value.contiguous() if isinstance(value, Tensor) else value


def _refuses(call: Call) -> str:
    """Say why it makes no difference to a call how its tensors lie."""
    tensors = [t for t in tree_leaves((call.args, dict(call.kwargs))) if isinstance(t, Tensor)]
    if all(tensor.is_contiguous() for tensor in tensors):
        return "its tensors lie in order already"
    if facts(call.func).view:
        return "it gives a view of its argument"
    return ""


_TEXT = """\
import torch
from torch.utils._pytree import tree_map


def _laid_out(value):
    return value.contiguous() if isinstance(value, torch.Tensor) else value


def {name}(*args, **kwargs):
    given, named = tree_map(_laid_out, (args, kwargs))
    return {func}(*given, **named)
"""
