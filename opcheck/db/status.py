"""How old the database is, what it holds for a target, and what changed between releases."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from opcheck.db.by_hand.advice import documents
from opcheck.db.store import Database
from opcheck.db.vendor import Vendor
from opcheck.errors import DatabaseError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.database import (
    AdditionStatus,
    CellChange,
    ConditionGroup,
    Contents,
    DatabaseStatus,
    MatrixDiff,
    MatrixDiffs,
    Pair,
    ReleaseStatus,
    SourceFile,
    VendorStatus,
)
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.target import Target, TargetSpec, target_name
from opcheck.model.verdict import Method, Verdict

_STATED = ("conditions", "documented", "refusals")
"""Sections of a release's file whose lines are conditions."""


def status(database: Database, today: date) -> DatabaseStatus:
    """Every vendor with every release; reads all files."""
    vendors = tuple(_vendor(vendor, today) for vendor in database.vendors.values())
    advisories = {
        found.data["id"] for layer in database.layers for found in documents(layer, database.cache)
    }
    return DatabaseStatus(
        today=today.isoformat(),
        digest=_digest(database),
        vendors=vendors,
        overlays=tuple(_overlays(database)),
        advisories=tuple(sorted(advisories)),
    )


def require_fresh(database: Database, targets: Iterable[Target], days: int, today: date) -> None:
    """Refuse vendors whose newest data is older than so many days.

    An old release does not make its vendor's data old: what counts is the newest one.
    """
    for name in dict.fromkeys(target.vendor for target in targets):
        newest = _newest(database.vendors[name])
        age = days_since(newest, today)
        if age is None or age > days:
            told = (
                Sentence("{count} days old (of {date})", count=str(age), date=newest)
                if newest
                else Sentence("of no known date")
            )
            raise DatabaseError(
                Sentence(
                    "the data of {vendor} is {said}, too old for the policy of {count} days",
                    vendor=name,
                    said=told,
                    count=days,
                ),
                Sentence(
                    "update opcheck, or bring the vendor's newer files in with opcheck db import"
                ),
            )


def by_method(entries: Iterable[Any], otherwise: Method) -> Mapping[Method, int]:
    """How many entries, as a release's file has them, are known in which way."""
    counts = Counter(Method(_newest_variant(said).get("method", otherwise)) for said in entries)
    return {method: counts[method] for method in Method if counts[method]}


def days_since(iso: str, today: date) -> int | None:
    """Days from a date in ISO form until today, 0 for one to come; None: it is no date."""
    try:
        return max((today - date.fromisoformat(iso)).days, 0)
    except ValueError:
        return None


def _vendor(vendor: Vendor, today: date) -> VendorStatus:
    newest = _newest(vendor)
    return VendorStatus(
        vendor=vendor.name,
        name=str(vendor.document.data["name"]),
        targets=tuple(sorted(target_name(vendor.name, chip) for chip in vendor.chips)),
        date=newest,
        age=days_since(newest, today),
        releases=tuple(_release(vendor, release, today) for release in reversed([*vendor.files])),
    )


def _newest(vendor: Vendor) -> str:
    """The newest date of any release; "" where none is one."""
    dates = [str(vendor.release(release).data["date"]) for release in vendor.files]
    return max((d for d in dates if days_since(d, date.max) is not None), default="")


def _release(vendor: Vendor, release: str, today: date) -> ReleaseStatus:
    found = vendor.release(release)
    method = Method(found.data.get("method", Method.REGISTERED))
    return ReleaseStatus(
        release=release,
        date=found.data["date"],
        age=days_since(found.data["date"], today),
        torch_versions=tuple(reversed(vendor.served(release))),
        entries=by_method(found.data["operators"].values(), method),
        conditions=sum(len(found.data.get(key, ())) for key in _STATED),
        digest=found.digest[:16],
        origin=found.origin,
        edited=bool(vendor.edited(release)),
    )


def _newest_variant(said: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = said[-1] if isinstance(said, list) else said
    return found


def _overlays(database: Database) -> Sequence[AdditionStatus]:
    return [
        AdditionStatus(
            added.origin, added.vendor, " ".join(added.reason.split()), len(added.operators),
            len(added.conditions) + len(added.withdrawn),
        )
        for added in database.additions
        if added.origin
    ]  # fmt: skip


def _digest(database: Database) -> str:
    parts = [database.tables.digest]
    for vendor in database.vendors.values():
        parts.append(vendor.document.digest)
        parts += [vendor.release(release).digest for release in vendor.files]
    parts += [added.digest for added in database.additions]
    return sha256("".join(parts).encode()).hexdigest()[:16]


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
            Sentence(
                "{vendor} has several chips; want one, or the same vendor twice", vendor=spec.name
            ),
            Sentence(
                "one of: {list}", list=", ".join((first if spec is before else second).keys())
            ),
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
