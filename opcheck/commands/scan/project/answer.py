"""Every source of a project checked, one after the other; what stops one stops no other."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fleet.values import Entry
from opcheck.commands.plan.answer import plan as planned
from opcheck.commands.run import answer as script_run
from opcheck.commands.scan.answer import scan
from opcheck.commands.scan.project.sources import policy_of_folder, project_of
from opcheck.commands.scan.project.values import Project
from opcheck.errors import DatabaseError, OpcheckError, TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.project import ProjectReport, ProjectRequest, SourceResult
from opcheck.model.report import PartialReportError, Report
from opcheck.model.request import ScanRequest
from opcheck.model.script import PartialRunError, ScriptRequest
from opcheck.model.target import TargetSpec
from opcheck.pipeline.database import Progress, matrices_of, open_database, silent
from opcheck.pipeline.script_report import report_of_script
from opcheck.sandbox.parent.preloaded import loaded_once
from opcheck.version import __version__

TIMEOUT = 600.0
"""Seconds for a source that says nothing else: one that hangs is not to be the end."""


def scan_project(
    request: ProjectRequest, progress: Progress = silent, output: Progress = silent
) -> ProjectReport:
    """Check every source of a project against the same targets.

    Raises:
        UsageError: the policy, a target or a source that is listed cannot be understood.
        SourceError: there is nothing to check.
        DatabaseError: the database is missing, damaged or older than may be.
    """
    policy = policy_of_folder(Path(request.folder), request.policy)
    request = replace(
        request,
        targets=request.targets or policy.targets,
        max_age=policy.max_age if request.max_age is None else request.max_age,
    )
    project = project_of(request, policy)
    matrices = matrices_of(open_database(request.databases), request.targets)
    with loaded_once():
        results = tuple(_results(project, request, matrices, progress, output))
    return ProjectReport(
        __version__, project.folder, project.policy, results, project.lacking, project.notes
    )


def _results(
    project: Project,
    request: ProjectRequest,
    matrices: tuple[SupportMatrix, ...],
    progress: Progress,
    output: Progress,
) -> Iterator[SourceResult]:
    count = len(project.entries)
    for number, entry in enumerate(project.entries, 1):
        progress(
            Sentence("source {number} of {count}: {text}", number=number, count=count,
                     text=entry.name)
        )  # fmt: skip
        yield _result(entry, request, matrices, output)


def _result(
    entry: Entry, request: ProjectRequest, matrices: tuple[SupportMatrix, ...], output: Progress
) -> SourceResult:
    """What comes of one source; an error of its own is its answer."""
    found = SourceResult(entry.name, entry.source, None)
    try:
        if entry.script is None:
            report = _scanned(entry.request, request, output)
        else:
            report = _run(entry.script, request, matrices, output)
        return replace(found, report=report)
    except PartialReportError as error:
        return replace(found, report=error.report, error=error.message, hint=error.hint)
    except DatabaseError:
        raise
    except OpcheckError as error:
        return replace(found, error=error.message, hint=error.hint)


def _scanned(asked: ScanRequest, request: ProjectRequest, output: Progress) -> Report:
    model = replace(
        asked.model,
        schemas=(*request.schemas, *asked.model.schemas),
        timeout=asked.model.timeout or TIMEOUT,
    )
    whole = replace(
        asked,
        model=model,
        targets=request.targets,
        databases=request.databases,
        max_age=request.max_age,
        explained=request.explained,
    )
    if request.plan:
        return planned(whole, silent, output)
    return scan(whole, silent, output, apart=True)  # this process has more than one to read


def _run(
    script: ScriptRequest,
    request: ProjectRequest,
    matrices: tuple[SupportMatrix, ...],
    output: Progress,
) -> Report:
    """The runs of a script, one for each target, as one report."""
    if not request.targets:
        raise TraceError(
            Sentence("a script is run once for each target, and none is named"),
            Sentence("name them with -t, or in the policy"),
        )
    reports = [_run_on(script, request, str(one.target), output) for one in matrices]
    first = reports[0]
    gaps = dict.fromkeys(gap for one in reports for gap in one.trace.gaps)
    return replace(
        first,
        trace=replace(first.trace, gaps=tuple(gaps)),
        targets=tuple(target for one in reports for target in one.targets),
    )


def _run_on(
    script: ScriptRequest, request: ProjectRequest, target: str, output: Progress
) -> Report:
    model = replace(
        script.model,
        schemas=(*request.schemas, *script.model.schemas),
        timeout=script.model.timeout or TIMEOUT,
    )
    asked = replace(
        script,
        model=model,
        target=TargetSpec.parse(target),
        databases=request.databases,
        plan=request.plan,
    )
    try:
        report = report_of_script(script_run.run(asked, silent, output))
    except PartialRunError as error:
        raise PartialReportError(error, report_of_script(error.run)) from error
    if report.trace.ended is not None:
        ended = report.trace.ended
        raise PartialReportError(
            TraceError(Sentence("{said} (at {text})", said=ended.reason, text=ended.where)), report
        )
    if not report.trace.calls:
        raise TraceError(
            Sentence("never used the device"),
            Sentence("see it alone: opcheck run -t TARGET {text}", text=script.script.text),
        )
    return report
