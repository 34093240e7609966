"""What a target has for sparse tensors, whose kernels have a dispatch key of their own."""

from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Constant, Node, Value
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.resolution import Resolution, Step

_LAYOUT = "sparse_"
_GIVE_ANOTHER = frozenset({"to_sparse", "_to_sparse"})
"""Operators whose argument ``layout`` is that of the result, and no option of a new tensor."""


def layout_of(node: Node) -> str:
    """The sparse layout that decides which kernel a call asks for; "" where none does.

    It is that of a tensor that is given, or the option of one that is made.
    """
    makes = node.op.base not in _GIVE_ANOTHER
    found = (
        value.value
        for _, given in node.arguments
        for value in _constants(given)
        if value.value.startswith(_LAYOUT) and (value.kind == "other" or makes)
    )
    return next(found, "")


def _constants(value: Value) -> Iterator[Constant]:
    if isinstance(value, Constant):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _constants(item)


def kernel_of(node: Node, layout: str, matrix: SupportMatrix) -> Step:
    """Answer whether the target has a kernel for tensors of the layout; open where it has none."""
    op, known = str(node.op), matrix.sparse.get(layout)
    evidence = known.kernels.get(op) if known else None
    if evidence is None:
        text = "kernel: none is registered for {op} of {layout} tensors"
        return Step(Sentence(text, op=op, layout=layout))
    text = "the vendor registers a kernel for {op} of {layout} tensors"
    said = Sentence(text, op=op, layout=layout)
    found = Resolution(Verdict.NATIVE, codes.REGISTERED, said, evidence=(evidence,))
    text = "kernel: registered for {op} of {layout} tensors"
    return Step(Sentence(text, op=op, layout=layout), found)


def without_kernel(node: Node, layout: str, matrix: SupportMatrix) -> Step:
    """What becomes of a call that neither a kernel nor a composite takes: it raises, or who knows.

    Fallbacks to the host are registered for dense tensors.
    """
    op, known = str(node.op), matrix.sparse.get(layout)
    vendor = matrix.target.vendor
    if known is None or op in known.unclear:
        text = "nobody has said whether {vendor} has a kernel for {op} of {layout} tensors"
        said = Sentence(text, vendor=vendor, op=op, layout=layout)
        return Step(
            Sentence("host: not known for {layout} tensors", layout=layout),
            Resolution(Verdict.UNKNOWN, codes.SPARSE_NOT_KNOWN, said, Confidence.LOW),
        )
    text = "{vendor} registers no kernel for {op} of {layout} tensors"
    said = Sentence(text, vendor=vendor, op=op, layout=layout)
    code = codes.NO_SPARSE_KERNEL if op in matrix.entries else codes.NO_KERNEL
    return Step(
        Sentence("host: a fallback takes no {layout} tensors", layout=layout),
        Resolution(Verdict.UNSUPPORTED, code, said, evidence=known.listed),
    )
