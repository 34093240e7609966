"""Calls of a model fused into kernels that its target has, proved, and written if that was asked.

The kernels are those of the database, each with its source. What the target refuses of them is
found by scanning the changed model, and left as it was.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.fix.fused import Better
from opcheck.commands.fix.fused_sources import in_sources, require_python
from opcheck.commands.fix.graph import SUFFIX, require_one_program, require_suffix
from opcheck.commands.fix.values import FixKind, FixRequest
from opcheck.commands.scan.answer import scan
from opcheck.costs.calls import NOT_FUSED
from opcheck.costs.roofline import product_of, roof_of
from opcheck.db.store import Database
from opcheck.lang.sentence import Sentence
from opcheck.model.fusing import FusedCalls, FuseRun, FuseSpec, LeftCalls
from opcheck.model.jobs import GraphRequest
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Finding, Report
from opcheck.model.request import ScanRequest
from opcheck.model.verdict import Verdict
from opcheck.pipeline.database import Progress
from opcheck.pipeline.writing import Draft, drafted
from opcheck.version import __version__

OPERATORS = "_operators.py"
"""What the name of the module ends in that has the vendor's operators."""


def better(request: FixRequest, database: Database, progress: Progress, output: Progress) -> Better:
    """Fuse what the target has kernels for, in a new file or for a look alone.

    Raises:
        UsageError: the file to write has another name than programs have.
        SourceError: the model cannot be exported.
    """
    matrix = database.matrix(database.resolve(request.scan.targets[0]))
    if request.kind is FixKind.DIFF:
        require_python(request)
    elif request.path:
        require_suffix(Path(request.path))
    require_one_program(request.scan)
    report = scan(request.scan, progress, output)
    with _draft(request) as draft, _beside(request) as other:
        trial = _trial(request, matrix, str(draft.path), progress, output)
        if request.kind is FixKind.DIFF:
            layers = trial.run.layers
            modules = tuple(path for layer in layers for path in layer.modules)
            trial = _trial(request, matrix, str(draft.path), progress, output, modules)
            found = _answer(request, report, trial, database, matrix)
            return in_sources(request, found, layers, matrix.target.device_type, progress, output)
        found = _answer(request, report, trial, database, matrix)
        if not (request.path and found.fused and found.holds):
            return found
        files = [request.path]
        draft.keep()
        if trial.run.operators and other is not None:
            other.path.write_text(trial.run.operators, encoding="utf-8")
            other.keep()
            files.append(str(operators_path(Path(request.path))))
    return replace(found, files=tuple(files))


def operators_path(program: Path) -> Path:
    """Where the module with the vendor's operators goes: beside the program."""
    return program.with_name(program.stem + OPERATORS)


@contextmanager
def _draft(request: FixRequest) -> Iterator[Draft]:
    """The program's draft: beside its place, or in a folder that is gone afterwards."""
    if request.path:
        with drafted(Path(request.path), over=request.write) as draft:
            yield draft
        return
    with (
        tempfile.TemporaryDirectory(prefix="opcheck-") as folder,
        drafted(Path(folder) / f"fused{SUFFIX}") as draft,
    ):
        yield draft


@contextmanager
def _beside(request: FixRequest) -> Iterator[Draft | None]:
    """The draft of the module with the vendor's operators."""
    if not request.path:
        yield None
        return
    with drafted(operators_path(Path(request.path)), over=request.write) as draft:
        yield draft


class _Trial(Struct, frozen=True):
    """A program with calls fused, and how it fares on the target."""

    run: FuseRun
    after: Report | None
    """None where nothing was fused."""
    left: tuple[LeftCalls, ...]
    """What the target refuses of it."""


def _trial(
    request: FixRequest,
    matrix: SupportMatrix,
    path: str,
    progress: Progress,
    output: Progress,
    modules: tuple[str, ...] | None = None,
) -> _Trial:
    """Fuse calls; what the target does not take is left out in the next try."""
    from opcheck.sandbox.parent import run

    spec = FuseSpec(tuple(matrix.entries), matrix.target.chip, modules=modules)
    left: list[LeftCalls] = []
    while True:
        asked = GraphRequest(request.scan.model, (), path, rules=request.scan.rules, fuse=spec)
        made = run.rewrite(asked, progress=progress, output=output).fused
        assert made is not None, "it was asked for"
        if not made.fused:
            return _Trial(made, None, tuple(left))
        progress("scanning the changed model")
        after = scan(_changed(request.scan, path), progress, output)
        refused = _refused(made, after)
        if not refused:
            return _Trial(made, after, tuple(left))
        for one in made.fused:
            if one.rule in refused:
                left += [LeftCalls(one.rule, where, refused[one.rule]) for where in one.modules]
        spec = replace(spec, without=(*spec.without, *refused))


def _changed(request: ScanRequest, path: str) -> ScanRequest:
    """The same for the file that was written; what it was exported with is in it."""
    return replace(
        request,
        model=replace(request.model, source=path, inputs=(), trust=False, patched={}),
    )


def _refused(made: FuseRun, after: Report) -> Mapping[str, str]:
    """Rule -> why the target does not run what it calls as one kernel."""
    found: dict[str, str] = {}
    for one in made.fused:
        for finding in after.targets[0].findings:
            reason = why_not(one, finding) if finding.op == one.kernel else ""
            if reason:
                found.setdefault(one.rule, reason)
    return found


def why_not(one: FusedCalls, finding: Finding) -> str:
    """Why a finding of what a fusion calls is no gain; "" where it is one."""
    if not finding.verdict.on_device or finding.reason.code == NOT_FUSED:
        return finding.reason.text
    inside = {op for use in finding.uses for op in use.decomposed_into}
    if finding.verdict is Verdict.DECOMPOSED and inside.isdisjoint(one.kernels):
        return Sentence("{op} runs there as its parts, not as one kernel", op=one.kernel)
    return ""


def _answer(
    request: FixRequest, report: Report, trial: _Trial, database: Database, matrix: SupportMatrix
) -> Better:
    product = product_of(database.chip(matrix.target))
    bandwidth = roof_of(product, matrix.target.device_type).bandwidth
    fused = tuple(_supported(one, matrix, bandwidth) for one in trial.run.fused)
    return Better(
        opcheck_version=__version__,
        torch_version=report.torch_version,
        model=report.model,
        target=report.targets[0].target,
        files=(),
        fused=fused,
        left=(*trial.left, *trial.run.left),
        check=trial.run.check,
        newly_off=tuple(sorted(_off(trial.after) - _off(report))) if trial.after else (),
        calls=trial.run.calls,
        moved=trial.run.moved,
        product=product.name if product is not None and bandwidth else "",
    )


def _supported(one: FusedCalls, matrix: SupportMatrix, bandwidth: float | None) -> FusedCalls:
    """The same with the source of the kernel, and the time that its bytes are worth."""
    entry = next(matrix.entries[op] for op in one.kernels if op in matrix.entries)
    saved = one.bytes_before - one.bytes_after
    seconds = saved / bandwidth if bandwidth else None
    return replace(one, evidence=entry.evidence, seconds=seconds)


def _off(report: Report) -> frozenset[str]:
    """Overloads that the target does not run itself."""
    return frozenset(f.op for f in report.targets[0].findings if not f.verdict.on_device)
