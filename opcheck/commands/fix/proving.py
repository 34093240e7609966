"""The proof of a change: scanned again, run with values, and nothing else leaves the device."""

from collections import Counter
from collections.abc import Collection, Mapping

from opcheck.commands.fix.running import Change, Runs, run_both
from opcheck.commands.fix.suggestions import off_device
from opcheck.commands.scan.answer import scan
from opcheck.model.emulation import Emulation
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Proof
from opcheck.model.report import Report
from opcheck.pipeline.database import Progress
from opcheck.resolve.kernels import torch_differs


def proved(
    change: Change,
    matrix: SupportMatrix,
    expected: Mapping[str, int],
    known: Collection[str],
    progress: Progress,
    output: Progress,
) -> Proof:
    """Prove a changed model, which can be scanned again.

    Args:
        change: the changed model, and the unchanged one.
        matrix: of the target; where it can be emulated, the changed model runs on it as well.
        expected: operator of a finding -> how many of its calls are meant to be there still.
        known: operators and overloads that left the device before; others must not come to.
        progress: hears the stages.
        output: hears what the model prints.

    Raises:
        SourceError, TraceError, EmulationError: the changed model cannot be loaded or run at all.
    """
    progress("scanning the changed model")
    after = scan(change.changed, progress, output)
    calls: Counter[str] = Counter()
    for finding in off_device(after):  # one for each phase
        calls[finding.op] += finding.count
    there = {way.replaces for op, way in change.ways if calls[op] > expected.get(op, 0)}
    there |= calls.keys() - known
    runs = run_both(change, matrix, progress, output)
    ran = runs.emulated
    newer = _newer(ran, matrix, _seen(after)) if ran else set()
    remaining = {*there, *(calls if ran is None else _left_by(ran) - newer)}
    gone = {way.replaces for op, way in change.ways if not calls[op]} - remaining
    runs_there = after.targets[0].summary.runs if ran is None or newer else ran.runs
    return _proof(runs, after.targets[0].target, not there, gone, remaining, newer, runs_there)


def proved_with_shim(
    change: Change, matrix: SupportMatrix, report: Report, progress: Progress, output: Progress
) -> Proof:
    """Prove kernels that are registered beside an unchanged model, on the emulated device.

    ``report`` is the plan: what it knows the model to ask for.

    Raises:
        SourceError, EmulationError: the model cannot be loaded, or not run on such a device.
    """
    from opcheck.emulate.supported import require_emulated

    require_emulated(matrix)
    runs = run_both(change, matrix, progress, output)
    ran = runs.emulated
    assert ran is not None, "it can be"
    newer = _newer(
        ran, matrix, _seen(report) | {op for _, way in change.ways for op in way.runs_as}
    )
    remaining, replaced = _left_by(ran) - newer, {way.replaces for _, way in change.ways}
    gone = replaced - remaining
    runs_there = ran.finished and not remaining if newer else ran.runs
    return _proof(runs, ran.target, gone == replaced, gone, remaining, newer, runs_there)


def _proof(
    runs: Runs,
    target: str,
    is_gone: bool,
    gone: Collection[str],
    remaining: Collection[str],
    newer: Collection[str],
    runs_there: bool | None,
) -> Proof:
    ran = runs.emulated
    return Proof(
        how="scanned" if ran is None else "emulated",
        target=target,
        holds=is_gone and runs.holds,
        gone=tuple(sorted(gone)),
        remaining=tuple(sorted(remaining)),
        newer=tuple(sorted(newer)),
        runs=runs_there,
        forward=runs.forward if runs.forward.results else None,
        backward=runs.backward,
        no_backward=runs.no_backward,
        error="" if ran is None else ran.error,
        note=runs.note,
    )


def _left_by(ran: Emulation) -> set[str]:
    """Overloads that the device refused, or sent to the host."""
    return {refusal.op for refusal in ran.refusals} | {call.op for call in ran.host_calls}


def _newer(ran: Emulation, matrix: SupportMatrix, seen: Collection[str]) -> set[str]:
    """What just the running torch asks for: a scan follows the target's own, and never met it."""
    if not torch_differs(ran.torch_version, matrix, "run"):
        return set()
    return {op for op in _left_by(ran) if op not in seen}


def _seen(report: Report) -> set[str]:
    """Every overload that a scan met."""
    findings = report.targets[0].findings
    inside = {op for finding in findings for use in finding.uses for op in use.decomposed_into}
    blamed = {way.replaces for finding in findings for way in finding.suggestions}
    return {finding.op for finding in findings} | inside | blamed
