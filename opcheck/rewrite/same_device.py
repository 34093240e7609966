"""A call whose tensors are all on the device, where one was made in host memory."""

from collections.abc import Callable
from typing import Any

from opcheck.model.plan import Label, Tier
from opcheck.model.trace import Node
from opcheck.rewrite.candidates import Candidate
from opcheck.trace.torch_internals.dispatcher import overload_named


def on_the_device(node: Node) -> Candidate:
    """The call itself, which only whoever makes those tensors can bring about."""
    names = dict.fromkeys(name for name, tensor in node.tensors() if tensor.host and tensor.shape)
    which = " and ".join(names) or "the tensor in host memory"
    return Candidate(
        rule="made-on-the-device",
        tier=Tier.SWAP,
        label=Label.EXACT,
        summary=f"Make {which} with device=x.device, or register it as a buffer",
        function=_same(overload_named(str(node.op))),
        refuses=lambda call: "",
        code="",
        entry="",
    )


def _same(func: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: func(*args, **kwargs)
