"""A model held against targets, with a way out of what each of them does not run."""

from collections.abc import Sequence

from opcheck.db.selection import names_groups
from opcheck.errors import UsageError
from opcheck.isolate import CutShortError
from opcheck.model.plan import NodePlan
from opcheck.model.report import PartialReportError, Report
from opcheck.model.request import ScanRequest
from opcheck.model.rule import RuleCheck, RuleInfo
from opcheck.model.work import WorkResult
from opcheck.pipeline.opening import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import ranked, report_of, with_plans
from opcheck.pipeline.sized import sized
from opcheck.pipeline.traces import gathered, worked


def plan(request: ScanRequest, progress: Progress = silent, output: Progress = silent) -> Report:
    """Hold a model against targets, and find a way out for each call that leaves the device.

    Raises:
        UsageError, SourceError, TraceError, DatabaseError: as :func:`opcheck.pipeline.scan`.
        PartialReportError: as it does; targets that a plan was made for by then have theirs.
    """
    database = open_database(request.databases)
    matrices = matrices_for(database, request)
    require_age(request, database, matrices)
    progress(f"reading {request.source}")

    def report(results: Sequence[WorkResult]) -> Report:
        plans: dict[str, tuple[NodePlan, ...]] = {}
        for result in results:
            plans.update(result.plans)
        scanned = gathered(results)
        found = report_of(request.source, scanned, matrices, explained=request.explained)
        found = with_plans(found, scanned, matrices, plans)
        found = sized(found, scanned, database, matrices)
        return ranked(found) if names_groups(database, request.targets) else found

    try:
        return report(worked(request, matrices, progress, output, plan=True))
    except CutShortError as error:
        raise PartialReportError(error, report(error.results)) from error


def rules(name: str = "", folders: Sequence[str] = ()) -> tuple[RuleInfo, ...]:
    """Every rewrite rule, or those of one name or for one overload; loads torch.

    ``folders`` hold rules of the user's own.

    Raises:
        UsageError: no rule has that name, nor replaces such an overload; or a folder has none.
    """
    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.listing import described

    return described(name, extra_rules(folders))


def check_rules(name: str = "", folders: Sequence[str] = ()) -> tuple[RuleCheck, ...]:
    """Try rules on many random calls; without a name, those that are not opcheck's own.

    Raises:
        UsageError: as :func:`rules`, or there is none to try.
    """
    from opcheck.rewrite.checking import checked
    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.listing import named

    extra = extra_rules(folders)
    if not (name or extra):
        raise UsageError("no rule to check was named", "name one, or give --rules DIR")
    return tuple(checked(named(name, extra) if name else extra))
