"""Results that follow where numbers that are not known are taken to be finite.

Training code asks for it at each step, ``torch.isfinite(grad).all()``, and leaves the step out
where one is not. Vendors that have no kernel for ``isfinite`` and ``isinf`` are asked for what
these are decomposed into: ``(x == x) * (x.abs() != inf)``.
"""

import math
from typing import Any

import torch
from torch import Tensor

from opcheck.trace.calls.signature import Call
from opcheck.trace.device.host_copies import HostCopy
from opcheck.trace.device.tensors import DeviceTensor, Spec
from opcheck.trace.outputs.plan import VALUE_LIMIT

MASK_LIMIT = 1 << 28
"""Largest such result, in elements, whose values are kept; each takes a byte while it is there."""

_TESTS = {"isfinite": True, "isnan": False, "isinf": False, "isposinf": False, "isneginf": False}
_COMPARED = {"eq": True, "ne": False}
"""What a tensor gives that is compared with itself; with infinity it is the other way round."""


def taken_as_finite(call: Call, spec: Spec) -> Tensor | None:
    """The result of shape ``spec``, on the host, if it is known once every number is finite."""
    if spec.dtype is not torch.bool or spec.numel > MASK_LIMIT:
        return None
    truth = _truth(call)
    if truth is None:
        return None
    made = torch.empty_strided(spec.shape, spec.stride, dtype=torch.bool)
    return made.fill_(truth).as_subclass(HostCopy)


def is_kept(spec: Spec, value: Any) -> bool:
    """Whether a mask that rests on it keeps its values, however large."""
    return type(value) is HostCopy and spec.dtype is torch.bool and spec.numel <= MASK_LIMIT


def most_elements(call: Call) -> int:
    """How large results may be for which a call of known values is run.

    Larger ones where it combines such masks, or copies one: ``isnan(x) | isinf(x)``.
    """
    ours = [tensor for tensor in call.tensors if isinstance(tensor, DeviceTensor)]
    masks = bool(ours) and all(is_kept(tensor.spec, tensor.value) for tensor in ours)
    return MASK_LIMIT if masks else VALUE_LIMIT


def _truth(call: Call) -> bool | None:
    first = call.tensors[0] if call.tensors else None
    name, _, overload = call.func.name().removeprefix("aten::").partition(".")
    if first is None or not (first.is_floating_point() or first.is_complex()):
        return None
    if name in _TESTS:
        return _TESTS[name]
    equal = _COMPARED.get(name)
    if equal is None:
        return None
    if overload.startswith("Scalar"):
        number = call.args[1]
        beyond = isinstance(number, float) and not math.isfinite(number)
        return not equal if beyond else None
    return equal if _is(first, call.args[1]) else None


def _is(tensor: Tensor, other: Any) -> bool:
    """Whether both are one tensor; each mention of an emulated device's has a stand-in."""
    if tensor is other:
        return True
    origin = getattr(tensor, "origin", None)
    return origin is not None and origin is getattr(other, "origin", None)
