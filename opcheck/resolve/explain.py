"""One overload on one target, without a model."""

from collections.abc import Mapping, Sequence

from opcheck.model.explanation import Explanation
from opcheck.model.matrix import SupportMatrix
from opcheck.model.names import OpName
from opcheck.model.report import Reason
from opcheck.model.trace import Node
from opcheck.resolve.table import Branches, Facts, TableNodes
from opcheck.resolve.walk import Walk


def explain(
    op: OpName,
    matrix: SupportMatrix,
    operators: Mapping[str, Facts],
    branches: Branches,
    torch_version: str,
    registered_in: Sequence[str],
) -> Explanation:
    """Say how a use of ``op`` on floats fares that meets no condition, and which there are."""
    name = str(op)
    table = TableNodes(operators, _of_floats(branches))
    root = table.of(Node(op, ()))
    fate = Walk(table.nodes, matrix, torch_version).fate(root)
    entry = matrix.entries.get(name)
    return Explanation(
        target=matrix.target,
        op=name,
        verdict=fate.verdict,
        confidence=fate.confidence,
        reason=Reason(fate.code, fate.text),
        implementation=entry.implementation if entry else (),
        package=entry.package if entry else "",
        conditions=matrix.conditions_for(name),
        evidence=fate.evidence,
        branches=_floats_first(name, branches),
        choices=matrix.choices.get(name, ()),
        registered_in=tuple(registered_in),
        torch_range=matrix.history.get(name),
    )


def _of_floats(branches: Branches) -> Branches:
    """The ways that composites go for floating-point tensors."""
    return {op: branches.get(f"{op}|float", ways) for op, ways in branches.items()}


def _floats_first(name: str, branches: Branches) -> tuple[tuple[str, ...], ...]:
    """Every way of one composite, what most calls take first."""
    ways = branches.get(name, ())
    of_floats = branches.get(f"{name}|float", ways)
    return tuple(sorted(ways, key=lambda way: (way not in of_floats, len(way), way)))
