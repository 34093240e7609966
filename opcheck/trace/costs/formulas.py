"""Floating-point operations of one call, by PyTorch's own formulas where it has them.

Private torch API used here, checked on 2.13.0: ``torch.utils.flop_counter.flop_registry``, whose
formulas take tensors, of which they look at the shapes alone.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry

from opcheck.model.trace import Node, TensorMeta, Value

Formula = Callable[[Mapping[str, tuple[int, ...]], Node], int]
"""Makes operations of the shapes of the tensor arguments, by name."""

_NOT_KNOWN = (
    *("linalg_", "_linalg_", "fft_", "_fft_", "lu_", "cholesky", "svd", "geqrf", "ormqr"),
    *("triangular_solve", "lstm", "gru", "rnn_", "_cudnn_rnn", "miopen_rnn", "mkldnn_rnn"),
    *("_sparse_", "_weight_int", "_grouped_mm", "_scaled_grouped_mm", "quantized_"),
)
"""How operators begin that hold products of matrices, and of which no formula is here."""
_COVERED = frozenset({"aten", "prims", "prim", "_c10d_functional", "c10d", "c10d_functional"})
"""Namespaces of which every other operator has no such product."""


def by_formula(node: Node) -> int | None:
    """Operations of a call for which there is a formula; None where there is none."""
    own = FORMULAS.get(str(node.op))
    if own is not None:
        return _by_shapes(own, node)
    packet = getattr(torch.ops.aten, node.op.base, None) if node.op.namespace == "aten" else None
    formula = flop_registry.get(packet) if packet is not None else None
    return None if formula is None else _by_torch(formula, packet, node)


def has_none(node: Node) -> bool:
    """Whether a call without a formula is known to hold no product of matrices."""
    return node.op.namespace in _COVERED and not node.op.base.startswith(_NOT_KNOWN)


def _product(shapes: Mapping[str, tuple[int, ...]], node: Node) -> int:
    return 2 * prod(shapes["self"])


def _added_product(shapes: Mapping[str, tuple[int, ...]], node: Node) -> int:
    return 2 * prod(shapes["mat"])


def _matrices(shapes: Mapping[str, tuple[int, ...]], node: Node) -> int:
    return 2 * prod(shapes["self"]) * shapes["mat2"][-1]


def _attention(shapes: Mapping[str, tuple[int, ...]], node: Node) -> int:
    """Scores, and the values that they weigh."""
    *heads, length, width = shapes["query"]
    return 2 * prod(heads) * length * shapes["key"][-2] * (width + shapes["value"][-1])


def _attention_backward(shapes: Mapping[str, tuple[int, ...]], node: Node) -> int:
    """Scores once more, then two products for each of the two of the forward."""
    *heads, length, width = shapes["query"]
    return 2 * prod(heads) * length * shapes["key"][-2] * (3 * width + 2 * shapes["value"][-1])


def _convolution_backward(shapes: Mapping[str, tuple[int, ...]], node: Node) -> int:
    """As many as the forward for each gradient of input and weight; torch's is off for groups."""
    given = dict(node.arguments)
    transposed = bool(given.get("transposed"))
    over = shapes["input" if transposed else "grad_output"]
    mask = given.get("output_mask")
    wanted = sum(map(bool, mask[:2])) if isinstance(mask, tuple) else 2
    return wanted * 2 * over[0] * prod(over[2:]) * prod(shapes["weight"])


FORMULAS: Mapping[str, Formula] = {
    "aten::mv": _product,
    "aten::dot": _product,
    "aten::vdot": _product,
    "aten::addmv": _added_product,
    "aten::_int_mm": _matrices,
    "aten::scaled_dot_product_attention": _attention,
    "aten::_scaled_dot_product_attention_math": _attention,
    "aten::_scaled_dot_product_attention_math_for_mps": _attention,
    "aten::_scaled_dot_product_flash_attention_for_cpu": _attention,
    "aten::_scaled_dot_product_fused_attention_overrideable": _attention,
    "aten::_scaled_dot_product_fused_attention_overrideable_backward": _attention_backward,
    "aten::convolution_backward": _convolution_backward,
    "aten::convolution_backward_overrideable": _convolution_backward,
}
"""Overload -> the formula where PyTorch has none, or none for every shape."""


def _by_shapes(formula: Formula, node: Node) -> int | None:
    shapes = {name: tensor.shape for name, tensor in node.tensors()}
    try:
        return formula(shapes, node)
    except (KeyError, IndexError, ValueError):  # called with other names or fewer dimensions
        return None


def _by_torch(formula: Any, packet: Any, node: Node) -> int | None:
    """What torch's own formula says; it wants every argument in its place."""
    overload = getattr(packet, node.op.overload or "default", None)
    if overload is None:
        return None
    given = dict(node.arguments)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for argument in overload._schema.arguments:
        value = _stand_in(given.get(argument.name, argument.default_value))
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    outputs = [_stand_in(value) for value in node.outputs]
    kwargs.pop("out", None)
    try:
        return int(formula(*args, **kwargs, out_val=outputs[0] if len(outputs) == 1 else outputs))
    except Exception:  # a formula for another signature than this torch's
        return None


def _stand_in(value: Value) -> Any:
    """A tensor of the same shape for each tensor, and anything else as it is."""
    if isinstance(value, TensorMeta):
        dtype = getattr(torch, value.dtype)
        return torch.empty_strided(value.shape, value.stride, dtype=dtype, device="meta")
    if isinstance(value, (tuple, list)):
        return [_stand_in(item) for item in value]
    return value
