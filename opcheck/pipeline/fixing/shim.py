"""A plan carried out as a shim: kernels that are registered beside the model."""

from collections.abc import Iterable
from pathlib import Path

from opcheck.db.store import Database
from opcheck.errors import EmulationError
from opcheck.model.emulation import Emulation
from opcheck.model.fix import Fix, FixRequest, Followed, Left, Proof
from opcheck.pipeline.emulated import emulate
from opcheck.pipeline.fixing.answer import answer
from opcheck.pipeline.fixing.choosing import choose
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
            proof, unproven = _proved(request, str(draft.path), followed, progress, output)
            if proof is None or proof.holds:
                draft.keep()
                files = (request.path,)
    return answer(
        request, report, files=files, followed=followed, left=left, proof=proof, unproven=unproven
    )


def _proved(
    request: FixRequest,
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
    return _held(ran, tuple(followed)), ""


def _held(ran: Emulation, followed: tuple[Followed, ...]) -> Proof:
    remaining = left_by(ran)
    replaced = {way.replaces for way in followed}
    gone = replaced - remaining
    found = ran.differences or ()
    return Proof(
        how="emulated",
        target=ran.target,
        holds=ran.finished and gone == replaced and agree(found, followed),
        gone=tuple(sorted(gone)),
        remaining=tuple(sorted(remaining)),
        runs=ran.runs,
        compared=len(found),
        largest=largest(found),
        error=ran.error,
    )
