"""What the dispatcher's rule looked at for one call, and one overload without a model."""

from collections.abc import Iterator, Mapping, Sequence

from opcheck.lang.sentence import Sentence
from opcheck.model.database import Explanation
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Reason
from opcheck.model.trace import Node, OpName
from opcheck.resolve import resolution as codes
from opcheck.resolve.backend_table import table_of
from opcheck.resolve.table import Branches, Facts, TableNodes
from opcheck.resolve.walk import Walk

DEEPEST = 3
"""How far the worst of what a call runs as is followed."""
_PLAINLY = frozenset({codes.REGISTERED, codes.COLLECTIVE, codes.NO_DEVICE_WORK})
"""Codes of calls that run as themselves, or as nothing: there is no more to follow."""


def steps(walk: Walk, node: Node, *, taken_apart: bool = False) -> tuple[str, ...]:
    """One short line for each question: kernel, branch, composite, host fallback, conditions.

    ``taken_apart`` says that autograd took the call apart before the device was reached.
    """
    if taken_apart:
        return "autograd: takes it apart before the device is reached", _conditions(walk, node)
    return tuple(_steps(walk, node, DEEPEST))


def _steps(walk: Walk, node: Node, depth: int) -> Iterator[str]:
    for step in walk.steps(node):
        yield step.line
        parts = [part for part in step.parts if part[0] is not node]
        worst, resolution, _ = max(
            parts, key=lambda part: part[1].severity, default=(node, None, 0)
        )
        if depth and resolution is not None and resolution.code not in _PLAINLY:
            below = _steps(walk, worst, depth - 1)
            yield from (Sentence("{op} > {said}", op=str(worst.op), said=line) for line in below)
    if step.resolution is None or step.resolution.code != codes.HOST_TENSOR:
        yield _conditions(walk, node)


def _conditions(walk: Walk, node: Node) -> str:
    """How many conditions are known for the operator, and which of them hold for the call."""
    known = len(walk.matrix.conditions_for(str(node.op)))
    if not known:
        return "conditions: none is known for it"
    holding = [condition.code for condition, _ in walk.matched(node, walk.plain(node))]
    if not holding:
        return Sentence("conditions: none of {count} holds for this call", count=known)
    codes_met = ", ".join(sorted(holding))
    return Sentence(
        "conditions: of {count} known, this call meets {list}", count=known, list=codes_met
    )


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
    table = TableNodes(operators, branches_of_floats(branches))
    root = table.of(Node(op, ()))
    resolution = Walk(table.nodes, matrix, torch_version).resolution(root)
    entry = matrix.entries.get(name)
    return Explanation(
        target=matrix.target,
        op=name,
        verdict=resolution.verdict,
        confidence=resolution.confidence,
        reason=Reason(resolution.code, resolution.text),
        implementation=entry.implementation if entry else (),
        package=entry.package if entry else "",
        conditions=matrix.conditions_for(name),
        evidence=resolution.evidence,
        branches=_floats_first(name, branches),
        choices=matrix.choices.get(name, ()),
        backend=table_of(name, matrix),
        registered_in=tuple(registered_in),
        torch_range=matrix.history.get(name),
    )


def branches_of_floats(branches: Branches) -> Branches:
    """The ways that composites go for floating-point tensors."""
    return _OfFloats(branches)


class _OfFloats(Mapping[str, tuple[tuple[str, ...], ...]]):
    """The ways that composites go for floating-point tensors, each looked up when it is asked for.

    A table has thousands, of which one overload needs a few.
    """

    def __init__(self, branches: Branches) -> None:
        self._branches = branches

    def __getitem__(self, op: str) -> tuple[tuple[str, ...], ...]:
        found = self._branches.get(f"{op}|float")
        return self._branches[op] if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._branches)

    def __len__(self) -> int:
        return len(self._branches)


def _floats_first(name: str, branches: Branches) -> tuple[tuple[str, ...], ...]:
    """Every way of one composite, what most calls take first."""
    ways = branches.get(name, ())
    of_floats = branches.get(f"{name}|float", ways)
    return tuple(sorted(ways, key=lambda way: (way not in of_floats, len(way), way)))
