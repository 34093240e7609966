"""A model checked against targets, with a suggestion for what each of them does not run."""

from collections.abc import Sequence

from opcheck.db.selection import names_groups
from opcheck.lang.sentence import Sentence
from opcheck.model.plan import NodePlan
from opcheck.model.report import PartialReportError, Report
from opcheck.model.request import ScanRequest
from opcheck.model.work import CutShortError, WorkResult
from opcheck.pipeline.database import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import ranked, report_of, sized, with_lists, with_plans
from opcheck.pipeline.traces import gathered, worked
from opcheck.source.identity import identity_of


def plan(request: ScanRequest, progress: Progress = silent, output: Progress = silent) -> Report:
    """Hold a model against targets, and find a suggestion for each call that leaves the device.

    Raises:
        UsageError, SourceError, TraceError, DatabaseError: as :func:`opcheck.commands.scan.answer`.
        PartialReportError: as it does; targets that a plan was made for by then have theirs.
    """
    database = open_database(request.databases)
    matrices = matrices_for(database, request)
    require_age(request, database, matrices)
    progress(Sentence("reading {text}", text=request.model.source))

    def report(results: Sequence[WorkResult]) -> Report:
        plans: dict[str, tuple[NodePlan, ...]] = {}
        for result in results:
            plans.update(result.plans)
        scanned = gathered(results)
        found = report_of(request.model.source, scanned, matrices, explained=request.explained)
        found = with_plans(found, scanned, matrices, plans, database)
        found = sized(found, scanned, database, matrices)
        model = identity_of(request.model.source, scanned.kind)
        found = with_lists(found, model, database, matrices)
        return ranked(found) if names_groups(database, request.targets) else found

    try:
        return report(worked(request, matrices, progress, output, plan=True))
    except CutShortError as error:
        raise PartialReportError(error, report(error.results)) from error
