"""A model held against targets, and against what else a vendor has."""

from collections.abc import Callable, Sequence
from typing import Any

from opcheck import device_types
from opcheck.db.neighbours import neighbours
from opcheck.db.selection import names_groups
from opcheck.device_types import Scanned, Traced
from opcheck.errors import UsageError
from opcheck.isolate import CutShortError
from opcheck.model.calls import CallSpec
from opcheck.model.dynamic import DynamicInput
from opcheck.model.plan import NodePlan
from opcheck.model.report import PartialReportError, Report
from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.training import TrainingSpec
from opcheck.model.upgrade import Upgrade
from opcheck.pipeline.opening import (
    Progress,
    matrices_for,
    open_database,
    require_age,
    silent,
)
from opcheck.pipeline.reports import ranked, report_of, with_plans
from opcheck.pipeline.sized import sized
from opcheck.pipeline.traces import gathered, scanned_for
from opcheck.resolve.upgrade import moves


def scan(request: ScanRequest, progress: Progress = silent, output: Progress = silent) -> Report:
    """Hold the model that ``request`` names against its targets.

    ``progress`` hears the stages, ``output`` each line that the model's own code prints.

    Raises:
        UsageError: an unknown target, source kind or input.
        SourceError, TraceError: the model cannot be loaded or run.
        PartialReportError: its process ended too early; the error has a report until then.
        DatabaseError: a support matrix is missing, damaged or older than may be.
    """
    database = open_database(request.databases)
    matrices = matrices_for(database, request)
    require_age(request, database, matrices)

    def report(scanned: Scanned) -> Report:
        progress("holding the calls against what the targets have")
        found = report_of(request.source, scanned, matrices, explained=request.explained)
        found = sized(found, scanned, database, matrices)
        return ranked(found) if names_groups(database, request.targets) else found

    try:
        scanned = scanned_for(request, database, matrices, progress, output)
    except CutShortError as error:
        raise PartialReportError(error, report(gathered(error.results))) from error
    return report(scanned)


def upgrade(
    request: ScanRequest, progress: Progress = silent, output: Progress = silent
) -> Upgrade:
    """Say which release, torch version or chip of a vendor unblocks a model on its one target.

    Raises:
        UsageError: not exactly one target, or what :func:`scan` refuses.
        SourceError, TraceError, DatabaseError: as :func:`scan`.
    """
    if len(request.targets) != 1:
        raise UsageError(f"want one target to move from, got {len(request.targets)}")
    database = open_database(request.databases)
    matrix = database.matrix(database.resolve(request.targets[0]))
    require_age(request, database, (matrix,))
    candidates = [
        (found.kind, database.matrix(found.target)) for found in neighbours(database, matrix.target)
    ]
    others = [other for _, other in candidates]
    scanned = scanned_for(request, database, (matrix,), progress, output, others)
    report = report_of(request.source, scanned, (matrix,))
    (today,) = report.targets
    found = moves(scanned.first, today, candidates)
    return Upgrade(
        opcheck_version=report.opcheck_version,
        torch_version=report.torch_version,
        model=report.model,
        trace=report.trace,
        target=matrix.target,
        runs=today.summary.runs,
        support_rate=today.summary.support_rate,
        blocked=found.blocked,
        moves=found.worthwhile,
        tried=len(candidates) if found.blocked else 0,
    )


def scan_module(
    module: Any,
    inputs: Any,
    targets: Sequence[TargetSpec],
    *,
    exact: bool = False,
    step: TrainingSpec | None = None,
    loss: Callable[[Any], Any] | None = None,
    calls: CallSpec | None = None,
    dynamic: Sequence[DynamicInput] = (),
    databases: Sequence[str] = (),
    plan: bool = False,
) -> Report:
    """Hold a live module against targets, in this process; see :func:`opcheck.scan`."""
    from opcheck.source.base import LoadOptions
    from opcheck.source.live import load_live
    from opcheck.trace import trace_model
    from opcheck.trace.caches import forget
    from opcheck.trace.sized import with_sizes
    from opcheck.worker.runs import runs_of
    from opcheck.worker.ways import ways_out

    database = open_database(databases)
    name = type(module).__name__
    request = ScanRequest(name, tuple(targets), step=step, databases=tuple(databases))
    matrices = matrices_for(database, request)
    own_loss = step is not None and loss is None and not step.loss
    options = LoadOptions(calls=calls or CallSpec(), train=step is not None, own_loss=own_loss)
    loaded = load_live(module, inputs, options)
    parts, plans = [], dict[str, tuple[NodePlan, ...]]()
    try:
        for work in device_types.works(matrices, exact=exact, plan=plan):
            for run in runs_of(work, step, databases, loss):
                forget()
                trace = trace_model(
                    loaded.module,
                    loaded.args,
                    loaded.kwargs,
                    device_type=work.device_type,
                    exact={name: frozenset(ops) for name, ops in run.of(work.exact).items()},
                    casts=work.casts,
                    autocast=work.autocast,
                    training=run.training,
                    unseen=loaded.unseen,
                )
                trace = with_sizes(
                    trace, dynamic, loaded.module, loaded.args, loaded.kwargs,
                    casts=work.casts, autocast=work.autocast,
                )  # fmt: skip
                parts.append(Traced(trace, run.targets))
                wanted = [target for target in work.plan if run.holds_for(target)]
                if wanted:
                    plans.update(ways_out(trace, work, run, wanted, (), databases, silent))
    finally:
        forget()
    scanned = Scanned(tuple(parts), loaded.kind, loaded.digest, loaded.notes)
    report = report_of(name, scanned, matrices)
    if plan:
        report = with_plans(report, scanned, matrices, plans)
    report = sized(report, scanned, database, matrices)
    return ranked(report) if names_groups(database, targets) else report
