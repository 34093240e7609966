"""How collectives resolve, and which overloads a target refuses because of their use."""

from collections.abc import Collection

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Collective, SupportMatrix
from opcheck.model.trace import Node, Phase, Trace
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.conditions import matches
from opcheck.resolve.kernels import mixes_host
from opcheck.resolve.resolution import NO_DTYPE, Resolution

NAMESPACE = "c10d"
_SENDS_NOTHING = frozenset({"c10d::barrier", "c10d::monitored_barrier_"})
"""Operators whose tensor only names the device."""
_USUAL = frozenset({"bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8"})
"""What the table of every backend that was read has: so much is taken for known of the others."""


def dtypes_of(node: Node) -> frozenset[str]:
    """The dtypes of the tensors that a collective is given."""
    return frozenset(tensor.dtype for _, tensor in node.tensors())


def collective(op: str, matrix: SupportMatrix, dtypes: Collection[str] = ()) -> Resolution:
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
        return Resolution(Verdict.UNKNOWN, codes.COLLECTIVE_NOT_KNOWN, text)
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
        return Resolution(Verdict.NATIVE, codes.COLLECTIVE, text, sure, known.evidence)
    if not known.backend:
        text = Sentence(
            "{vendor} has no backend of torch.distributed for this device",
            vendor=matrix.target.vendor,
        )
        return Resolution(Verdict.UNSUPPORTED, codes.NO_COLLECTIVE, text, sure, known.evidence)
    text = Sentence(
        "PyTorch hands {op} to {method} of {backend}, which does not support it",
        op=op, method=known.method, backend=known.backend,
    )  # fmt: skip
    return Resolution(Verdict.UNSUPPORTED, codes.NO_COLLECTIVE, text, sure, known.evidence)


def _by_dtype(op: str, known: Collective, dtypes: Collection[str]) -> Resolution | None:
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
            return Resolution(Verdict.UNKNOWN, codes.DTYPE_NOT_KNOWN, text, evidence=evidence)
        text = Sentence(
            "{backend} has no dtype for {dtype} and raises; {op} is given it",
            backend=known.backend, dtype=dtype, op=op,
        )  # fmt: skip
        return Resolution(
            Verdict.UNSUPPORTED, codes.NO_DTYPE, text, Confidence.HIGH, table.evidence
        )
    return None


def refused(trace: Trace, matrix: SupportMatrix, phase: Phase = Phase.FORWARD) -> frozenset[str]:
    """Give every overload that a phase asks for, or runs through, in a way the target refuses."""
    found: set[str] = set()
    seen: set[int] = set()
    todo = [use.node for use in trace.uses if use.phase is phase]
    while todo:
        index = todo.pop()
        if index in seen:
            continue
        seen.add(index)
        node = trace.nodes[index]
        if _refuses(node, matrix):
            found.add(str(node.op))
        if matrix.takes_apart(str(node.op), node.composite):
            todo += [child for child, _ in node.children or ()]
    apart = (trace.nodes[use.node] for use in trace.taken_apart if use.phase is phase)
    return frozenset(found.union(str(node.op) for node in apart if _refuses(node, matrix)))


def _refuses(node: Node, matrix: SupportMatrix) -> bool:
    op = str(node.op)
    if node.op.namespace == NAMESPACE:
        return collective(op, matrix, dtypes_of(node)).code == NO_DTYPE
    # what a composite runs as is looked at for what holds everywhere, not the composite itself
    inside = matrix.takes_apart(op, node.composite)
    if mixes_host(node, inside=inside):
        return True
    conditions = matrix.conditions.get(op, ()) if inside else matrix.conditions_for(op)
    leaves = op not in matrix.entries and not inside and _on_host(node, matrix)
    return any(
        condition.verdict is Verdict.UNSUPPORTED
        and (condition.confidence is Confidence.HIGH or not leaves)
        and matches(condition, node) is not None
        for condition in conditions
    )


def _on_host(node: Node, matrix: SupportMatrix) -> bool:
    """Whether the vendor's fallback runs what has no kernel."""
    on_cpu = matrix.extensions.get(str(node.op), node.cpu_kernel)
    return bool(matrix.fallback.elsewhere) or (matrix.fallback.to_cpu and on_cpu)
