"""What the page of one operator says: its overloads, where each fares alike, and conditions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from opcheck.model.database import Explanation
from opcheck.model.matrix import Choice, Condition
from opcheck.model.target import Target
from opcheck.model.trace import OpName
from opcheck.resolve.explain import explain
from tools.site.dtypes import Dtypes
from tools.site.histories import History
from tools.site.known import LETTERS, Known, by_vendor

_ANY = Target("", "", "", "", "")


class Group(Struct, frozen=True):
    """Targets on which an overload has the same verdict for the same reason."""

    targets: tuple[Target, ...]
    explanation: Explanation
    """As for each of them, without the target, its releases and conditions."""


class Way(Struct, frozen=True):
    """What an overload runs as where it has no kernel, and on which device types."""

    devices: tuple[str, ...]
    recorded_on: str
    """The device type on which the branches were recorded."""
    choices: tuple[Choice, ...]
    branches: tuple[tuple[str, ...], ...]


class Overload(Struct, frozen=True):
    """One overload on every target of which the database says something."""

    op: str
    groups: tuple[Group, ...]
    ways: tuple[Way, ...]
    torch_range: tuple[str, str] | None
    package: str
    like: str = ""
    """An overload that has the same verdicts in as many groups, for what that one's reasons say."""


class Cell(Struct, frozen=True):
    """One overload on the targets of a row."""

    letter: str
    group: int
    changes: tuple[tuple[str, str], ...]
    """(release, letter) from the oldest to the newest; () where nothing changed."""
    dtypes: tuple[tuple[str, str], ...]
    """(dtype, letter) of calls with such tensors, where the verdict is another one."""


class Row(Struct, frozen=True):
    """Targets of one vendor that fare alike in every overload, in every release."""

    vendor: str
    targets: tuple[Target, ...]
    cells: tuple[Cell | None, ...]
    """One for each overload; None where nothing is said of it there."""


class Stated(Struct, frozen=True):
    """Conditions with one text and source, and where they hold."""

    conditions: tuple[Condition, ...]
    holds: tuple[tuple[tuple[str, ...], tuple[Target, ...]], ...]
    """Overloads, and the targets on which they have it."""


class Operator(Struct, frozen=True):
    """One operator with all of its overloads."""

    base: str
    overloads: tuple[Overload, ...]
    rows: tuple[Row, ...]
    stated: tuple[Stated, ...]


class Operators:
    """Makes the pages' values; holds what they share."""

    def __init__(self, known: Known, histories: Mapping[str, History]) -> None:
        self._known = known
        self._histories = histories
        self._dtypes = Dtypes(known)
        self._everywhere = frozenset(
            id(one) for target in known.targets for one in conditions_of_all(known, target)
        )
        """Conditions that hold for every operator of a target, which its page has."""

    def operator(self, base: str) -> Operator:
        """Everything that the page of an operator says."""
        found = {op: self._explained(op) for op in self._known.bases[base]}
        overloads = _alike(_overload(op, explained) for op, explained in found.items())
        return Operator(
            base,
            overloads,
            tuple(self._rows(overloads, found)),
            tuple(_stated(found, self._everywhere)),
        )

    def _explained(self, op: str) -> Mapping[Target, Explanation]:
        known = self._known
        some = (t for t in known.targets if op in known.of_target[t.name])
        return {target: self.explained(op, target) for target in some}

    def explained(self, op: str, target: Target) -> Explanation:
        """What ``opcheck explain`` says, without the releases that register the overload.

        Histories have those, with the verdict in each of them.
        """
        known = self._known
        branches = known.branches(target)
        found = explain(
            OpName.parse(op), known.matrix(target), known.operators, branches, known.torch, ()
        )
        on = known.database.tables.recorded_on(known.torch, target.device_type)
        return replace(found, recorded_on=on if op in branches else "")

    def _rows(
        self,
        overloads: Sequence[Overload],
        found: Mapping[str, Mapping[Target, Explanation]],
    ) -> Iterator[Row]:
        kept: dict[tuple[str, tuple[Condition, ...]], tuple[tuple[str, str], ...]] = {}
        for vendor, targets in by_vendor(self._known.targets).items():
            alike: dict[tuple[Cell | None, ...], list[Target]] = {}
            for target in targets:
                cells = tuple(
                    self._cell(overload, target, found[overload.op].get(target), kept)
                    for overload in overloads
                )
                if any(cells):
                    alike.setdefault(cells, []).append(target)
            for cells, some in alike.items():
                yield Row(vendor, tuple(some), cells)

    def _cell(
        self,
        overload: Overload,
        target: Target,
        found: Explanation | None,
        kept: dict[tuple[str, tuple[Condition, ...]], tuple[tuple[str, str], ...]],
    ) -> Cell | None:
        if found is None:
            return None
        place = next(i for i, group in enumerate(overload.groups) if target in group.targets)
        changes = self._histories[target.name].changes(overload.op)
        key = (f"{overload.op} {place}", found.conditions)
        if key not in kept:
            kept[key] = tuple(self._dtypes.differing(overload.op, target, found.verdict).items())
        return Cell(LETTERS[found.verdict], place, changes if len(changes) > 1 else (), kept[key])


def _overload(op: str, found: Mapping[Target, Explanation]) -> Overload:
    alike: dict[Explanation, list[Target]] = {}
    ways: dict[tuple[object, ...], list[str]] = {}
    for target, said in found.items():
        bare = replace(
            said, target=_ANY, conditions=(), branches=(), choices=(), torch_range=None,
            recorded_on="",
        )  # fmt: skip
        alike.setdefault(bare, []).append(target)
        if said.branches or said.choices:
            way = (said.recorded_on, said.choices, said.branches)
            ways.setdefault(way, []).append(target.device_type)
    groups = [Group(tuple(targets), said) for said, targets in alike.items()]
    groups.sort(key=lambda group: (group.explanation.verdict.rank, -len(group.targets)))
    first = next(iter(found.values()))
    return Overload(
        op,
        tuple(groups),
        tuple(_way(way, devices) for way, devices in ways.items()),
        first.torch_range,
        next((said.package for said in found.values() if said.package), ""),
    )


def _alike(overloads: Iterable[Overload]) -> tuple[Overload, ...]:
    """Overloads, of which a later one names the first that fares on every target as it does."""
    first: dict[tuple[object, ...], str] = {}
    marked: list[Overload] = []
    for one in overloads:
        key = tuple(
            (group.targets, group.explanation.verdict, group.explanation.reason.code)
            for group in one.groups
        )
        marked.append(replace(one, like=first.get(key, "")))
        first.setdefault(key, one.op)
    return tuple(marked)


def _way(way: tuple[object, ...], devices: Iterable[str]) -> Way:
    recorded_on, choices, branches = way
    return Way(tuple(dict.fromkeys(devices)), recorded_on, choices, branches)  # type: ignore[arg-type]  # as they were put together


def conditions_of_all(known: Known, target: Target) -> tuple[Condition, ...]:
    """What holds for every overload on a target."""
    return known.matrix(target).conditions.get("*", ())


def _stated(
    found: Mapping[str, Mapping[Target, Explanation]], everywhere: frozenset[int]
) -> Iterator[Stated]:
    """Every condition of these overloads once, what makes most of a difference first."""
    holds: dict[tuple[Condition, ...], dict[str, list[Target]]] = {}
    for op, of_target in found.items():
        for target, said in of_target.items():
            own = [c for c in shown_conditions(said) if id(c) not in everywhere]
            for alike in _together(own):
                holds.setdefault(alike, {}).setdefault(op, []).append(target)
    for conditions in sorted(holds, key=lambda some: -some[0].verdict.rank):
        places: dict[tuple[Target, ...], list[str]] = {}
        for op, targets in holds[conditions].items():
            places.setdefault(tuple(targets), []).append(op)
        yield Stated(conditions, tuple((tuple(ops), where) for where, ops in places.items()))


def _together(conditions: Iterable[Condition]) -> Sequence[tuple[Condition, ...]]:
    """Conditions with one text, verdict and source together, as the report of explain has them."""
    said: dict[object, list[Condition]] = {}
    for condition in conditions:
        key = (condition.text, condition.verdict, condition.confidence, condition.evidence)
        said.setdefault(key, []).append(condition)
    return list(map(tuple, said.values()))


def shown_conditions(found: Explanation) -> tuple[Condition, ...]:
    """Those that say more than the reason of the verdict does."""
    return tuple(c for c in found.conditions if c.predicates or c.code != found.reason.code)
