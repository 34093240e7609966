"""Finding out what a signature returns: its kernel is run on meta, or on the CPU on zeros."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from opcheck.trace.device_only import kernel_for
from opcheck.trace.dispatcher import facts
from opcheck.trace.extension import open_sized, without_rule
from opcheck.trace.outputs import settled, standing_for
from opcheck.trace.plans import Plan, plan_of
from opcheck.trace.replaced import on_meta, replaced, zeros
from opcheck.trace.signature import Call
from opcheck.trace.stride_exceptions import CPU_ALWAYS, CPU_IF_PERMUTED
from opcheck.trace.unseen import OtherLayout, Unseen

PROBE_LIMIT = 1 << 24
"""Largest sum of elements for which a kernel is run on zeros just to see what it returns."""
PRODUCT_LIMIT = 1 << 30
"""Largest number of multiplications that such a run may cost."""


def probed(call: Call) -> Plan:
    """What a call of this signature returns, whatever its values are.

    Raises:
        Unseen: nothing here can tell.
        Exception: whatever torch raises for arguments that the operator refuses.
    """
    func = kernel_for(call.func, call.args)
    elements = sum(t.numel() for t in call.tensors)
    if _meta_differs(call) and elements <= PROBE_LIMIT and _products(call) <= PRODUCT_LIMIT:
        return _probe(func, call, zeros)
    try:
        return _open_sized(call) or _probe(func, call, on_meta)
    except Exception as error:
        unseen = isinstance(error, NotImplementedError) or without_rule(call.func)
        if elements > PROBE_LIMIT or not call.tensors or facts(call.func).composite:
            if unseen:
                raise Unseen(_first_line(error)) from error
            raise
        return _on_cpu(func, call, error)


def _on_cpu(func: Any, call: Call, error: Exception) -> Plan:
    """Ask the CPU kernel where meta has none, or is stricter than any kernel."""
    try:
        return _probe(func, call, zeros)
    except NotImplementedError as missing:
        raise Unseen(_first_line(missing)) from missing
    except OtherLayout:
        raise
    except Exception:
        raise error from None


def _open_sized(call: Call) -> Plan | None:
    """What an extension's own shape rule gives, sizes that depend on data at their most."""
    if call.func.namespace == "aten":
        return None
    rule = open_sized(call.func, call.tensors)
    return None if rule is None else _probe(rule, call, on_meta)


def _probe(func: Any, call: Call, make: Callable[[Tensor], Tensor]) -> Plan:
    args, kwargs, made = replaced(call, make, "meta" if make is on_meta else "cpu")
    probe = standing_for(call, args, kwargs, made)
    return plan_of(settled(func(*args, **kwargs), probe, call.tensors), probe)


def _meta_differs(call: Call) -> bool:
    """Whether the CPU kernel must be asked, since its meta function answers otherwise."""
    name = call.func.name()
    if name in CPU_ALWAYS:
        return True
    return name in CPU_IF_PERMUTED and not all(t.is_contiguous() for t in call.tensors)


def _products(call: Call) -> int:
    """Multiplications of a convolution, at stride 1; 0 for what is no convolution."""
    name = call.func.name()
    if "conv" not in name:
        return 0
    x, weight = call.tensors[0], call.tensors[2 if "backward" in name else 1]
    return x.numel() // max(weight.shape[1], 1) * weight.numel()


def _first_line(error: BaseException) -> str:
    """What is missing, without the dispatcher's guesses at why and its list of backends."""
    return str(error).strip().split("\n", 1)[0].partition(" This could be because")[0]
