"""Every source of a project compared with one policy, and with what a change is made to."""

from datetime import date
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.gate.files import (
    baseline_at,
    ended_early,
    report_on,
    require_fresh_report,
    require_whole,
)
from opcheck.commands.gate.judging.judge import judge
from opcheck.commands.gate.project.values import ProjectGate, ProjectGateRequest, SourceGate
from opcheck.commands.scan.project.answer import scan_project
from opcheck.commands.scan.project.sources import policy_of_folder
from opcheck.errors import TraceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.policy import Baseline, Policy
from opcheck.model.project import ProjectReport, ProjectRequest, SourceResult
from opcheck.model.report import Report
from opcheck.pipeline.database import Progress, silent
from opcheck.version import __version__
from opcheck.views.project.document import project_at


def gate_project(
    request: ProjectGateRequest, progress: Progress = silent, output: Progress = silent
) -> ProjectGate:
    """Compare every source of a project with its policy.

    Raises:
        UsageError: the policy, the baseline, a source that is listed or a document is not usable.
        SourceError: there is nothing to check.
        DatabaseError: the database is missing, damaged or older than the policy allows.
    """
    asked = request.gate
    if asked.accept:
        raise UsageError(
            Sentence("a baseline is written of one source, and a folder has several"),
            Sentence("choose it by its own name: opcheck gate path/to/file.py:build"),
        )
    before = project_at(asked.against) if asked.against else None
    if request.kept:
        policy = policy_of_folder(Path(), asked.policy)
        report = _kept(request.scan, policy)
    else:
        report = scan_project(request.scan, progress, output)
        policy = policy_of_folder(Path(request.scan.folder), asked.policy)
    baseline = baseline_at(asked.baseline or policy.baseline)
    return judged_by(report, policy, baseline, before, asked.against)


def judged_by(
    report: ProjectReport,
    policy: Policy,
    baseline: Baseline | None = None,
    before: ProjectReport | None = None,
    against: str = "",
) -> ProjectGate:
    """What a policy says of a project; ``before``, of the file ``against``, is its base."""
    bases = {} if before is None else _bases(before)
    judged = tuple(_judged(one, policy, baseline, bases, against) for one in report.sources)
    notes = _new(report, bases, against) if before is not None else ()
    return ProjectGate(__version__, report, policy.path, against, judged, notes)


def _kept(asked: ProjectRequest, policy: Policy) -> ProjectReport:
    """What a scan of a project wrote, of the targets that are asked for and as new as they must."""
    found = project_at(asked.folder)
    targets = [str(target) for target in asked.targets or policy.targets]
    max_age = policy.max_age if asked.max_age is None else asked.max_age
    kept: list[SourceResult] = []
    for one in found.sources:
        report = None if one.report is None else report_on(one.report, targets)
        if report is not None and max_age is not None:
            require_fresh_report(report, asked.databases, max_age, date.today())
        kept.append(replace(one, report=report))
    return replace(found, sources=tuple(kept))


def _bases(before: ProjectReport) -> dict[str, Report]:
    """The reports of a change's base that are whole, by the names of their sources."""
    return {one.name: one.report for one in before.sources if one.report and not one.error}


def _new(report: ProjectReport, bases: dict[str, Report], against: str) -> tuple[Sentence, ...]:
    """That some sources have nothing to be compared with."""
    names = [one.name for one in report.sources if one.report and one.name not in bases]
    if not names:
        return ()
    said = Sentence(
        "{file} has no whole answer on {list}: all that fails there is new",
        file=against,
        list=", ".join(names),
    )
    return (said,)


def _judged(
    one: SourceResult,
    policy: Policy,
    baseline: Baseline | None,
    bases: dict[str, Report],
    against: str,
) -> SourceGate:
    if one.report is None:
        return SourceGate(one.name, None, one.error, one.hint)
    base = bases.get(one.name)
    found = judge(one.report, policy, baseline, date.today(), base)
    found = replace(found, against=against if base is not None else "")
    error, hint = one.error, one.hint
    if not error and ended_early(one.report) is None:
        try:
            require_whole(one.report)
        except TraceError as problem:
            error, hint = problem.message, problem.hint
    return SourceGate(one.name, found, error, hint)
