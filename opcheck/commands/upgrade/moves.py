"""Which other release, torch version or chip of a vendor takes away what blocks a model. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from opcheck.commands.upgrade.values import Blocked, Move, MoveKind
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Finding, TargetReport
from opcheck.model.target import Target
from opcheck.model.trace import Trace
from opcheck.resolve.findings import resolve

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
