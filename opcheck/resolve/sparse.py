"""What a target has for sparse tensors, whose kernels have a dispatch key of their own."""

from typing import NamedTuple

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.sparse import SparseKernels
from opcheck.model.trace import Constant, Node, Value
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.kernels import on_host
from opcheck.resolve.resolution import Resolution, Step

_LAYOUT = "sparse_"
_TAKEN = frozenset({"float32", "float64"})
"""Dtypes that kernels for sparse tensors are written for; of others no list says anything."""
_GIVE_ANOTHER = frozenset({"to_sparse", "_to_sparse"})
"""Operators whose argument ``layout`` is that of the result, and no option of a new tensor."""
_RAISE_WITHOUT = frozenset(
    f"aten::{name}"
    for name in (
        *("is_coalesced", "indices", "values", "sparse_dim", "dense_dim"),
        *("crow_indices", "col_indices", "ccol_indices", "row_indices"),
    )
)
"""Operators whose composite raises for every sparse tensor: it says that its layout is wrong."""


class Sparse(NamedTuple):
    """What decides which kernel a call asks for, beside its overload."""

    layout: str
    """As torch names it."""
    dtype: str
    """Of the tensor that is given; "" for one that is made."""


def needs_kernel(node: Node) -> bool:
    """Whether PyTorch's composite raises for a layout that there is no kernel of."""
    return str(node.op) in _RAISE_WITHOUT


def sparse_in(node: Node) -> Sparse | None:
    """The first sparse tensor that a call is given, or the layout of the one that it makes."""
    for _, value in node.arguments:
        kind = type(value)
        found = _of(value, node) if kind is Constant or kind is tuple else None
        if found is not None:
            return found
    return None


def _of(value: Value, node: Node) -> Sparse | None:
    if isinstance(value, tuple):
        return next(filter(None, (_of(item, node) for item in value)), None)
    if not isinstance(value, Constant) or not value.value.startswith(_LAYOUT):
        return None
    if value.kind != "other" and node.op.base in _GIVE_ANOTHER:
        return None
    layout, _, meta = value.value.partition(" ")
    return Sparse(layout, meta.partition("[")[0])


def kernel_of(node: Node, sparse: Sparse, matrix: SupportMatrix) -> Step:
    """Answer whether the target has a kernel for tensors of the layout; open where it has none."""
    op, (layout, dtype), known = str(node.op), sparse, matrix.sparse.get(sparse.layout)
    if known is None or (evidence := known.kernels.get(op)) is None:
        text = "kernel: none is registered for {op} of {layout} tensors"
        return Step(Sentence(text, op=op, layout=layout))
    found_inside = _inside(node, known, matrix)
    if found_inside is not None:
        return found_inside
    if dtype and dtype not in _TAKEN:
        text = (
            "the vendor registers a kernel for {op} of {layout} tensors; nobody has said whether it"
            " takes {dtype}"
        )
        said = Sentence(text, op=op, layout=layout, dtype=dtype)
        unknown = Resolution(
            Verdict.UNKNOWN, codes.SPARSE_NOT_KNOWN, said, Confidence.LOW, (evidence,)
        )
        return Step(Sentence("kernel: not known to take {dtype}", dtype=dtype), unknown)
    text = "the vendor registers a kernel for {op} of {layout} tensors"
    said = Sentence(text, op=op, layout=layout)
    by = known.listed if op in known.shared else ()
    found = Resolution(Verdict.NATIVE, codes.REGISTERED, said, evidence=(evidence, *by))
    text = "kernel: registered for {op} of {layout} tensors"
    return Step(Sentence(text, op=op, layout=layout), found)


def _inside(node: Node, known: SparseKernels, matrix: SupportMatrix) -> Step | None:
    """What becomes of a call whose kernel asks for others; None where the target has them."""
    op = str(node.op)
    inside = known.inside.get(op)
    if inside is None:
        return None
    sparse = [found for _, value in node.arguments if (found := _of(value, node)) is not None]
    asks = inside.both if inside.both and len(sparse) > 1 else inside.asks
    part = next((part for part in asks if part not in known.kernels), "")
    vendor, layout = matrix.target.vendor, sparse[0].layout
    evidence = (*inside.evidence, *known.listed)
    if not asks:
        text = "nobody has said what the kernel for {op} of {layout} tensors asks {vendor} for"
        said = Sentence(text, op=op, layout=layout, vendor=vendor)
        unknown = Resolution(
            Verdict.UNKNOWN, codes.SPARSE_NOT_KNOWN, said, Confidence.LOW, evidence
        )
        return Step(Sentence("kernel: not known what it asks for"), unknown)
    if not part:
        return None
    if part in known.on_host:
        return on_host(node, vendor, part, known.listed)
    text = (
        "the kernel for {op} of {layout} tensors is PyTorch's and asks for {part}, which {vendor}"
        " registers no kernel for"
    )
    said = Sentence(text, op=op, layout=layout, part=part, vendor=vendor)
    refused = Resolution(
        Verdict.UNSUPPORTED, codes.NO_SPARSE_KERNEL, said, evidence=evidence, about=part
    )
    return Step(Sentence("kernel: it asks for {part}, which has none", part=part), refused)


def without_kernel(node: Node, sparse: Sparse, matrix: SupportMatrix) -> Step:
    """What becomes of a call that neither a kernel nor a composite takes: it raises, or who knows.

    Fallbacks to the host are registered for dense tensors, and few vendors have another.
    """
    op, layout, known = str(node.op), sparse.layout, matrix.sparse.get(sparse.layout)
    vendor = matrix.target.vendor
    if known is None or op in known.unclear:
        text = "nobody has said whether {vendor} has a kernel for {op} of {layout} tensors"
        said = Sentence(text, vendor=vendor, op=op, layout=layout)
        return Step(
            Sentence("host: not known for {layout} tensors", layout=layout),
            Resolution(Verdict.UNKNOWN, codes.SPARSE_NOT_KNOWN, said, Confidence.LOW),
        )
    if op in known.on_host:
        return on_host(node, vendor, op, known.listed)
    text = "{vendor} registers no kernel for {op} of {layout} tensors"
    said = Sentence(text, vendor=vendor, op=op, layout=layout)
    code = codes.NO_SPARSE_KERNEL if op in matrix.entries else codes.NO_KERNEL
    return Step(
        Sentence("host: a fallback takes no {layout} tensors", layout=layout),
        Resolution(Verdict.UNSUPPORTED, code, said, evidence=known.listed),
    )
