"""A plan carried out as a shim: kernels that are registered beside the model."""

from pathlib import Path

from opcheck.commands.fix.proving import proved_with_shim
from opcheck.commands.fix.running import Change
from opcheck.commands.fix.suggestions import answer, choose
from opcheck.commands.fix.values import Fix, FixRequest, Left
from opcheck.commands.plan.answer import plan
from opcheck.db.store import Database
from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Proof
from opcheck.model.report import Report
from opcheck.pipeline.database import Progress
from opcheck.pipeline.writing import drafted


def shim(request: FixRequest, database: Database, progress: Progress, output: Progress) -> Fix:
    """Write a file that registers the code of suggestions, once the model ran with it."""
    from opcheck.rewrite import shim as writing

    matrix = database.matrix(database.resolve(request.scan.targets[0]))
    report = plan(request.scan, progress, output)
    chosen = choose(report, request.allow)
    made = writing.shim(matrix, [way for _, way in chosen.ways])
    registered = {way.replaces: way for way in made.registered}
    ways = [(op, way) for op, way in chosen.ways if registered.get(way.replaces) == way]
    skipped = {skip.suggestion: skip.reason for skip in made.skipped}
    left = [
        *chosen.left,
        *(Left(op, way.replaces, skipped[way]) for op, way in chosen.ways if way in skipped),
    ]
    files: tuple[str, ...] = ()
    proof, unproven = None, "there is nothing to write"
    if made.text:
        with drafted(Path(request.path), made.text, over=request.write) as draft:
            change = Change(request.scan, request.scan, tuple(ways), (str(draft.path),))
            proof, unproven = _proved(change, matrix, report, progress, output)
            if proof is None or proof.holds:
                draft.keep()
                files = (request.path,)
    return answer(
        request, report, files=files, ways=ways, left=left, proof=proof, unproven=unproven
    )


def _proved(
    change: Change, matrix: SupportMatrix, report: Report, progress: Progress, output: Progress
) -> tuple[Proof | None, str]:
    """The proof, or why there can be none."""
    try:
        return proved_with_shim(change, matrix, report, progress, output), ""
    except EmulationError as error:
        return None, Sentence(
            "it could not be run on an emulated device: {said}", said=error.message
        )
