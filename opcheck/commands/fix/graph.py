"""A plan carried out in an exported program, which is written to a new file."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fix.proving import proved
from opcheck.commands.fix.running import Change
from opcheck.commands.fix.suggestions import AppliedSuggestion, answer, choose, known, off_device
from opcheck.commands.fix.values import Fix, FixRequest, Left
from opcheck.commands.plan.answer import plan
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.jobs import GraphRequest, Replacement
from opcheck.model.plan import Suggestion
from opcheck.model.request import CallSpec, ScanRequest
from opcheck.pipeline.database import Progress
from opcheck.pipeline.writing import drafted

SUFFIX = ".pt2"


def graph(request: FixRequest, database: Database, progress: Progress, output: Progress) -> Fix:
    """Replace the overloads of suggestions in the program, in a new file.

    A source that is no exported program is exported first.

    Raises:
        UsageError: the file to write has another name than such files have.
        SourceError: the model cannot be exported.
    """
    from opcheck.sandbox.parent import run

    scan, final = request.scan, Path(request.path)
    require_suffix(final)
    require_one_program(scan)
    report = plan(scan, progress, output)
    chosen = choose(report, request.allow)
    if not chosen.ways:
        return answer(request, report, left=chosen.left, unproven="there is nothing to change")
    with drafted(final, over=request.write) as draft:
        asked = GraphRequest(
            scan.model,
            _replacements(way for _, way in chosen.ways),
            str(draft.path),
            rules=scan.rules,
        )
        written = run.rewrite(asked, progress=progress, output=output)
        ways, left = _parted(chosen.ways, written.left)
        partly = {rest.op for rest in (*chosen.left, *left)}
        staying = {f.op: f.count for f in off_device(report) if f.op in partly}  # of one phase
        # what it was exported with is in the file
        changed = replace(
            scan,
            model=replace(scan.model, source=str(draft.path), inputs=(), trust=False, patched={}),
        )
        matrix = database.matrix(database.resolve(scan.targets[0]))
        change = Change(scan, changed, tuple(ways))
        proof = proved(change, matrix, staying, known(report), progress, output)
        if proof.holds:
            draft.keep()
    return answer(
        request, report, files=(request.path,) if proof.holds else (), ways=ways,
        left=(*chosen.left, *left), proof=proof,
    )  # fmt: skip


def require_suffix(final: Path) -> None:
    """Refuse a name that no program has.

    Raises:
        UsageError: it ends in something else.
    """
    if final.suffix != SUFFIX:
        message = Sentence(
            "--graph writes a program of torch.export, and {text} is not named like one", text=final
        )
        raise UsageError(message, Sentence("give it a name that ends in {suffix}", suffix=SUFFIX))


def require_one_program(scan: ScanRequest) -> None:
    """Refuse what no program can do: to be trained, or to be called in ways that it has not.

    Raises:
        UsageError: the scan is of a training step, or of several calls of what is no program yet.
    """
    if scan.model.step is not None:
        message = Sentence("--graph writes an exported program, which has no training mode")
        raise UsageError(message, Sentence("use --shim, or --diff for a Python file"))
    if scan.model.calls != CallSpec() and not scan.model.source.endswith(SUFFIX):
        name = "--decode" if scan.model.calls.decode else "--inputs"
        message = Sentence(
            "--graph exports one call of {text}, and {option} asks for several",
            text=scan.model.source,
            option=name,
        )
        raise UsageError(
            message, Sentence("leave it out, or use --shim, or --diff for a Python file")
        )


def _replacements(ways: Iterable[Suggestion]) -> tuple[Replacement, ...]:
    """One for each overload, and one for it in the whole model: a graph has no place for more."""
    first: dict[tuple[str, bool], Replacement] = {}
    for way in ways:
        first.setdefault((way.replaces, way.whole), Replacement(way.replaces, way.rule))
    return tuple(first[key] for key in sorted(first))


def _parted(
    ways: Iterable[AppliedSuggestion], reasons: Mapping[str, str]
) -> tuple[list[AppliedSuggestion], list[Left]]:
    """What was followed, and what was not everywhere."""
    followed, left = [], []
    for op, way in ways:
        if way.replaces in reasons:
            left.append(Left(op, way.replaces, reasons[way.replaces]))
        else:
            followed.append((op, way))
    return followed, left
