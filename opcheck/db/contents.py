"""What the database has for one target, counted, and what changed from one to another."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.model.database import (
    CellChange,
    ConditionGroup,
    Contents,
    MatrixDiff,
    MatrixDiffs,
    Pair,
    SourceFile,
)
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.target import Target, TargetSpec
from opcheck.model.verdict import Method, Verdict


def contents(database: Database, target: Target) -> Contents:
    """Everything known about one target, counted."""
    matrix = database.matrix(target)
    counts: dict[Method, int] = {}
    for entry in matrix.entries.values():
        method = entry.evidence[0].method
        counts[method] = counts.get(method, 0) + 1
    sources = database.release(target).data["sources"].values()
    return Contents(
        target=target,
        device_name=database.chip_name(target),
        dispatch_key=matrix.dispatch_key,
        date=matrix.database_date,
        digest=matrix.database_digest,
        entries={method: counts[method] for method in Method if method in counts},
        operators=tuple(sorted(matrix.entries)),
        conditions=tuple(_groups(matrix)),
        gradients=len(matrix.gradients),
        fallback=matrix.fallback,
        advisories=matrix.advisories,
        sources=tuple(map(_source, sources)),
    )


def overlaid(database: Database, with_overlays: Database, spec: TargetSpec) -> MatrixDiffs:
    """What overlays change of a target; of a vendor, of each of its chips."""
    plain, changed = _targets(database, spec), _targets(with_overlays, spec)
    return MatrixDiffs(
        tuple(
            _differing(database.matrix(plain[name]), with_overlays.matrix(changed[name]))
            for name in plain
        )
    )


def diffs(database: Database, before: TargetSpec, after: TargetSpec) -> MatrixDiffs:
    """What changed from one target to another.

    A vendor's name in place of a target's stands for each of its chips that both releases know.
    """
    first, second = _targets(database, before), _targets(database, after)
    if before.name == after.name and len(first) > 1:
        chips = [chip for chip in first if chip in second]
        return MatrixDiffs(tuple(_diff(database, first[chip], second[chip]) for chip in chips))
    if len(first) > 1 or len(second) > 1:
        spec = before if len(first) > 1 else after
        raise UsageError(
            f"{spec.name} has several chips; want one, or the same vendor twice",
            f"one of: {', '.join((first if spec is before else second).keys())}",
        )
    return MatrixDiffs((_diff(database, *first.values(), *second.values()),))


def _targets(database: Database, spec: TargetSpec) -> Mapping[str, Target]:
    """The targets that a spec stands for, by short name: of a vendor, every chip's."""
    vendor = database.vendors.get(spec.name)
    if vendor is None or "" in vendor.chips:
        return {spec.name: database.resolve(spec)}
    names = [n for n in database.names() if database.resolve(TargetSpec(n)).vendor == spec.name]
    known = [n for n in names if not spec.sdk or spec.sdk in _releases(database, n)]
    if not known:
        database.resolve(TargetSpec(names[0], spec.sdk, spec.torch))  # says which there are
    return {name: database.resolve(TargetSpec(name, spec.sdk, spec.torch)) for name in known}


def _releases(database: Database, name: str) -> frozenset[str]:
    return frozenset(target.sdk for target in database.releases(name))


def _diff(database: Database, before: Target, after: Target) -> MatrixDiff:
    return _differing(database.matrix(before), database.matrix(after))


def _differing(old: SupportMatrix, new: SupportMatrix) -> MatrixDiff:
    both = old.entries.keys() & new.entries.keys()
    told = sorted(both | {*old.conditions, *new.conditions})
    return MatrixDiff(
        before=old.target,
        after=new.target,
        added=tuple(sorted(new.entries.keys() - old.entries.keys())),
        removed=tuple(sorted(old.entries.keys() - new.entries.keys())),
        changed=tuple(change for op in told for change in _change(op, old, new)),
    )


def _change(op: str, old: SupportMatrix, new: SupportMatrix) -> Iterator[CellChange]:
    before, after = old.entries.get(op), new.entries.get(op)
    keys = paths = None
    if before and after:
        keys = _pair(before.keys, after.keys)
        paths = _pair(before.implementation, after.implementation)
    had, has = _conditions(op, old), _conditions(op, new)
    gone = tuple(condition for condition in had if condition not in has)
    come = tuple(condition for condition in has if condition not in had)
    if keys or paths or gone or come:
        yield CellChange(op, keys, paths, gone, come)


def _pair(before: tuple[str, ...], after: tuple[str, ...]) -> Pair | None:
    return None if before == after else (before, after)


def _conditions(op: str, matrix: SupportMatrix) -> tuple[Condition, ...]:
    return tuple(replace(condition, evidence=()) for condition in matrix.conditions.get(op, ()))


def _groups(matrix: SupportMatrix) -> Iterator[ConditionGroup]:
    counts: dict[tuple[str, Verdict], set[str]] = {}
    for op, conditions in matrix.conditions.items():
        for condition in conditions:
            counts.setdefault((condition.code, condition.verdict), set()).add(op)
    for (code, verdict), ops in sorted(counts.items(), key=lambda i: (-i[0][1].rank, i[0][0])):
        yield ConditionGroup(code, verdict, len(ops))


def _source(said: Mapping[str, Any]) -> SourceFile:
    return SourceFile(
        said["repo"], said["ref"], said["commit"], said["path"],
        said.get("date", ""), said.get("origin", ""),
    )  # fmt: skip
