"""Which overloads a target refuses because of how they are used, wherever a trace reaches them."""

from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Node, Phase, Trace
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.collectives import NAMESPACE, collective, dtypes_of
from opcheck.resolve.conditions import matches
from opcheck.resolve.fate import NO_DTYPE
from opcheck.resolve.mixed import mixes_host


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
