"""A model held against targets, and these ranked for it."""

from collections.abc import Mapping

from opcheck.commands.choose.choices import choice_of
from opcheck.commands.choose.offers import computed
from opcheck.commands.choose.ranking import ranked
from opcheck.commands.choose.values import Choice, Choosing
from opcheck.costs.calls import TargetCalls, memory_need
from opcheck.model.plan import NodePlan
from opcheck.model.request import ScanRequest
from opcheck.pipeline.database import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import report_of, with_plans
from opcheck.pipeline.traces import gathered, worked

UNCOUNTED = "nobody has said how many operations these take, so that their bytes alone bound them"


def choose(
    request: ScanRequest, progress: Progress = silent, output: Progress = silent
) -> Choosing:
    """Rank targets for a model: whether each runs it, has room for it, and how fast at best.

    Raises:
        UsageError, SourceError, TraceError, DatabaseError: as :func:`opcheck.commands.scan.answer`.
    """
    database = open_database(request.databases)
    matrices = matrices_for(database, request)
    require_age(request, database, matrices)
    progress(f"reading {request.model.source}")
    results = worked(request, matrices, progress, output, plan=True, costs=True)
    plans: dict[str, tuple[NodePlan, ...]] = {}
    for result in results:
        plans.update(result.plans)
    scanned = gathered(results)
    report = report_of(request.model.source, scanned, matrices)
    report = with_plans(report, scanned, matrices, plans)
    progress("ranking")
    choices: list[Choice] = []
    dtypes: Mapping[str, int] = {}
    uncounted: set[str] = set()
    for found, matrix in zip(report.targets, matrices, strict=True):
        running = TargetCalls(scanned.of(matrix.target), matrix)
        leaves = running.leaves()
        need = memory_need(running)
        chip, device_type = database.chip(matrix.target), matrix.target.device_type
        choices.append(choice_of(found, chip, device_type, leaves, need, report.trace.gaps))
        dtypes = dtypes or computed(leaves)
        uncounted |= {leaf.op for leaf in leaves if leaf.cost.flops is None}
    return Choosing(
        report.opcheck_version,
        report.torch_version,
        report.model,
        report.trace,
        ranked(choices),
        dtypes,
        (f"{UNCOUNTED}: {', '.join(sorted(uncounted))}",) if uncounted else (),
    )
