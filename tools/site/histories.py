"""How every overload fares in every release of a target, as one letter a release."""

from collections.abc import Mapping

from msgspec import Struct

from opcheck.model.target import Target
from opcheck.model.trace import Node, OpName
from opcheck.resolve.explain import branches_of_floats
from opcheck.resolve.table import TableNodes
from opcheck.resolve.walk import Walk
from tools.site.known import ABSENT, LETTERS, Known


class History(Struct, frozen=True):
    """One target through its releases."""

    target: str
    releases: tuple[str, ...]
    """Oldest first."""
    verdicts: Mapping[str, str]
    """Overload -> a letter for each release."""

    def changes(self, op: str) -> tuple[tuple[str, str], ...]:
        """(release, letter) wherever the verdict is another one than before; the first included."""
        letters = self.verdicts.get(op, ABSENT * len(self.releases))
        pairs = list(zip(self.releases, letters, strict=True))
        return tuple(pair for i, pair in enumerate(pairs) if i == 0 or pair[1] != pairs[i - 1][1])


class Tables:
    """The nodes of every overload by device type, which all targets of that type share."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._nodes: dict[str, tuple[TableNodes, Mapping[str, int]]] = {}

    def nodes(self, target: Target) -> tuple[TableNodes, Mapping[str, int]]:
        """The nodes for a device type, and the place of each overload in them."""
        found = self._nodes.get(target.device_type)
        if found is None:
            branches = branches_of_floats(self._known.branches(target))
            table = TableNodes(self._known.operators, branches)
            places = {op: table.of(Node(OpName.parse(op), ())) for op in self._known.overloads}
            found = self._nodes[target.device_type] = table, places
        return found


def history(name: str, known: Known, tables: Tables, *, newest_alone: bool = False) -> History:
    """The verdict of ``opcheck explain`` for each overload in each release of a target."""
    releases = known.releases(name)[-1:] if newest_alone else known.releases(name)
    columns = [_verdicts(target, known, tables) for target in releases]
    every = sorted(frozenset().union(*columns))
    return History(
        target=name,
        releases=tuple(target.sdk for target in releases),
        verdicts={op: "".join(column.get(op, ABSENT) for column in columns) for op in every},
    )


def _verdicts(target: Target, known: Known, tables: Tables) -> Mapping[str, str]:
    matrix = known.matrix(target)
    table, places = tables.nodes(target)
    walk = Walk(table.nodes, matrix, known.torch)
    return {
        op: LETTERS[walk.resolution(places[op]).verdict]
        for op in known.overloads_of(matrix)
        if op in places
    }
