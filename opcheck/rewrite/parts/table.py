"""Which overloads have a form on real and imaginary parts, and what it is."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import torch
from msgspec import Struct
from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.model.trace import OpName
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.measure import Canonical, Valid, as_drawn, everything
from opcheck.rewrite.parts import forms as on
from opcheck.rewrite.rules.complex_numbers import fourier
from opcheck.rewrite.rules.complex_numbers.as_real import PolarAsReal
from opcheck.rewrite.rules.complex_numbers.stft import IstftByTables, istft_of_parts
from opcheck.rewrite.text import Module, standalone
from opcheck.rewrite.variants import functional
from opcheck.trace.torch_internals.dispatcher import overload_named

_ALIKE = (
    "alias", "clone", "contiguous", "detach", "diagonal", "expand", "flip",
    "gather", "index.Tensor", "index_select", "movedim.int", "neg", "_neg_view",
    "permute", "repeat", "reshape", "roll", "select.int", "slice.Tensor",
    "split.Tensor", "split_with_sizes", "squeeze", "squeeze.dim", "squeeze.dims", "t",
    "transpose.int", "tril", "triu", "unbind.int", "unfold", "unsqueeze", "_unsafe_view", "view",
)  # fmt: skip
"""Move numbers about, or turn their sign: the same on both parts, to the last bit."""
_ADDING = ("cumsum", "mean", "mean.dim", "sum", "sum.dim_IntList")
"""Add numbers up."""
_MAKING = ("new_zeros", "zeros", "zeros_like")
_LEAVING = ("empty.memory_format", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
"""Make tensors and leave what is in them open."""
_MAKING_ONES = ("new_ones", "ones", "ones_like")
_MOVING = ("_to_copy", "to.device", "to.dtype", "to.dtype_layout")
_SAME = ("resolve_conj", "resolve_neg")
_EXACT: Mapping[str, Callable[..., Any]] = {
    "cat": on.cat, "complex": on.complex_of, "_conj": on.conj, "conj": on.conj,
    "conj_physical": on.conj_physical, "_conj_physical": on.conj_physical,
    "constant_pad_nd": on.constant_pad_nd, "copy_": on.copy_, "eq.Tensor": on.equal_to,
    "eq.Scalar": on.equal_to, "fill_.Scalar": on.fill_, "full": on.full,
    "imag": on.imag, "ne.Tensor": on.unequal_to, "ne.Scalar": on.unequal_to,
    "real": on.real, "stack": on.stack, "view_as_complex": on.view_as_complex,
    "view_as_real": on.view_as_real, "where.self": on.where, "zero_": on.zero_,
}  # fmt: skip
_ROUNDED: Mapping[str, Callable[..., Any]] = {
    "abs": on.magnitude, "add.Tensor": on.add, "angle": on.angle, "bmm": on.matmul,
    "div.Tensor": on.div, "exp": on.exp, "log": on.log, "matmul": on.matmul,
    "mm": on.matmul, "mul.Tensor": on.mul,
    "pow.Tensor_Scalar": on.power, "reciprocal": on.reciprocal, "rsub.Scalar": on.rsub,
    "rsub.Tensor": on.rsub, "sgn": on.sgn, "sub.Tensor": on.sub,
}  # fmt: skip
_TRANSFORMS: Mapping[str, Callable[..., Any]] = {
    "_fft_c2c": fourier.complex_to_complex,
    "_fft_c2r": fourier.complex_to_real,
    "_fft_r2c": fourier.real_to_complex,
}
"""Code that works on pairs already."""


class Form(Struct, frozen=True):
    """What an overload is on parts."""

    function: Callable[..., Any]
    """Takes ``Parts`` where the overload takes complex tensors, and gives them where it does."""
    label: Label
    code: str
    entry: str
    """Name of the function in ``code``."""
    refuses: Callable[[Call], str] = lambda call: ""
    """Say why a call, still with complex tensors, has no such form; "" where it has."""
    valid: Valid = as_drawn
    """Makes of a call on random values one that the operator has an answer for."""
    canonical: Canonical = everything
    """Takes from an outcome what the operator promises."""


@cache
def form(op: str) -> Form | None:
    """The form of an overload in schema spelling; None where it has none here."""
    found = forms().get(op)
    base = functional(op)
    if found is not None or base == op or base not in forms():
        return found
    if torch.Tag.inplace_view in overload_named(op).tags:  # nothing is written
        return forms()[base]
    return _writing(op, forms()[base])


@cache
def forms() -> Mapping[str, Form]:
    """Every form by its overload, but for those that write, which follow."""
    kinds = ((_ALIKE, on.both), (_MAKING, on.made), (_MAKING_ONES, on.ones))
    found = {op: _around(op, kind) for ops, kind in kinds for op in ops}
    found |= {op: _around(op, on.both, Label.TOLERANCE) for op in _ADDING}
    found |= {op: _around(op, on.moved) for op in _MOVING}
    found |= {op: _own(on.same) for op in _SAME}
    found |= {op: _own(function) for op, function in _EXACT.items()}
    found |= {op: _own(function, Label.TOLERANCE) for op, function in _ROUNDED.items()}
    found |= {op: replace(_around(op, on.made), canonical=_layout) for op in _LEAVING}
    polar = _own(on.polar, Label.TOLERANCE)
    found["polar"] = replace(polar, valid=PolarAsReal().valid)
    back = _own(istft_of_parts, Label.TOLERANCE)
    found["istft"] = replace(back, refuses=IstftByTables().refuses)
    found |= {op: _transform(function) for op, function in _TRANSFORMS.items()}
    return {f"aten::{op}": one for op, one in found.items()}


def _own(function: Callable[..., Any], label: Label = Label.EXACT) -> Form:
    return Form(function, label, standalone(function), function.__name__)


def _layout(call: Call, outcome: Outcome) -> Outcome:
    """Take the layout of results alone for what was promised."""
    results, gradients = outcome
    return [torch.zeros_like(result) for result in results], gradients


def _transform(function: Callable[..., Any]) -> Form:
    def on_parts(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return on.Parts(*found) if isinstance(found, tuple) else found

    return Form(on_parts, Label.TOLERANCE, standalone(function), function.__name__, _too_long)


def _too_long(call: Call) -> str:
    """Decline transforms whose tables would be too large."""
    sizes = [*(call.args[0].size(d) for d in call.args[1]), call.given("last_dim_size", 1)]
    if max(sizes) > fourier.LARGEST:
        return Sentence(
            "a transform is longer than {count}: its table would be too large",
            count=fourier.LARGEST,
        )
    return ""


def _around(op: str, kind: Callable[..., Any], label: Label = Label.EXACT) -> Form:
    """The operator itself, called on each part."""
    name = OpName.parse(f"aten::{op}")
    func = overload_named(f"aten::{op}")
    place = f"torch.ops.aten.{name.base}.{name.overload or 'default'}"
    entry = f"{name.base}_on_parts"
    code = (
        f"{standalone(kind)}\n\ndef {entry}(*args, **kwargs):\n"
        f"    return {kind.__name__}({place}, *args, **kwargs)\n"
    )
    return Form(partial(kind, func), label, code, entry)


def _writing(op: str, base: Form) -> Form:
    outs = [a.name for a in overload_named(op)._schema.arguments if a.is_out]
    module = Module()
    module.add(standalone(on.written), on.written.__name__)
    inner = module.add(base.code, base.entry)
    entry = f"{inner}_written"
    code = (
        f"{module.imports}\n\n\n{module.body}\n\n\ndef {entry}(*args, **kwargs):\n"
        f"    return written({inner}, {outs!r}, *args, **kwargs)\n"
    )
    return Form(partial(on.written, base.function, outs), base.label, code, entry, base.refuses)
