"""A plan carried out as a shim: kernels that are registered beside the model."""

from collections.abc import Collection, Iterable
from pathlib import Path

from opcheck.db.store import Database
from opcheck.errors import EmulationError
from opcheck.model.emulation import Emulation
from opcheck.model.fix import Fix, FixRequest, Followed, Left, Proof
from opcheck.model.report import Report
from opcheck.pipeline.emulated import emulate
from opcheck.pipeline.fixing.answer import answer
from opcheck.pipeline.fixing.choosing import choose, off_device
from opcheck.pipeline.fixing.proving import agree, emulation_request, largest, left_by
from opcheck.pipeline.opening import Progress
from opcheck.pipeline.planned import plan
from opcheck.pipeline.writing import drafted


def shim(request: FixRequest, database: Database, progress: Progress, output: Progress) -> Fix:
    """Write a file that registers the code of suggestions, once the model ran with it."""
    from opcheck.rewrite import shim as writing

    matrix = database.matrix(database.resolve(request.scan.targets[0]))
    report = plan(request.scan, progress, output)
    chosen = choose(report, request.allow)
    made = writing.shim(matrix, [way for _, way in chosen.ways])
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
            proof, unproven = _proved(request, report, str(draft.path), followed, progress, output)
            if proof is None or proof.holds:
                draft.keep()
                files = (request.path,)
    return answer(
        request, report, files=files, followed=followed, left=left, proof=proof, unproven=unproven
    )


def _proved(
    request: FixRequest,
    report: Report,
    shim: str,
    followed: Iterable[Followed],
    progress: Progress,
    output: Progress,
) -> tuple[Proof | None, str]:
    """Run the model with the shim on the emulated device; why that cannot be, where it cannot."""
    try:
        ran = emulate(emulation_request(request.scan, (shim,)), progress, output)
    except EmulationError as error:
        return None, f"it could not be run on an emulated device: {error.message}"
    chosen = tuple(followed)
    same, note = agree(ran.differences or (), chosen), ""
    if not same and ran.finished:  # perhaps the device itself is off by as much, without the shim
        progress("running the unchanged model on the emulated device as well")
        plain = emulate(emulation_request(request.scan), progress, output)
        same = ran.differences == plain.differences
        note = "as far off as without the shim, to the last bit" if same else ""
    return _held(ran, chosen, same, note, _known(report, chosen)), ""


def _held(
    ran: Emulation, followed: tuple[Followed, ...], same: bool, note: str, known: Collection[str]
) -> Proof:
    remaining = left_by(ran)
    replaced = {way.replaces for way in followed}
    gone = replaced - remaining
    found = ran.differences or ()
    newer = bool(remaining) and remaining.isdisjoint(known)
    if newer:
        newer_torch = _NEWER.format(torch=ran.torch_version)
        note = f"{newer_torch}; {note}" if note else newer_torch
    return Proof(
        how="emulated",
        target=ran.target,
        holds=ran.finished and gone == replaced and same,
        gone=tuple(sorted(gone)),
        remaining=tuple(sorted(remaining)),
        runs=None if newer else ran.runs,
        compared=len(found),
        largest=largest(found),
        error=ran.error,
        note=note,
    )


_NEWER = (
    "the plan knows nothing of what remains: the run is on torch {torch}, which asks for other "
    "overloads than the target's own"
)


def _known(report: Report, followed: Iterable[Followed]) -> Collection[str]:
    """Overloads that a scan of the unchanged model says leave the device."""
    bad = tuple(off_device(report))
    found = {way.replaces for way in followed} | {finding.op for finding in bad}
    found |= {op for finding in bad for use in finding.uses for op in use.decomposed_into}
    return found | {way.replaces for finding in bad for way in finding.suggestions}
