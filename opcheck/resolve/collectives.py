"""The fate of a collective: PyTorch hands it to the vendor's backend, which has it or has not."""

from collections.abc import Collection

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Collective, SupportMatrix
from opcheck.model.trace import Node
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve import fate as codes
from opcheck.resolve.fate import Fate

NAMESPACE = "c10d"
_SENDS_NOTHING = frozenset({"c10d::barrier", "c10d::monitored_barrier_"})
"""Operators whose tensor only names the device."""
_USUAL = frozenset({"bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8"})
"""What the table of every backend that was read has: so much is taken for known of the others."""


def dtypes_of(node: Node) -> frozenset[str]:
    """The dtypes of the tensors that a collective is given."""
    return frozenset(tensor.dtype for _, tensor in node.tensors())


def collective(op: str, matrix: SupportMatrix, dtypes: Collection[str] = ()) -> Fate:
    """What becomes of a ``c10d`` operator on a target; there is no way over the host.

    ``dtypes`` are those of its tensors; without any, the answer is for the operator as such.
    """
    known = matrix.collectives.get(op)
    if known is None:
        text = Sentence(
            "nobody has said whether {said} has what {op} asks for",
            said=Sentence("{vendor}'s backend of torch.distributed", vendor=matrix.target.vendor),
            op=op,
        )
        return Fate(Verdict.UNKNOWN, codes.COLLECTIVE_NOT_KNOWN, text)
    inferred = all(found.method is Method.INFERRED for found in known.evidence)
    sure = Confidence.LOW if inferred else Confidence.HIGH
    sent = None if op in _SENDS_NOTHING else _by_dtype(op, known, dtypes)
    if known.has and sent is not None:
        return sent
    if known.has:
        text = Sentence(
            "{backend} has {method}, which PyTorch hands {op} to",
            backend=known.backend, method=known.method, op=op,
        )  # fmt: skip
        return Fate(Verdict.NATIVE, codes.COLLECTIVE, text, sure, known.evidence)
    if not known.backend:
        text = Sentence(
            "{vendor} has no backend of torch.distributed for this device",
            vendor=matrix.target.vendor,
        )
        return Fate(Verdict.UNSUPPORTED, codes.NO_COLLECTIVE, text, sure, known.evidence)
    text = Sentence(
        "PyTorch hands {op} to {method} of {backend}, which does not support it",
        op=op, method=known.method, backend=known.backend,
    )  # fmt: skip
    return Fate(Verdict.UNSUPPORTED, codes.NO_COLLECTIVE, text, sure, known.evidence)


def _by_dtype(op: str, known: Collective, dtypes: Collection[str]) -> Fate | None:
    """What becomes of it for the dtypes of its tensors; None where all of them are sent."""
    table = known.transfers
    for dtype in sorted(dtypes):
        if dtype in (_USUAL if table is None else table.takes):
            continue
        if table is None or dtype in table.unclear:
            text = Sentence(
                "nobody has said whether {backend} sends {dtype}, which {op} is given",
                backend=known.backend, dtype=dtype, op=op,
            )  # fmt: skip
            evidence = () if table is None else table.evidence
            return Fate(Verdict.UNKNOWN, codes.DTYPE_NOT_KNOWN, text, evidence=evidence)
        text = Sentence(
            "{backend} has no dtype for {dtype} and raises; {op} is given it",
            backend=known.backend, dtype=dtype, op=op,
        )  # fmt: skip
        return Fate(Verdict.UNSUPPORTED, codes.NO_DTYPE, text, Confidence.HIGH, table.evidence)
    return None
