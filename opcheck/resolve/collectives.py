"""How collectives resolve, and which overloads a target refuses because of their use."""

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Collective, Reduction, SupportMatrix
from opcheck.model.trace import Constant, Node, Phase, Trace
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.conditions import matches
from opcheck.resolve.kernels import mixes_host
from opcheck.resolve.resolution import NO_DTYPE, NO_REDUCTION, Resolution

NAMESPACE = "c10d"
SENDS_NOTHING = frozenset({"c10d::barrier", "c10d::monitored_barrier_"})
"""Operators whose tensor only names the device."""
_USUAL = frozenset({"bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8"})
"""What the table of every backend that was read has: so much is taken for known of the others."""


class Sent(Struct, frozen=True):
    """What a collective is given."""

    dtypes: frozenset[str] = frozenset()
    """Those of its tensors; none: the question is about the operator as such."""
    reduction: str = ""
    """``SUM``, ``AVG``, …; "" where it does not reduce, or nobody knows how."""


def sent_by(node: Node) -> Sent:
    """What a recorded collective is given."""
    dtypes = frozenset(tensor.dtype for _, tensor in node.tensors())
    for _, value in node.arguments:
        if isinstance(value, Constant) and value.kind == "reduction":
            return Sent(dtypes, value.value)
    return Sent(dtypes)


def collective(op: str, matrix: SupportMatrix, sent: Sent | None = None) -> Resolution:
    """What becomes of a ``c10d`` operator on a target; there is no way over the host."""
    sent = sent or Sent()
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
    limit = None if op in SENDS_NOTHING else _limit(op, known, sent)
    if known.has and limit is not None:
        return limit
    if known.has:
        had = tuple(fact for row in _had(known, sent) for fact in row.evidence)
        text = Sentence(
            "{backend} has {method}, which PyTorch hands {op} to",
            backend=known.backend, method=known.method, op=op,
        )  # fmt: skip
        evidence = tuple(dict.fromkeys((*known.evidence, *had)))
        return Resolution(Verdict.NATIVE, codes.COLLECTIVE, text, sure, evidence)
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


def _limit(op: str, known: Collective, sent: Sent) -> Resolution | None:
    """What stops what it is given, or may do so; None where all of it is sent and reduced."""
    found = [_by_dtype(op, known, sent), _by_reduction(op, known, sent)]
    return max((limit for limit in found if limit), key=lambda limit: limit.severity, default=None)


def _by_dtype(op: str, known: Collective, sent: Sent) -> Resolution | None:
    """What becomes of it for the dtypes of its tensors; None where all of them are sent."""
    table = known.transfers
    for dtype in sorted(sent.dtypes):
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


def _by_reduction(op: str, known: Collective, sent: Sent) -> Resolution | None:
    """What becomes of it for its reduction; None where the backend has that for each dtype."""
    if not sent.reduction:
        return None
    answers = [_reduced(op, known, sent.reduction, dtype) for dtype in sorted(sent.dtypes)]
    limits = [answer for answer in answers if answer is not None]
    return max(limits, key=lambda limit: limit.severity, default=None)


def _reduced(op: str, known: Collective, name: str, dtype: str) -> Resolution | None:
    row = next((row for row in known.reductions if row.covers(name, dtype)), None)
    if row is not None and row.has:
        return None
    if row is None and not known.reductions and name == "SUM":
        return None  # of a backend whose reductions nobody has read, so much is taken for known
    if row is None:
        text = Sentence(
            "nobody has said whether {backend} has the reduction {name} for {dtype}, which {op} "
            "asks for",
            backend=known.backend, name=name, dtype=dtype, op=op,
        )  # fmt: skip
        return Resolution(Verdict.UNKNOWN, codes.REDUCTION_NOT_KNOWN, text)
    text = Sentence(
        "{method} of {backend} does not support the reduction {name} for {dtype}, which {op} "
        "asks for",
        method=known.method, backend=known.backend, name=name, dtype=dtype, op=op,
    )  # fmt: skip
    return Resolution(Verdict.UNSUPPORTED, NO_REDUCTION, text, _sureness(row), row.evidence)


def _had(known: Collective, sent: Sent) -> list[Reduction]:
    """The rows by which a backend has what it is asked to reduce."""
    found = [
        next((row for row in known.reductions if row.covers(sent.reduction, dtype)), None)
        for dtype in sorted(sent.dtypes)
    ]
    return [row for row in found if row is not None]


def _sureness(row: Reduction) -> Confidence:
    """How sure a row is: code that raises is surer than a document's list."""
    registered = any(fact.method is Method.REGISTERED for fact in row.evidence)
    return Confidence.HIGH if registered else Confidence.MEDIUM


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
        return collective(op, matrix, sent_by(node)).code in (NO_DTYPE, NO_REDUCTION)
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
