"""A plan carried out for one target, proved, and written: all of it or nothing."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from opcheck.errors import EmulationError, UsageError
from opcheck.model.emulation import Difference, Emulation, EmulationRequest
from opcheck.model.fix import Fix, FixKind, FixRequest, Followed, Left, Proof
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label, Suggestion
from opcheck.model.report import Finding, Report
from opcheck.pipeline.emulated import emulate
from opcheck.pipeline.opening import Progress, open_database, silent
from opcheck.pipeline.planned import plan
from opcheck.pipeline.writing import drafted, require_writable
from opcheck.version import __version__


def fix(request: FixRequest, progress: Progress = silent, output: Progress = silent) -> Fix:
    """Carry out what a plan suggests for a model on its one target.

    Raises:
        UsageError: not exactly one target, a file that is in the way, or what a scan refuses.
        SourceError, TraceError, EmulationError, DatabaseError: as scan and emulate do.
    """
    if len(request.scan.targets) != 1:
        raise UsageError(f"want one target to fix a model for, got {len(request.scan.targets)}")
    require_writable(request)
    return _KINDS[request.kind](request, progress, output)


def _shim(request: FixRequest, progress: Progress, output: Progress) -> Fix:
    from opcheck.rewrite.shim import shim

    report, matrix = _planned(request, progress, output)
    chosen = choose(report, request.allow)
    made = shim(matrix, [way for _, way in chosen.ways])
    registered = {way.replaces: way for way in made.registered}
    followed = [
        Followed(op, way.replaces, way.rule, way.tier, way.label)
        for op, way in chosen.ways
        if registered.get(way.replaces) == way
    ]
    skipped = {skip.suggestion: skip.reason for skip in made.skipped}
    left = [
        *chosen.left,
        *(Left(op, way.replaces, skipped[way]) for op, way in chosen.ways if way in skipped),
    ]
    files: tuple[str, ...] = ()
    proof, unproven = None, "there is nothing to write"
    if made.text:
        with drafted(Path(request.path), made.text) as draft:
            proof, unproven = _proved(request, str(draft.path), followed, progress, output)
            if proof is None or proof.holds:
                draft.keep()
                files = (request.path,)
    return _fix(request, report, files, followed, left, proof, unproven)


def _planned(
    request: FixRequest, progress: Progress, output: Progress
) -> tuple[Report, SupportMatrix]:
    database = open_database(request.scan.databases)
    matrix = database.matrix(database.resolve(request.scan.targets[0]))
    return plan(request.scan, progress, output), matrix


@dataclass(frozen=True, slots=True)
class Chosen:
    """The suggestions that may be followed, and what they leave."""

    ways: tuple[tuple[str, Suggestion], ...]
    """Operator of the finding, and the suggestion; one for each overload of a finding."""
    left: tuple[Left, ...]


def choose(report: Report, allow: Label) -> Chosen:
    """The cheapest suggestion that is close enough, for every overload that has to go."""
    ways: list[tuple[str, Suggestion]] = []
    left: list[Left] = []
    (target,) = report.targets
    for finding in target.findings:
        if finding.verdict.on_device:
            continue
        for replaces, found in _by_overload(finding):
            fit = [way for way in found if way.label.rank <= allow.rank and way.code]
            if fit:
                ways.append((finding.op, fit[0]))
            else:
                left.append(Left(finding.op, replaces, _too_far(found)))
        if not finding.suggestions:
            left.append(Left(finding.op, finding.op, "nothing that the target runs was found"))
    return Chosen(tuple(ways), tuple(left))


def _by_overload(finding: Finding) -> Iterator[tuple[str, tuple[Suggestion, ...]]]:
    for replaces in dict.fromkeys(way.replaces for way in finding.suggestions):
        yield replaces, tuple(way for way in finding.suggestions if way.replaces == replaces)


def _too_far(found: Iterable[Suggestion]) -> str:
    best = min(found, key=lambda way: way.label.rank)
    if not best.code:
        return f"{best.rule} is not code that could be written for you"
    return f"{best.rule} is labelled {best.label}; follow it with --allow {best.label}"


def _proved(
    request: FixRequest,
    shim: str,
    followed: Iterable[Followed],
    progress: Progress,
    output: Progress,
) -> tuple[Proof | None, str]:
    """Run the model with the shim on the emulated device; why that cannot be, where it cannot."""
    scan = request.scan
    asked = EmulationRequest(
        scan.source, scan.targets[0], scan.inputs, values=True, timeout=scan.timeout,
        memory=scan.memory, trust=scan.trust, databases=scan.databases, shims=(shim,),
    )  # fmt: skip
    try:
        ran = emulate(asked, progress, output)
    except EmulationError as error:
        return None, f"it could not be run on an emulated device: {error.message}"
    return _held(ran, tuple(followed)), ""


def _held(ran: Emulation, followed: tuple[Followed, ...]) -> Proof:
    remaining = {refusal.op for refusal in ran.refusals} | {call.op for call in ran.host_calls}
    replaced = {way.replaces for way in followed}
    gone = replaced - remaining
    largest = max(ran.differences or (), key=_size, default=None)
    exact = all(way.label is Label.EXACT for way in followed)
    same = largest is None or (largest.largest == 0.0 if exact else largest.largest is not None)
    return Proof(
        how="emulated",
        target=ran.target,
        holds=ran.finished and gone == replaced and same,
        gone=tuple(sorted(gone)),
        remaining=tuple(sorted(remaining)),
        runs=ran.runs,
        compared=len(ran.differences or ()),
        largest=largest,
        error=ran.error,
    )


def _size(found: Difference) -> float:
    return float("inf") if found.largest is None else found.largest


def _fix(
    request: FixRequest,
    report: Report,
    files: tuple[str, ...],
    followed: Iterable[Followed],
    left: Iterable[Left],
    proof: Proof | None,
    unproven: str,
) -> Fix:
    return Fix(
        opcheck_version=__version__,
        torch_version=report.torch_version,
        model=report.model,
        target=report.targets[0].target,
        kind=request.kind,
        files=files,
        text="",
        followed=tuple(followed),
        left=tuple(left),
        proof=proof,
        unproven=unproven,
    )


_KINDS: dict[FixKind, Callable[[FixRequest, Progress, Progress], Fix]] = {FixKind.SHIM: _shim}
