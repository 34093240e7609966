"""A rule tried on one drawn call: whether it says what the overload says."""

import math
from functools import partial

import torch
from msgspec import Struct
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.model.plan import Difference, Label
from opcheck.rewrite.base import Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.chance import unlike
from opcheck.rewrite.draw import Draw
from opcheck.rewrite.measure import UnmeasuredError, compared
from opcheck.rewrite.variants import serving
from opcheck.trace.torch_internals.dispatcher import overload_named


class Trial(Struct, frozen=True):
    """What came of one call."""

    call: str
    """The call as text."""
    skipped: str = ""
    """Why nothing was compared: the overload itself, or the rule, refuses."""
    wrong: str = ""
    """What is wrong with the rule; "" if nothing is."""
    size: int = 0
    """Elements that it was given."""


def attempt(rule: Rule, op: str, draw: Draw) -> Trial:
    """Draw one call of an overload and compare what the rule gives with what the overload gives."""
    func = overload_named(op)
    args, kwargs = rule.example(op, draw)
    call = Call(func, args, kwargs)
    tried = partial(Trial, shown(call), size=_size(call))
    refused = rule.refuses(_on_meta(call))
    if refused:
        return tried(skipped=refused)
    if rule.random:
        return tried(wrong=unlike(call, serving(op, type(rule).replace)))
    try:
        forward, backward = compared(
            call, serving(op, type(rule).replace), rule.settled, rule.unique
        )
    except UnmeasuredError as error:
        if str(error).startswith("the original"):
            return tried(skipped=str(error))
        return tried(wrong=str(error))
    for found, kind in ((forward, "results"), (backward, "gradients")):
        if found is not None and not _close(found, rule, call):
            return tried(wrong=f"{kind} are off by {found.absolute:g} ({found.relative:g})")
    return tried()


def shown(call: Call) -> str:
    """A call as text, tensors by dtype, sizes and strides, and few values as they are."""

    def short(value: object) -> str:
        if isinstance(value, Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            values = f" {value.tolist()}" if value.numel() <= _FEW else ""
            return f"{dtype}{list(value.shape)} strides {list(value.stride())}{values}"
        return repr(value)

    args = map(short, call.args)
    return ", ".join([*args, *(f"{name}={short(v)}" for name, v in call.kwargs.items())])


_FEW = 6
"""Elements of a tensor that are shown."""


def _size(call: Call) -> int:
    given = tree_leaves((call.args, dict(call.kwargs)))
    return sum(value.numel() for value in given if isinstance(value, Tensor))


def _close(found: Difference, rule: Rule, call: Call) -> bool:
    if found.absolute == 0.0:
        return True
    if rule.label is Label.EXACT or math.isinf(found.absolute):
        return False
    return rule.label is Label.APPROXIMATE or found.relative <= rule.tolerance * _eps(call)


def _eps(call: Call) -> float:
    """The coarsest ``eps`` among floating-point arguments."""
    tensors = [t for t in tree_leaves((call.args, dict(call.kwargs))) if isinstance(t, Tensor)]
    known = [t.dtype for t in tensors if t.dtype.is_floating_point or t.dtype.is_complex]
    return max((torch.finfo(dtype).eps for dtype in known), default=torch.finfo(torch.float32).eps)


def _on_meta(call: Call) -> Call:
    def moved(value: object) -> object:
        return value.to("meta") if isinstance(value, Tensor) else value

    args, kwargs = tree_map(moved, (tuple(call.args), dict(call.kwargs)))
    return Call(call.func, args, kwargs)
