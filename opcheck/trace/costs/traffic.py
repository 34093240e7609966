"""Bytes that one call reads and writes, and the values that it computes."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from opcheck.model.trace import DTYPE_BYTES, Node, OpName, TensorMeta
from opcheck.trace.dispatcher import facts, overload_named

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
