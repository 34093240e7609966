"""A saved graph compared with tables alone: an exported model scanned without loading torch."""

from collections import Counter
from collections.abc import Sequence

from opcheck.db.store import Database
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Node, Trace, Use
from opcheck.resolve.table import TableNodes, decided
from opcheck.source.pt2.graph import GraphCall, GraphTrace


def trace_of(
    graph: GraphTrace, database: Database, matrices: Sequence[SupportMatrix]
) -> Trace | None:
    """Give the trace of a saved graph; None where its tables leave a call open on some target.

    The tables tell how composites go on PrivateUse1; where a target's device goes another way its
    matrix says so, and any device type will do.
    """
    device_type = matrices[0].target.device_type
    branches = database.composites(graph.torch_version, device_type)
    table = TableNodes(database.operators(graph.torch_version), branches)
    uses: Counter[tuple[int, str, str, int]] = Counter()
    order: dict[tuple[int, str, str, int], int] = {}
    sequence = []
    for call in graph.calls:
        node = table.of(_node(call))
        key = (node, call.module, call.file, call.line)
        uses[key] += 1
        sequence.append(order.setdefault(key, len(order)))
    roots = sorted({node for node, *_ in order})
    if not all(decided(table.nodes, roots, matrix, graph.torch_version) for matrix in matrices):
        return None
    return Trace(
        torch_version=graph.torch_version,
        device_type=device_type,
        mode="inference",
        nodes=tuple(table.nodes),
        uses=tuple(Use(*key, count=uses[key]) for key in order),
        sequence=tuple(sequence),
        gaps=graph.gaps,
        modules_not_called=graph.modules_not_called,
        notes=("read from the saved graph and tables; torch was not loaded",),
    )


def _node(call: GraphCall) -> Node:
    return Node(call.op, call.arguments, call.outputs, data_dependent=call.data_dependent)
