"""What one signature returns, noted so that its outputs can be made again without running it."""

from typing import Any

from msgspec import Struct
from torch import Tensor

from opcheck.trace.device import Spec
from opcheck.trace.signature import Call

VALUE_LIMIT = 1 << 20
"""Largest tensor, in elements, whose values are kept where they are known."""


class Same(Struct, frozen=True):
    """The output is the caller's own tensor, which then has this spec."""

    index: int
    spec: Spec


class Constant(Struct, frozen=True):
    """The output is no tensor."""

    value: Any


Plan = Spec | Same | Constant | list["Plan"]
"""How to make the outputs of a signature again without running anything."""


def plan_of(result: Any, call: Call) -> Plan:
    """Describe outputs so that they can be made again."""
    if isinstance(result, Tensor):
        for index, tensor in enumerate(call.tensors):
            if tensor is result:
                return Same(index, Spec.like(tensor))
        return Spec.like(result)
    if isinstance(result, (list, tuple)):
        return [plan_of(item, call) for item in result]
    return Constant(result)


def small(spec: Spec) -> bool:
    """Whether the values of such a tensor are worth keeping."""
    return spec.numel <= VALUE_LIMIT


def all_small(plan: Plan) -> bool:
    """Whether the values of all outputs are worth keeping."""
    match plan:
        case Spec():
            return small(plan)
        case Same(_, spec):
            return small(spec)
        case list():
            return all(all_small(item) for item in plan)
        case Constant():
            return True
