"""How calls fare whose tensors all have one dtype, by conditions that look at dtypes alone."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from opcheck.model.matrix import Condition, Entry, SupportMatrix
from opcheck.model.predicates import ANY, RETURN, Dtype
from opcheck.model.target import Target
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import matches
from opcheck.resolve.explain import branches_of_floats
from opcheck.resolve.table import TableNodes
from opcheck.resolve.walk import Walk
from tools.site.known import LETTERS, Known

DTYPES = (
    "float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8",
    "bool", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
"""Those that a page can be filtered by."""


class Dtypes:
    """Asks the dispatcher's walk about calls with each dtype; what it was asked before is kept."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def differing(self, op: str, target: Target, verdict: Verdict) -> Mapping[str, str]:
        """Give for a dtype the letter of the verdict on such a call, where that is not ``verdict``.

        Conditions that look at anything beside dtypes are left out, since they hold for some of
        these calls alone.
        """
        matrix = self._known.matrix(target)
        conditions = tuple(filter(_of_dtypes_alone, matrix.conditions_for(op)))
        if not any(condition.predicates for condition in conditions):
            return {}
        narrowed = _with_conditions(op, conditions, matrix)
        calls = {dtype: _call(op, conditions, dtype) for dtype in DTYPES}
        met = {dtype: _met(conditions, call) for dtype, call in calls.items()}
        first = {which: dtype for dtype, which in reversed(met.items())}
        said = {which: self._verdict(calls[dtype], narrowed) for which, dtype in first.items()}
        return {
            dtype: LETTERS[said[which]]
            for dtype, which in met.items()
            if said[which] is not verdict
        }

    def _verdict(self, call: Node, matrix: SupportMatrix) -> Verdict:
        branches = branches_of_floats(self._known.branches(matrix.target))
        table = TableNodes(self._known.operators, branches)
        place = table.of(call)
        return Walk(table.nodes, matrix, self._known.torch).resolution(place).verdict


def _met(conditions: tuple[Condition, ...], call: Node) -> tuple[int, ...]:
    """The places of the conditions that hold for a call."""
    return tuple(i for i, one in enumerate(conditions) if matches(one, call) is not None)


def _of_dtypes_alone(condition: Condition) -> bool:
    return all(isinstance(predicate, Dtype) for predicate in condition.predicates)


def _with_conditions(
    op: str, conditions: tuple[Condition, ...], matrix: SupportMatrix
) -> SupportMatrix:
    """The matrix with these conditions alone for an overload, its entry's own included."""
    entry = matrix.entries.get(op)
    entries = matrix.entries
    if entry is not None and entry.conditions:
        entries = _WithOne(op, replace(entry, conditions=()), entries)
    return replace(matrix, entries=entries, conditions={op: conditions})


class _WithOne(Mapping[str, Entry]):
    """Entries of which one is another; the others are looked up where they are."""

    def __init__(self, op: str, entry: Entry, others: Mapping[str, Entry]) -> None:
        self._op, self._entry, self._others = op, entry, others

    def __getitem__(self, op: str) -> Entry:
        return self._entry if op == self._op else self._others[op]

    def __contains__(self, op: object) -> bool:
        return op in self._others

    def __iter__(self) -> Iterator[str]:
        return iter(self._others)

    def __len__(self) -> int:
        return len(self._others)


def _call(op: str, conditions: tuple[Condition, ...], dtype: str) -> Node:
    """A call whose tensors all have a dtype, with the arguments that the conditions look at."""
    tensor = TensorMeta(dtype, (2, 2), (2, 1))
    names = {
        predicate.argument for condition in conditions for predicate in condition.predicates
    } - {ANY, RETURN}
    arguments = tuple((name, tensor) for name in sorted(names or {"self"}))
    return Node(OpName.parse(op), arguments, (tensor,))
