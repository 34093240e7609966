"""A model, or a report of one, compared with a project's policy."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.gate.files import (
    baseline_at,
    ended_early,
    is_report,
    policy_at,
    report_at,
    report_of_targets,
    require_fresh_report,
    require_replaceable,
    require_whole,
)
from opcheck.commands.gate.judging.accepted import baseline_of
from opcheck.commands.gate.judging.judge import judge
from opcheck.commands.gate.values import GateRequest, GateResult, PartialGateError
from opcheck.commands.plan.answer import plan as planned
from opcheck.commands.scan.answer import scan
from opcheck.db.selection import select
from opcheck.errors import OpcheckError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.policy import Policy
from opcheck.model.report import PartialReportError, Report
from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.pipeline.database import Progress, open_database, silent
from opcheck.settings.policy_file import FILE, PYPROJECT, policies_in, starting_policy


def gate(
    request: GateRequest, progress: Progress = silent, output: Progress = silent
) -> GateResult:
    """Hold the model or the report that ``request`` names against its policy.

    Raises:
        UsageError: the policy, the baseline or a report cannot be used.
        SourceError, TraceError: the model cannot be loaded or run.
        PartialGateError: it was not run to its end; the error has the answer until then.
        DatabaseError: the database is missing, damaged or older than the policy allows.
    """
    if request.accept and request.against:
        raise UsageError(
            Sentence("a baseline accepts all that fails, and a comparison is about what is new"),
            Sentence("give --write-baseline or --against, not both"),
        )
    policy = policy_at(request.policy)
    require_replaceable(request.accept)
    scanned = replace(
        request.scan,
        targets=request.scan.targets or policy.targets,
        max_age=policy.max_age if request.scan.max_age is None else request.scan.max_age,
    )
    baseline = None if request.accept else baseline_at(request.baseline or policy.baseline)
    against = report_at(request.against) if request.against else None
    today = date.today()
    early: OpcheckError | None
    if is_report(scanned.model.source):
        report = report_of_targets(scanned, request.scan, today, plan=request.plan)
        early = ended_early(report)
    else:
        report, early = _scanned(scanned, progress, output, plan=request.plan)
    if early is not None:
        found = replace(judge(report, policy, baseline, today, against), against=request.against)
        raise PartialGateError(early, found) from early
    require_whole(report)
    found = replace(judge(report, policy, baseline, today, against), against=request.against)
    if not request.accept:
        return found
    accepted = baseline_of(found)
    return replace(judge(report, policy, accepted, today), accepted=accepted)


def _scanned(
    request: ScanRequest, progress: Progress, output: Progress, *, plan: bool
) -> tuple[Report, OpcheckError | None]:
    """The report, with suggestions where ``plan`` says so, and why it is partial where it is."""
    run = planned if plan else scan
    try:
        return run(request, progress, output), None
    except PartialReportError as error:
        return error.report, error


def gate_report(
    report: Report,
    policy: Policy,
    baseline: str = "",
    against: Report | None = None,
    databases: Sequence[str] = (),
) -> GateResult:
    """Hold a report at hand against a policy at hand; see :func:`opcheck.gate`."""
    accepted = baseline_at(baseline or policy.baseline)
    today = date.today()
    require_whole(report)
    if policy.max_age is not None:
        require_fresh_report(report, databases, policy.max_age, today)
    if against is not None:
        require_whole(against)
    found = judge(report, policy, accepted, today, against)
    return found if against is None else replace(found, against=against.model.source)


def init_policy(
    targets: Sequence[TargetSpec], folder: Path, sources: str = "", *, force: bool = False
) -> tuple[Path, str]:
    """Where a project's policy belongs, and the text to put there.

    ``sources`` is the part that lists its sources; ``force``: over a policy that is there.

    Raises:
        UsageError: there is one already, or a target that is not known.
    """
    select(open_database(), targets)
    path = folder / FILE
    there = policies_in(folder)
    if force:
        there = [one for one in there if one.name == PYPROJECT]
    if there or (path.exists() and not force):
        where = there[0].name if there else FILE
        what = Sentence("[tool.opcheck] in {file}", file=PYPROJECT) if where == PYPROJECT else where
        raise UsageError(
            Sentence("there is a policy already: {said}", said=what),
            Sentence("change it, or take it away first"),
        )
    return path, starting_policy(targets, sources)
