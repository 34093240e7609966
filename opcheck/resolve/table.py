"""Uses of a saved graph made into nodes from tables, without torch, and whether that suffices."""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Protocol

from msgspec.structs import replace

from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.predicates import (
    ANY,
    ArgumentValue,
    Dtype,
    Numel,
    Offset,
    OneOf,
    Outside,
    Predicate,
    Rank,
    Unlike,
)
from opcheck.model.trace import Composite, Node, OpName
from opcheck.model.verdict import Verdict
from opcheck.resolve.resolution import CHOSEN, PLAIN
from opcheck.resolve.saved_calls import inner_product, not_reached, runs_as
from opcheck.resolve.walk import Walk

Branches = Mapping[str, tuple[tuple[str, ...], ...]]
"""Overload -> every way its composite was seen to go, each the overloads it calls, sorted;
``overload|bool`` for one class of dtypes (:attr:`Node.dtype_class`), where that has fewer ways."""


class Facts(Protocol):
    """What a table of operators says of one overload."""

    @property
    def composite(self) -> Composite | None:
        """The composite kernel that a device without its own inherits."""

    @property
    def cpu_kernel(self) -> bool:
        """Whether a CPU can run it."""


class TableNodes:
    """Gives each distinct call a node whose children come from the recorded branches.

    Several branches are taken together: what is native whichever way it goes is decided, anything
    else is left to a trace.
    """

    def __init__(self, operators: Mapping[str, Facts], branches: Branches) -> None:
        self._operators = operators
        self._branches = branches
        self._inner: dict[str, int] = {}
        self._outer: dict[Node, int] = {}
        self.nodes: list[Node] = []

    def of(self, call: Node) -> int:
        """Index of the node for a call that knows only its operator, arguments and outputs."""
        index = self._outer.get(call)
        if index is None:
            node = self._completed(call)
            index = self._outer[call] = len(self.nodes)
            self.nodes.append(node)
        return index

    def _completed(self, call: Node) -> Node:
        name = str(call.op)
        facts = self._operators.get(name)
        if facts is None:
            kind = Composite.IMPLICIT if call.op.namespace == "aten" else None
            note = "no table has this overload"
            return replace(call, composite=kind, cpu_kernel=False, children=None, note=note)
        known = replace(call, composite=facts.composite, cpu_kernel=facts.cpu_kernel)
        if facts.composite is None:
            return known
        inner = runs_as(call)
        if inner is not None:
            return replace(known, children=tuple((self.of(one), 1) for one in inner))
        branches = self._branches.get(f"{name}|{call.dtype_class}", self._branches.get(name))
        if branches is None:
            return replace(known, children=None, note="no table says what it runs as")
        below = sorted({op for branch in branches for op in branch} - not_reached(call))
        product = inner_product(call)
        inside = {} if product is None else {str(product.op): product}
        children = (self.of(inside[op]) if op in inside else self._child(op) for op in below)
        return replace(known, children=tuple((child, 1) for child in children))

    def _child(self, op: str) -> int:
        index = self._inner.get(op)
        if index is None:
            index = self._inner[op] = len(self.nodes)
            bare = Node(OpName.parse(op), ())
            self.nodes.append(bare)
            self.nodes[index] = self._completed(bare)
        return index


def decided(nodes: list[Node], roots: Iterable[int], matrix: SupportMatrix, torch: str) -> bool:
    """Whether tables alone settle every one of the calls on a target.

    So it is where each call is registered, or runs as registered overloads whichever branch it
    takes, and no condition on those could match the call's own tensors.
    """
    walk = Walk(nodes, matrix, torch)
    return all(_settled(nodes, root, walk, matrix) for root in roots)


def _settled(nodes: list[Node], root: int, walk: Walk, matrix: SupportMatrix) -> bool:
    node = nodes[root]
    if _offset_missing(node, matrix):
        return False
    if str(node.op) in matrix.entries:
        return True
    known = node.children is not None or str(node.op) in matrix.extensions
    if node.composite not in matrix.inherits and (known or node.composite is not None):
        return True  # registered nowhere and not taken apart: fallback or error, nothing to record
    if node.children and all(nodes[child].arguments for child, _ in node.children):
        return all(_settled(nodes, child, walk, matrix) for child, _ in node.children)
    resolution = walk.resolution(root)
    if resolution.verdict not in (Verdict.NATIVE, Verdict.DECOMPOSED):
        return False
    whole = bool(node.arguments) and not node.children
    if resolution.code == CHOSEN or (whole and str(node.op) in matrix.choices):
        return True  # what is asked for instead was compared with the call's own arguments
    if resolution.code not in PLAIN:
        return False
    return not any(
        _might_hold(condition, node)
        for leaf in resolution.leaves
        for condition in matrix.conditions_for(leaf)
    )


def _offset_missing(node: Node, matrix: SupportMatrix) -> bool:
    """Whether a condition asks where a tensor begins in its storage, and the file does not say."""
    if all(tensor.offset is not None for _, tensor in node.tensors()):
        return False
    conditions = matrix.conditions_for(str(node.op))
    return any(isinstance(p, Offset) for condition in conditions for p in condition.predicates)


_RANK_MARGIN = 2
"""How many dimensions an inner tensor may have more or fewer than those of the outer call."""
_ELEMENTS_MARGIN = 1024
"""How many times as many elements an inner tensor may have as the largest of the outer call."""


def _might_hold(condition: Condition, outer: Node) -> bool:
    """Whether a condition on an inner call could hold, given the outer call only."""
    return all(_might_match(predicate, outer) for predicate in condition.predicates)


def _might_match(predicate: Predicate, outer: Node) -> bool:
    if isinstance(predicate.bound, Unlike):
        return True  # which arguments the inner call has is not known
    tensors = (*(t for _, t in outer.tensors()), *outer.output_tensors())
    match predicate:
        case Dtype():
            moved = (replace(tensor, host=False) for tensor in tensors)  # inside, it may be
            inner = Node(outer.op, tuple(("any", tensor) for tensor in moved))
            return replace(predicate, argument=ANY).match(inner) is not None
        case Rank(bound=Outside(minimum, maximum)):
            ranks = [len(t.shape) for t in tensors]
            low, high = min(ranks, default=0) - _RANK_MARGIN, max(ranks, default=0) + _RANK_MARGIN
            below = minimum is not None and low < minimum
            return below or (maximum is not None and high > maximum)
        case Numel(bound=Outside(minimum=None, maximum=most)) if most is not None:
            largest = max((prod(t.shape) for t in tensors), default=0)
            return largest * _ELEMENTS_MARGIN > most
        case ArgumentValue(bound=OneOf()):
            return replace(predicate, argument=ANY).match(outer) is not None
        case _:
            return True
