"""Results that one known argument decides, whatever the others hold: ``mask | True``."""

from typing import Any

import torch
from torch import Tensor

from opcheck.trace.calls.signature import Call
from opcheck.trace.device.host_copies import HostCopy
from opcheck.trace.device.tensors import DeviceTensor, Spec
from opcheck.trace.outputs.meta_kernels import value_of

_OR = ("logical_or.default", "bitwise_or.Tensor", "__or__.Tensor")
_AND = ("logical_and.default", "bitwise_and.Tensor", "__and__.Tensor")
_DECIDED_BY: dict[Any, bool] = {
    getattr(getattr(torch.ops.aten, name), overload): truth
    for names, truth in ((_OR, True), (_AND, False))
    for name, overload in (qualified.split(".") for qualified in names)
}
"""Overloads, and the truth that gives the result alone: a search that has come to its longest
text is done, whichever token it found."""


def decided(call: Call, spec: Spec) -> Tensor | None:
    """The result of shape and dtype ``spec``, on the host, if one argument alone decides it.

    ``bitwise_or`` of integers is left out: which of their bits are set matters there.
    """
    truth = _DECIDED_BY.get(call.func)
    if truth is None or (truth and spec.dtype is not torch.bool):
        return None
    if not any(_is_all(value, truth) for value in call.tensors):
        return None
    return torch.full(spec.shape, truth, dtype=spec.dtype)


def _is_all(tensor: Tensor, truth: bool) -> bool:
    if isinstance(tensor, DeviceTensor) and tensor.value is None:
        return False
    value = value_of(tensor)
    if type(value) is HostCopy or value.device.type != "cpu" or not value.numel():
        return False
    return bool((value.bool() == truth).all())
