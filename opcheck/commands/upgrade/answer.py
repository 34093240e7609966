"""Which other release, torch version or chip of a vendor would unblock a model."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from opcheck.commands.upgrade.values import Blocked, Candidate, Move, MoveKind, Upgrade
from opcheck.db.store import Database
from opcheck.db.versions import version_key
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Finding, TargetReport
from opcheck.model.request import ScanRequest
from opcheck.model.target import Target, target_name
from opcheck.model.trace import Trace
from opcheck.pipeline.database import Progress, open_database, require_age, silent
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.traces import scanned_for
from opcheck.resolve.findings import resolve


def neighbours(database: Database, target: Target) -> tuple[Candidate, ...]:
    """Other torch versions of the release, then newer releases, then other chips."""
    return (
        *(Candidate(MoveKind.TORCH, found) for found in _other_torch(database, target)),
        *(Candidate(MoveKind.RELEASE, found) for found in _newer(database, target)),
        *(Candidate(MoveKind.CHIP, found) for found in _other_chips(database, target)),
    )


def _other_torch(database: Database, target: Target) -> list[Target]:
    """The same release with another torch version, newer before older."""
    served = [t for t in database.releases(target.name) if t.sdk == target.sdk and t != target]
    return sorted(served, key=lambda found: _torch_distance(found, target))


def _newer(database: Database, target: Target) -> list[Target]:
    """Later releases for the same chip, the first of them first, with each torch they serve."""
    today = version_key(target.sdk)
    served = [t for t in database.releases(target.name) if version_key(t.sdk) > today]
    return sorted(served, key=lambda t: (version_key(t.sdk), _torch_distance(t, target)))


def _other_chips(database: Database, target: Target) -> list[Target]:
    """The other chips with the same release and torch where they have it, then their newest."""
    vendor = database.vendors[target.vendor]
    names = sorted(target_name(target.vendor, chip) for chip in vendor.chips)
    others = [database.releases(name) for name in names if name != target.name]
    wanted = (target.sdk, target.torch)
    alike = [t for served in others for t in served if (t.sdk, t.torch) == wanted]
    newest = [served[-1] for served in others if served]
    return list(dict.fromkeys((*alike, *newest)))


def _torch_distance(found: Target, target: Target) -> tuple[bool, int]:
    """The same torch before newer ones, those before older ones, each by nearness."""
    there, today = (version_key(t.torch) for t in (found, target))
    major, minor = (a - b for a, b in zip(there, today, strict=True))
    return there < today, abs(major * _MINORS + minor)


_MINORS = 100
"""More than a major version of torch has minor ones."""


Call = tuple[str, str, str, str, int, tuple[str, ...]]
"""What a call is on every target: operator, phase, module, file, line, arguments."""


class Moves(Struct, frozen=True):
    """What blocks on a target, and what moving would do."""

    blocked: tuple[Blocked, ...]
    worthwhile: tuple[Move, ...]
    """The smallest first, each of which gains more than every smaller one."""


def moves(
    trace: Trace, today: TargetReport, candidates: Sequence[tuple[MoveKind, SupportMatrix]]
) -> Moves:
    """Say what each move would do for a model; candidates of a kind come with the nearest first.

    A finding is gone where each of its calls stays on the device.
    """
    blocking = [finding for finding in today.findings if not finding.verdict.on_device]
    tried = (
        [_move(trace, kind, matrix, blocking) for kind, matrix in candidates] if blocking else []
    )
    return Moves(
        tuple(Blocked(finding, _gone(finding, tried)) for finding in blocking),
        tuple(_worthwhile(tried)),
    )


def _move(trace: Trace, kind: MoveKind, matrix: SupportMatrix, blocking: Sequence[Finding]) -> Move:
    there = resolve(trace, matrix)
    off = _off_device(there.findings)
    return Move(
        kind=kind,
        target=matrix.target,
        removes=tuple(f.id for f in blocking if off.isdisjoint(_calls(f))),
        brings=tuple(sorted({op for op, *_ in off - _off_device(blocking)})),
        runs=there.summary.runs,
        support_rate=there.summary.support_rate,
    )


def _off_device(findings: Iterable[Finding]) -> frozenset[Call]:
    return frozenset(call for f in findings if not f.verdict.on_device for call in _calls(f))


def _calls(finding: Finding) -> Iterable[Call]:
    for place in finding.uses:
        yield finding.op, finding.phase, place.module, place.file, place.line, place.inputs


def _gone(finding: Finding, tried: Iterable[Move]) -> Mapping[MoveKind, Target]:
    """The nearest target of each kind that removes the finding."""
    found: dict[MoveKind, Target] = {}
    for move in tried:
        if finding.id in move.removes:
            found.setdefault(move.kind, move.target)
    return {kind: found[kind] for kind in MoveKind if kind in found}


def _worthwhile(tried: Iterable[Move]) -> Iterable[Move]:
    """Moves by growing size, without those that gain no more than a smaller one."""
    most = 0
    for move in sorted(tried, key=lambda move: move.kind.rank):
        if move.gain > most:
            most = move.gain
            yield move


def upgrade(
    request: ScanRequest, progress: Progress = silent, output: Progress = silent
) -> Upgrade:
    """Say which release, torch version or chip of a vendor unblocks a model on its one target.

    Raises:
        UsageError: not exactly one target, or what :func:`scan` refuses.
        SourceError, TraceError, DatabaseError: as :func:`scan`.
    """
    if len(request.targets) != 1:
        raise UsageError(
            Sentence("want one target to move from, got {count}", count=len(request.targets))
        )
    database = open_database(request.databases)
    matrix = database.matrix(database.resolve(request.targets[0]))
    require_age(request, database, (matrix,))
    candidates = [
        (found.kind, database.matrix(found.target)) for found in neighbours(database, matrix.target)
    ]
    others = [other for _, other in candidates]
    scanned = scanned_for(request, database, (matrix,), progress, output, others)
    report = report_of(request.model.source, scanned, (matrix,))
    (today,) = report.targets
    found = moves(scanned.first, today, candidates)
    return Upgrade(
        opcheck_version=report.opcheck_version,
        torch_version=report.torch_version,
        model=report.model,
        trace=report.trace,
        target=matrix.target,
        runs=today.summary.runs,
        support_rate=today.summary.support_rate,
        blocked=found.blocked,
        moves=found.worthwhile,
        tried=len(candidates) if found.blocked else 0,
    )
