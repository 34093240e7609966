"""A live module checked against targets, in this process."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from opcheck import device_types
from opcheck.db.selection import names_groups
from opcheck.device_types import Scanned, Traced
from opcheck.model.dynamic import DynamicInput
from opcheck.model.plan import NodePlan
from opcheck.model.report import Report
from opcheck.model.request import CallSpec, ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.pipeline.database import matrices_for, open_database, silent
from opcheck.pipeline.reports import ranked, report_of, sized, with_lists, with_plans


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
    from opcheck.sandbox.child.runs import plan_targets, registered_alike, runs_of
    from opcheck.source.base import LoadOptions
    from opcheck.source.building.ready import load_live
    from opcheck.source.identity import identity_of_module
    from opcheck.trace import trace_model
    from opcheck.trace.running.model_state import forget
    from opcheck.trace.sizes.dynamic import with_sizes

    database = open_database(databases)
    name = type(module).__name__
    request = ScanRequest(ModelSpec(name, step=step), tuple(targets), databases=tuple(databases))
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
                    gradients=partial(registered_alike, work, databases),
                    unseen=loaded.unseen,
                )
                trace = with_sizes(
                    trace, dynamic, loaded.module, loaded.args, loaded.kwargs,
                    casts=work.casts, autocast=work.autocast,
                )  # fmt: skip
                parts.append(Traced(trace, run.targets))
                wanted = [target for target in work.plan if run.holds_for(target)]
                if wanted:
                    plans.update(plan_targets(trace, work, run, wanted, (), databases, silent))
    finally:
        forget()
    scanned = Scanned(tuple(parts), loaded.kind, loaded.digest, loaded.notes)
    report = report_of(name, scanned, matrices)
    if plan:
        report = with_plans(report, scanned, matrices, plans, database)
    report = sized(report, scanned, database, matrices)
    report = with_lists(report, identity_of_module(module), database, matrices)
    return ranked(report) if names_groups(database, targets) else report
