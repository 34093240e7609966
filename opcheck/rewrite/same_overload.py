"""The overload itself, given contiguous tensors, narrower numbers, or all on the device."""

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Tier
from opcheck.model.trace import Node, OpName
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate, narrowed
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


NARROWER = {torch.float64: torch.float32, torch.complex128: torch.complex64}
"""A dtype -> the one with half the bits."""


def from_the_start(op: str, dtypes: Collection[str]) -> Candidate | None:
    """The call itself on narrower tensors, which only whoever makes those can bring about.

    Args:
        op: in schema spelling.
        dtypes: of the tensors that it takes and gives; None where none of them is wide.
    """
    wide = [dtype for dtype in NARROWER if _name(dtype) in dtypes]
    if not wide:
        return None
    func = overload_named(op)
    others = " and ".join(_name(NARROWER[dtype]) for dtype in wide)
    return Candidate(
        rule="narrower-from-the-start",
        tier=Tier.STRUCTURAL,
        label=Label.TOLERANCE,
        summary=Sentence(
            "Make its tensors {dtype}, or cast them before they come to the device", dtype=others
        ),
        function=_computed(func, wide),
        refuses=lambda call: "",
        code="",
        entry="",
        gives_up=(
            Sentence(
                "All digits of {dtype} beyond the seventh, here and in what follows",
                dtype=" and ".join(map(_name, wide)),
            )
        ),
        recorded=lambda *args, **kwargs: func(*args, **kwargs),
        given=_given,
    )


def _computed(func: Any, wide: Collection[torch.dtype]) -> Callable[..., Any]:
    """What it gives then, in the dtypes that it has now."""
    for dtype in wide:
        func = narrowed(func, dtype, NARROWER[dtype])
    return func  # type: ignore[no-any-return]  # of torch


def _given(call: Call) -> Call:
    def narrow(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.to(NARROWER.get(value.dtype, value.dtype))
        return NARROWER.get(value, value) if isinstance(value, torch.dtype) else value

    args, kwargs = tree_map(narrow, (call.args, dict(call.kwargs)))
    return Call(call.func, args, kwargs)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def on_the_device(node: Node) -> Candidate:
    """The call itself, which only whoever makes those tensors can bring about."""
    names = dict.fromkeys(name for name, tensor in node.tensors() if tensor.host and tensor.shape)
    which = " and ".join(names) or Sentence("the tensor in host memory")
    return Candidate(
        rule="made-on-the-device",
        tier=Tier.SWAP,
        label=Label.EXACT,
        summary=Sentence(
            "Make {text} with device=x.device, or register it as a buffer", text=which
        ),
        function=_same(overload_named(str(node.op))),
        refuses=lambda call: "",
        code="",
        entry="",
    )


def first(summary: str, then: str) -> Sentence:
    """What to do before a rule is followed, and the rule."""
    return Sentence("{said}; then: {said_then}", said=summary, said_then=then)


def _same(func: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: func(*args, **kwargs)
