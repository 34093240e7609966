"""Ways out of what targets do not run, for one trace in a process that has torch."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from opcheck.db.store import Database
from opcheck.model.plan import NodePlan
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Trace
from opcheck.model.work import DeviceWork
from opcheck.source.user_code import lines_of
from opcheck.worker.runs import Run


def ways_out(
    trace: Trace,
    work: DeviceWork,
    run: Run,
    targets: Sequence[str],
    rules: Sequence[str],
    databases: Sequence[str],
    progress: Callable[[str], None],
) -> Mapping[str, tuple[NodePlan, ...]]:
    """The ways out on each of ``targets``; ``rules`` are folders of the user's own."""
    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.planner import Planner
    from opcheck.rewrite.record import Recorder
    from opcheck.rewrite.structural.proof import Prover
    from opcheck.rewrite.structural.suggest import Structural

    database = Database.open(overlays=tuple(map(Path, databases)))
    registrations = None if run.training is None else run.training.registrations
    recorder = Recorder(work.device_type, work.casts, registrations, work.autocast)
    planner = Planner(trace, recorder, extra_rules(rules))
    structural = Structural(trace, Prover(recorder), _text)
    found: dict[str, tuple[NodePlan, ...]] = {}
    for target in targets:
        progress(f"looking for ways out on {target}")
        resolved = database.resolve(TargetSpec.parse(target))
        matrix = database.matrix(resolved)
        plans = planner.plan(matrix, database.remedies(resolved))
        found[target] = structural.added(plans, matrix)
    return found


def _text(file: str) -> str:
    """The text of a file as a trace names it; it is looked for along ``sys.path`` as well."""
    return "".join(lines_of(file))
