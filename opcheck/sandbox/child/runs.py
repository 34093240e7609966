"""The runs that a model is traced in for one device type, and the fixes that are suggested."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from opcheck.db.store import Database
from opcheck.db.versions import version_key
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import NodePlan
from opcheck.model.request import TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Trace
from opcheck.model.work import DeviceWork
from opcheck.source.user_code import lines_of

if TYPE_CHECKING:
    from opcheck.trace.running.training import Registrations, Training


T = TypeVar("T")


class Run(Struct, frozen=True):
    """One run of the model, whose trace holds for some targets."""

    targets: tuple[str, ...] = ()
    """``str(Target)``; (): every target of the device type."""
    training: "Training | None" = None
    """The step; None: a forward."""

    def holds_for(self, target: str) -> bool:
        """Whether its trace is true of a target of this device type."""
        return target in self.targets or not self.targets

    def torch(self, work: DeviceWork) -> tuple[int, ...]:
        """The torch that all of its targets have, as (2, 7); () where they differ."""
        targets = self.targets or work.targets
        found = {version_key(TargetSpec.parse(target).torch) for target in targets}
        return found.pop() if len(found) == 1 else ()

    def of(self, by_target: Mapping[str, T]) -> Mapping[str, T]:
        """The part of a mapping by target that belongs to this run."""
        return {target: value for target, value in by_target.items() if self.holds_for(target)}


def runs_of(
    work: DeviceWork,
    step: TrainingSpec | None,
    databases: Sequence[str],
    loss: Callable[[Any], Any] | None = None,
) -> tuple[Run, ...]:
    """The runs for one device type: one forward, or a step for each way to differentiate.

    ``loss`` stands in for the one that the step names.

    Raises:
        SourceError: the step names a loss that is not there.
    """
    if step is None:
        return (Run(),)
    from opcheck.emulate.gradients import by_registrations
    from opcheck.source.building.training_data import loss_named
    from opcheck.trace.running.training import Training
    from opcheck.trace.running.training_step import TrainingStep

    made = TrainingStep.of(step, loss or loss_named(step.loss))
    return tuple(
        Run(tuple(str(matrix.target) for matrix in group), Training(made, registered))
        for registered, group in by_registrations(_matrices(work, databases))
    )


def registered_alike(work: DeviceWork, databases: Sequence[str]) -> "Registrations | None":
    """What all targets of a device type register, for gradients; None where it differs."""
    from opcheck.emulate.gradients import by_registrations

    groups = by_registrations(_matrices(work, databases))
    return groups[0][0] if len(groups) == 1 else None


def _matrices(work: DeviceWork, databases: Sequence[str]) -> list[SupportMatrix]:
    database = Database.open(overlays=tuple(map(Path, databases)))
    return [database.matrix(database.resolve(TargetSpec.parse(name))) for name in work.targets]


def plan_targets(
    trace: Trace,
    work: DeviceWork,
    run: Run,
    targets: Sequence[str],
    rules: Sequence[str],
    databases: Sequence[str],
    progress: Callable[[str], None],
) -> Mapping[str, tuple[NodePlan, ...]]:
    """The suggestions on each of ``targets``; ``rules`` are folders of the user's own."""
    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.planner import Planner
    from opcheck.rewrite.record import Recorder
    from opcheck.rewrite.structural.line_proof import Prover
    from opcheck.rewrite.structural.suggest import Structural

    database = Database.open(overlays=tuple(map(Path, databases)))
    registrations = None if run.training is None else run.training.registrations
    recorder = Recorder(work.device_type, work.casts, registrations, work.autocast)
    planner = Planner(trace, recorder, extra_rules(rules))
    structural = Structural(trace, Prover(recorder), _text)
    found: dict[str, tuple[NodePlan, ...]] = {}
    for target in targets:
        progress(Sentence("looking for fixes on {target}", target=target))
        resolved = database.resolve(TargetSpec.parse(target))
        matrix = database.matrix(resolved)
        with recorder.registered():
            plans = planner.plan(matrix, database.remedies(resolved))
            found[target] = structural.added(plans, matrix)
    return found


def _text(file: str) -> str:
    """The text of a file as a trace names it; it is looked for along ``sys.path`` as well."""
    return "".join(lines_of(file))
