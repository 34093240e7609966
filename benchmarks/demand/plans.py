"""What keeps traced models off targets, and which of it has a fix: of one device type a process.

``python -m benchmarks.demand.plans FOLDER DEVICE-TYPE COUNT`` adds a file for each of the first
models that has none.
What a stand-in runs as, and how far it is off, is recorded and measured once for all models.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.demand.models import Entry, entries, targets
from benchmarks.demand.traces import Traces, slug
from opcheck import device_types
from opcheck.commands.fleet.blockers import blockers
from opcheck.commands.fleet.values import Blocker
from opcheck.db.store import Database
from opcheck.emulate.gradients import by_registrations
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import NodePlan, Suggestion, Tier
from opcheck.model.report import TargetReport
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Trace
from opcheck.model.work import WorkResult
from opcheck.resolve.findings import Walks, resolve
from opcheck.resolve.suggestions import planned
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.structural.line_proof import Prover
from opcheck.rewrite.structural.suggest import Structural
from opcheck.source.user_code import lines_of

LARGEST = 1 << 16
"""Elements of a call beyond which a fix is not measured here: the rule's tests have done that."""


@dataclass(frozen=True, slots=True)
class Met:
    """One thing that keeps calls of a model off one target."""

    op: str
    code: str
    verdict: str
    called: tuple[str, ...]
    """What the model calls there."""
    rules: tuple[str, ...] = ()
    """The fixes in tiers 1 to 3, the cheapest first; () where it is left without one."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One model in one mode on one target."""

    target: str
    calls: Mapping[str, int]
    """Verdict -> calls."""
    met: tuple[Met, ...] = ()
    left: tuple[str, ...] = ()
    """Operators that stay off the device once all that tiers 1 to 3 offer is done."""


class Plans:
    """Pairs of one device type, model after model."""

    def __init__(self, device_type: str, matrices: Sequence[SupportMatrix]) -> None:
        self._device_type = device_type
        self._matrices = {str(m.target): m for m in matrices}
        self._database = Database.open()
        (self._work,) = device_types.works(matrices)
        self._recorders: dict[tuple[str, ...], Recorder] = {}
        self._tried: dict[tuple[str, object], Suggestion | str] = {}

    def pairs(self, entry: Entry, results: Sequence[WorkResult]) -> Iterator[Pair]:
        """An entry on every target of the type that its traces hold for."""
        if entry.mode == "autocast" and self._work.autocast:
            return  # the type has lists of its own, and was not traced by them
        for result in results:
            names = result.targets or tuple(self._matrices)
            matrices = [self._matrices[name] for name in names if name in self._matrices]
            if matrices:
                recorder = self._recorder(matrices, result.targets)
                yield from self._of_trace(result.trace, matrices, recorder)

    def _recorder(self, matrices: Sequence[SupportMatrix], names: tuple[str, ...]) -> Recorder:
        """Recorders know of gradients only where the trace does."""
        if names not in self._recorders:
            registered = by_registrations(matrices)[0][0] if names else None
            self._recorders[names] = Recorder(
                self._device_type, self._work.casts, registered, self._work.autocast
            )
        return self._recorders[names]

    def _of_trace(
        self, trace: Trace, matrices: Sequence[SupportMatrix], recorder: Recorder
    ) -> Iterator[Pair]:
        planner = Planner(trace, recorder, tried=self._tried, largest=LARGEST)
        structural, walks = Structural(trace, Prover(recorder), _text), Walks()
        for matrix in matrices:
            report = resolve(trace, matrix, walks)
            calls = {verdict.value: count for verdict, count in report.summary.calls.items()}
            name = str(matrix.target)
            if all(finding.verdict.on_device for finding in report.findings):
                yield Pair(name, calls)
                continue
            with recorder.registered():
                plans = planner.plan(matrix, self._database.remedies(matrix.target))
                plans = structural.added(plans, matrix)
            report = planned(report, trace, plans)
            assert report.plan is not None
            met = blockers(trace, walks.over(trace, matrix))
            yield Pair(name, calls, tuple(_met(met, plans, report)), report.plan.stuck)


def _met(
    found: Iterable[Blocker], plans: Sequence[NodePlan], report: TargetReport
) -> Iterator[Met]:
    """What was met, with the fixes of it."""
    assert report.plan is not None
    left = set(report.plan.stuck)
    stuck = {op for plan in plans for op in plan.stuck}
    ways = [way for plan in plans for way in plan.suggestions if _counts(way)]
    ways.sort(key=lambda way: (way.tier, way.label.rank))
    for one in found:
        rules: dict[str, None] = {}
        if not (one.op in stuck and left.intersection(one.called)):
            replaced = {one.op, *one.called}
            rules = dict.fromkeys(way.rule for way in ways if way.replaces in replaced)
        yield Met(one.op, one.code, one.verdict.value, one.called, tuple(rules))


def _counts(way: Suggestion) -> bool:
    return way.tier <= Tier.STRUCTURAL and way.on_device and not way.is_advice


def _text(file: str) -> str:
    return "".join(lines_of(file))


def made(folder: Path, device_type: str, count: int, say: Callable[[str], object]) -> None:
    """Add the pairs of those entries that were traced and have none of this type yet."""
    database = Database.open()
    matrices = [database.matrix(database.resolve(TargetSpec.parse(t))) for t in targets()]
    matrices = [m for m in matrices if m.target.device_type == device_type]
    plans, traces = Plans(device_type, matrices), Traces(folder / "traces")
    for entry in entries(folder)[:count]:
        place = path(folder, entry, device_type)
        if place.exists() or traces.error(entry) != "":
            continue
        begun = time.monotonic()
        found = [asdict(pair) for pair in plans.pairs(entry, traces.read(entry, device_type))]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(found), "utf-8")
        say(f"{device_type} {entry.name} {time.monotonic() - begun:.1f} s")


def path(folder: Path, entry: Entry, device_type: str) -> Path:
    """The file with the pairs of an entry on one device type."""
    return folder / "plans" / device_type / f"{slug(entry)}.json"


if __name__ == "__main__":
    place, kind, first = sys.argv[1:]
    made(Path(place), kind, int(first), lambda line: print(line, file=sys.stderr, flush=True))
