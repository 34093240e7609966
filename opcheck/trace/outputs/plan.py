"""What one signature returns, as a device gives it, noted so that it can be made again.

Private torch API used here, checked on 2.13.0: ``torch._C._set_conj`` and ``torch._C._set_neg``.
"""

from dataclasses import replace
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.trace.calls.signature import Call
from opcheck.trace.device.sparse import SPARSE
from opcheck.trace.device.tensors import Spec
from opcheck.trace.outputs.unknown import require_strides
from opcheck.trace.torch_internals.autograd import address
from opcheck.trace.torch_internals.dispatcher import OverloadFacts, facts


def standing_for(call: Call, args: Any, kwargs: Any, made: list[Tensor]) -> Call:
    """The call as a kernel here gets it: ``made`` in place of its tensors."""
    return replace(call, args=args, kwargs=kwargs, tensors=made)


def canonical(result: Any, probe: Call, tensors: list[Tensor]) -> Any:
    """Outputs of a kernel as a device gives them; ``tensors`` are those that ``probe`` stands for.

    What it writes to comes back itself, where some meta functions return new tensors, and is no
    lazy conjugate that it was not before. A kernel that makes no view leaves nothing lazy behind,
    nor zeros without memory: the kernels that read them here run below what would fill them in.

    Raises:
        OtherLayout: one has no strides.
    """
    known = facts(probe.func)
    if known.view:
        return result
    if known.returned:
        for tensor, made in zip(tensors, probe.tensors, strict=True):
            remark(made, tensor.is_conj(), tensor.is_neg())
        result = _own(result, known, probe)
    return _resolved(result, probe.tensors, probe.func.name())


def remark(tensor: Tensor, conj: bool, neg: bool) -> None:
    """Have a host tensor keep its values, lazily conjugate or negative only as said here."""
    if (tensor.is_conj(), tensor.is_neg()) == (conj, neg):
        return
    values = tensor.clone()
    torch._C._set_conj(tensor, conj)
    torch._C._set_neg(tensor, neg)
    tensor.copy_(values)


def _own(result: Any, known: OverloadFacts, probe: Call) -> Any:
    """Outputs, with the arguments themselves where they are the outputs."""
    given = dict(zip(known.argument_names, probe.args, strict=False)) | probe.kwargs
    several = len(known.returned) > 1
    own = [
        output if given.get(name) is None else given[name]
        for name, output in zip(known.returned, result if several else (result,), strict=True)
    ]
    return own if several else own[0]


def _resolved(result: Any, made: list[Tensor], op: str) -> Any:
    if isinstance(result, Tensor):
        if result.layout in SPARSE:
            return result
        require_strides(result, op)
        if result._is_zerotensor():
            return torch.zeros(result.shape, dtype=result.dtype, device=result.device)
        lazy = result.is_conj() or result.is_neg()
        if not lazy or any(result is tensor for tensor in made):
            return result
        return result.resolve_conj().resolve_neg()
    if isinstance(result, (list, tuple)):
        return [_resolved(item, made, op) for item in result]
    return result


VALUE_LIMIT = 1 << 20
"""Largest tensor, in elements, whose values are kept where they are known."""


class Same(Struct, frozen=True):
    """The output is the caller's own tensor, which then has this spec."""

    index: int
    spec: Spec


class View(Struct, frozen=True):
    """The output lies in the storage of the caller's tensor, and has this spec."""

    index: int
    spec: Spec
    start: int
    """Elements from where the caller's tensor begins."""
    absolute: bool
    """From where its storage begins, instead: the call names that."""


class Constant(Struct, frozen=True):
    """The output is no tensor."""

    value: Any


Plan = Spec | Same | View | Constant | list["Plan"]
"""How to make the outputs of a signature again without running anything."""


def plan_of(result: Any, call: Call) -> Plan:
    """Describe outputs so that they can be made again."""
    if isinstance(result, Tensor):
        require_strides(result, call.func.name())
        for index, tensor in enumerate(call.tensors):
            if tensor is result:
                return Same(index, Spec.like(tensor))
        return _view(result, call) or Spec.like(result)
    if isinstance(result, (list, tuple)):
        return [plan_of(item, call) for item in result]
    return Constant(result)


def _view(result: Tensor, call: Call) -> View | None:
    """An output as the view that it is; None where it has memory of its own."""
    home = address(result)
    for index, tensor in enumerate(call.tensors):
        if tensor.layout is torch.strided and address(tensor) == home:
            named = call.func.name() in _BY_OFFSET and _names_offset(call)
            start = int(result.storage_offset()) - (0 if named else int(tensor.storage_offset()))
            return View(index, Spec.like(result), start, named)
    return None


_BY_OFFSET = frozenset({"aten::as_strided", "aten::as_strided_"})


def _names_offset(call: Call) -> bool:
    given = dict(zip(facts(call.func).argument_names, call.args, strict=False)) | call.kwargs
    return given.get("storage_offset") is not None


def small(spec: Spec) -> bool:
    """Whether the values of such a tensor are worth keeping."""
    return spec.numel <= VALUE_LIMIT


def all_small(plan: Plan, most: int = VALUE_LIMIT) -> bool:
    """Whether the values of all outputs are worth keeping: none has more elements."""
    match plan:
        case Spec():
            return plan.numel <= most
        case Same(_, spec) | View(_, spec):
            return spec.numel <= most
        case list():
            return all(all_small(item, most) for item in plan)
        case Constant():
            return True
