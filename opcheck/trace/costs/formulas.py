"""Floating-point operations of one call, by PyTorch's own formulas, and bytes that it moves.

Private torch API used here, checked on 2.13.0: ``torch.utils.flop_counter.flop_registry``, whose
formulas take tensors, of which they look at the shapes alone.
"""

from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any

import torch
from msgspec import Struct
from torch.utils.flop_counter import flop_registry

from opcheck.model.trace import DTYPE_BYTES, Node, OpName, TensorMeta, Value
from opcheck.trace.torch_internals.dispatcher import facts, overload_named

_LOOKUPS = frozenset(
    {"embedding", "index_select", "gather", "index", "_unsafe_index", "take", "take_along_dim"}
)
"""Operators that read no more of their first tensor than they give."""
_OVERWRITE = frozenset(
    {"copy_", "fill_", "zero_", "uniform_", "normal_", "bernoulli_", "random_", "exponential_",
     "_copy_from", "_copy_from_and_resize"}
)  # fmt: skip
"""Operators in place that do not look at what they write over."""
_INTO = frozenset(
    {"index_copy_", "index_put_", "_index_put_impl_", "index_fill_", "scatter_", "masked_fill_",
     "_unsafe_index_put"}
)  # fmt: skip
"""Operators in place that change no more of their first tensor than they are given."""
_NOTHING = ("empty", "new_empty", "resize_", "set_", "_local_scalar_dense", "sym_", "_fused_sdp")
"""How operators begin that move next to nothing."""
_VIEWS_UNSAID = frozenset({"aten::_unsafe_view", "aten::lift"})
"""Overloads that share their argument's memory, though their schema does not say so."""
_ONLY_MOVE = frozenset(
    {"_to_copy", "clone", "contiguous", "cat", "stack", "constant_pad_nd", "pad", "roll", "flip",
     "repeat", "zeros", "ones", "full", "arange", "zeros_like", "ones_like", "full_like",
     "new_zeros", "new_ones", "new_full", "slice_scatter", "select_scatter", "reshape", "to",
     "_reshape_copy", "split_copy", "native_dropout"}
    | _LOOKUPS | _OVERWRITE | _INTO
)  # fmt: skip
"""Operators that compute no new values."""


class Traffic(Struct, frozen=True):
    """What one call moves and computes."""

    read: int = 0
    written: int = 0
    elements: int = 0


def distinct_bytes(tensor: TensorMeta) -> int:
    """Bytes of a tensor's elements, those once that an expanded one repeats."""
    count = 1
    for size, step in zip(tensor.shape, tensor.stride, strict=True):
        count *= size if step or not size else 1
    return count * DTYPE_BYTES.get(tensor.dtype, 1)


def gives_a_view(op: OpName) -> bool:
    """Whether an overload, taken whole, makes no more than another view."""
    func: Any = overload_named(str(op))
    return str(op) in _VIEWS_UNSAID or (func is not None and facts(func).view)


def traffic(node: Node) -> Traffic:
    """What a call moves that is no view."""
    base = node.op.base
    if base.startswith(_NOTHING):
        return Traffic()
    func: Any = overload_named(str(node.op))
    known = facts(func) if func is not None else None
    changed = frozenset(known.written) if known is not None else frozenset()
    given = [t for t in node.output_tensors() if not t.host]
    taken = [(name, t) for name, t in node.tensors() if not t.host]
    aside = {name for name in changed if name != "self" or base in _OVERWRITE | _INTO}
    read = sum(distinct_bytes(t) for name, t in taken if name not in aside)
    written = sum(map(distinct_bytes, given))
    if base in _LOOKUPS and taken:
        read = _all(t for _, t in taken[1:]) + min(distinct_bytes(taken[0][1]), written)
    elif base in _INTO:
        written = min(written, max((distinct_bytes(t) for _, t in taken[1:]), default=written))
    if not given:
        written = sum(distinct_bytes(t) for name, t in taken if name in changed)
    everything = (*given, *(t for _, t in taken))
    most = max((t.numel for t in everything), default=0)
    return Traffic(read, written, 0 if base in _ONLY_MOVE else most)


def _all(tensors: Iterable[TensorMeta]) -> int:
    return sum(map(distinct_bytes, tensors))


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
