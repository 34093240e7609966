"""A call on narrower numbers from the start, for a device that has none so wide."""

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from opcheck.model.plan import Label, Tier
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate
from opcheck.rewrite.width import narrowed
from opcheck.trace.torch_internals.dispatcher import overload_named

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
        summary=f"Make its tensors {others}, or cast them before they come to the device",
        function=_computed(func, wide),
        refuses=lambda call: "",
        code="",
        entry="",
        gives_up=(
            f"All digits of {' and '.join(map(_name, wide))} beyond the seventh, here and in what "
            "follows"
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
