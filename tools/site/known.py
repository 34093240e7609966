"""What the pages are about: the database opened once, its targets and every overload."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from opcheck.db.store import Database
from opcheck.db.tables import OperatorFacts
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import Target, TargetKind
from opcheck.model.verdict import Verdict
from opcheck.pipeline.database import open_database
from opcheck.resolve.table import Branches

LETTERS: Mapping[Verdict, str] = {
    Verdict.NATIVE: "n",
    Verdict.DECOMPOSED: "d",
    Verdict.FALLBACK: "f",
    Verdict.UNSUPPORTED: "u",
    Verdict.UNKNOWN: "k",
}
"""A verdict as the compact files of the site have it."""
VERDICTS: Mapping[str, Verdict] = {letter: verdict for verdict, letter in LETTERS.items()}
ABSENT = "."
"""Of an overload that a target has nothing to do with: another vendor's own, say."""


class Known:
    """The database, and what the pages ask of it more than once."""

    def __init__(self, only: frozenset[str] = frozenset()) -> None:
        """Open it; ``only``: nothing but these operators is told of, for a quick look."""
        self._only = only
        self.database: Database = open_database()
        tables = self.database.tables
        self.torch = tables.release(tables.operator_versions()[-1])
        """The release of PyTorch whose tables say what composites run as, as for explain."""
        every = self.database.of_kind(*TargetKind)
        self.targets: tuple[Target, ...] = tuple(one for one in every if one.mode is None)
        """Every target but the graph modes of chips, which have no pages yet."""
        self._branches: dict[str, Branches] = {}

    @cached_property
    def operators(self) -> Mapping[str, OperatorFacts]:
        """What PyTorch has for each overload."""
        return self.database.operators(self.torch)

    def matrix(self, target: Target) -> SupportMatrix:
        """Everything known about a target; kept by the database."""
        return self.database.matrix(target)

    def branches(self, target: Target) -> Branches:
        """What composites run as on the device type of a target."""
        device = target.device_type
        if device not in self._branches:
            self._branches[device] = self.database.composites(self.torch, device)
        return self._branches[device]

    def overloads_of(self, matrix: SupportMatrix) -> frozenset[str]:
        """Every overload of which the database says something for a target."""
        every = {*self.operators, *matrix.entries, *matrix.extensions, *matrix.collectives}
        if self._only:
            return frozenset(op for op in every if base_of(op) in self._only)
        return frozenset(every)

    @cached_property
    def of_target(self) -> Mapping[str, frozenset[str]]:
        """Name of a target -> the overloads of which something is said there."""
        return {target.name: self.overloads_of(self.matrix(target)) for target in self.targets}

    @cached_property
    def overloads(self) -> tuple[str, ...]:
        """Every overload, sorted."""
        return tuple(sorted(frozenset().union(*self.of_target.values())))

    @cached_property
    def bases(self) -> Mapping[str, tuple[str, ...]]:
        """Operator -> its overloads, the functional ones before those that write to ``out``."""
        found: dict[str, list[str]] = {}
        for op in self.overloads:
            found.setdefault(base_of(op), []).append(op)
        return {base: tuple(sorted(ops, key=_plain_first)) for base, ops in found.items()}

    def read(self) -> None:
        """Read what every process needs, before they begin."""
        for target in self.targets:
            self.branches(target)
        self.bases  # noqa: B018

    def releases(self, name: str) -> tuple[Target, ...]:
        """Every release of a target, oldest first, each with the newest torch that it serves."""
        newest: dict[str, Target] = {}
        for target in self.database.releases(name):
            newest[target.sdk] = target
        return tuple(newest.values())


def base_of(op: str) -> str:
    """The operator of an overload: ``aten::add`` of ``aten::add.Tensor``."""
    return op.partition(".")[0]


def overload_of(op: str) -> str:
    """The name of an overload alone, as PyTorch's Python has it: ``default`` without one."""
    return op.partition(".")[2] or "default"


def slug(base: str) -> str:
    """The name of an operator's page: ``aten.gelu``."""
    return base.replace("::", ".")


def by_vendor(targets: Sequence[Target]) -> Mapping[str, tuple[Target, ...]]:
    """Vendor -> its targets, in their order."""
    found: dict[str, list[Target]] = {}
    for target in targets:
        found.setdefault(target.vendor, []).append(target)
    return {vendor: tuple(some) for vendor, some in found.items()}


def named(targets: Sequence[Target], vendors: Mapping[str, Sequence[Target]]) -> tuple[str, ...]:
    """Targets by name; a vendor's name for all of several that it has."""
    found: list[str] = []
    for vendor, some in by_vendor(targets).items():
        whole = len(some) > 1 and len(some) == len(vendors[vendor])
        found += [vendor] if whole else [target.name for target in some]
    return tuple(found)


def _plain_first(op: str) -> tuple[bool, str]:
    name = overload_of(op)
    return (name == "out" or name.endswith("_out") or name.startswith("out_"), op)
