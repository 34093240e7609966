"""In-place and ``out=`` forms of an overload, and how one that gives a new result serves them."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import torch
from torch import Tensor

from opcheck.model.trace import OpName
from opcheck.trace.torch_internals.dispatcher import overload_named


@cache
def functional(op: str) -> str:
    """The overload that gives a new result where ``op`` writes it; ``op`` where it writes nothing.

    One that writes beside new results, as batch norm does to its running statistics, stands for
    itself. "" where PyTorch has none.
    """
    func = overload_named(op)
    if func is None or not func._schema.is_mutable:
        return op if func is not None else ""
    outs = [a.name for a in func._schema.arguments if a.is_out]
    wanted = [
        (a.name, str(a.type)) for a in func._schema.arguments if a.name not in outs
    ]  # fmt: skip
    parsed = OpName.parse(op)
    base = parsed.base if outs else parsed.base.removesuffix("_")
    packet = getattr(getattr(torch.ops, parsed.namespace), base, None)
    for name in () if packet is None else packet.overloads():
        found = getattr(packet, name)._schema
        same = [(a.name, str(a.type)) for a in found.arguments] == wanted
        if same and not found.is_mutable:
            return str(OpName.parse(getattr(packet, name).name()))
    return "" if all(r.alias_info for r in func._schema.returns) else op


def serving(op: str, replace: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function that gives new results stand for ``op``, which may write them."""
    func = overload_named(op)
    if functional(op) == op:
        return replace
    outs = [a.name for a in func._schema.arguments if a.is_out]

    @wraps(replace)
    def written(*args: Any, **kwargs: Any) -> Any:
        if not outs:
            return args[0].copy_(replace(*args, **kwargs))
        places = [kwargs.pop(name) for name in outs]
        results = replace(*args, **kwargs)
        results = results if isinstance(results, tuple | list) else (results,)
        done = tuple(_into(place, result) for place, result in zip(places, results, strict=True))
        return done[0] if len(done) == 1 else done

    return written


def _into(out: Tensor, result: Tensor) -> Tensor:
    """What every ``out=`` does: take the result's size, then its values."""
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)
