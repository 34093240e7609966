"""A trace resolved on each target, as one report, with the places where sizes matter."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from opcheck.db.store import Database
from opcheck.device_types import Scanned, Traced
from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.model_lists import ModelIdentity
from opcheck.model.plan import NodePlan
from opcheck.model.report import ModelInfo, Report, TargetReport
from opcheck.model.trace import Trace
from opcheck.model.work import WorkResult
from opcheck.resolve.dynamic import sites, taken
from opcheck.resolve.findings import Walks, best_first, resolve
from opcheck.version import __version__


def sized(
    report: Report, scanned: Scanned, database: Database, matrices: Sequence[SupportMatrix]
) -> Report:
    """The report with how each target takes them; its targets are those of ``matrices``."""
    if not any(map(sites, scanned.traces)):
        return report
    targets = tuple(
        replace(found, dynamic=taken(scanned.of(m.target), m, database.size_rules(m.target)))
        for found, m in zip(report.targets, matrices, strict=True)
    )
    return replace(report, targets=targets)


class TargetReports:
    """Traces held against targets, each as soon as it is there: others may take a while yet."""

    def __init__(self, matrices: Sequence[SupportMatrix], *, explained: bool = False) -> None:
        self._matrices, self._explained = matrices, explained
        self._walks = Walks()
        self._made: dict[str, tuple[Trace, TargetReport]] = {}

    def take(self, result: WorkResult) -> None:
        """Hold a trace against the targets that it is true of."""
        part = Traced(result.trace, result.targets)
        for matrix in self._matrices:
            if part.holds_for(matrix.target):
                self.of(part.trace, matrix)

    def of(self, trace: Trace, matrix: SupportMatrix) -> TargetReport:
        """What holds on a target for this trace."""
        name = str(matrix.target)
        if name not in self._made or self._made[name][0] is not trace:
            found = resolve(trace, matrix, self._walks, explained=self._explained)
            self._made[name] = trace, found
        return self._made[name][1]


def report_of(
    source: str,
    scanned: Scanned,
    matrices: Sequence[SupportMatrix],
    *,
    explained: bool = False,
    begun: TargetReports | None = None,
) -> Report:
    """Hold the traces of one model against every target.

    ``explained``: each finding says what was looked at. ``begun``: has some already, of the same
    targets, and says so itself.
    """
    if scanned.empty:
        raise nothing_called(source)
    held = begun or TargetReports(matrices, explained=explained)
    return Report(
        opcheck_version=__version__,
        torch_version=scanned.first.torch_version,
        model=ModelInfo(source, scanned.kind, scanned.digest or graph_digest(scanned.first)),
        trace=scanned.info(),
        targets=tuple(held.of(scanned.of(m.target), m) for m in matrices),
    )


def with_lists(
    report: Report,
    model: ModelIdentity,
    database: Database,
    matrices: Sequence[SupportMatrix],
) -> Report:
    """The report with what lists say of the model; its targets are those of ``matrices``."""
    if model == ModelIdentity(dtype=model.dtype):
        return report
    from opcheck.db.model_lists import evidence_on

    targets = tuple(
        replace(
            found,
            model=evidence_on(
                database.model_rows, model, m.target, report.trace.mode, found.summary.runs
            ),
        )
        for found, m in zip(report.targets, matrices, strict=True)
    )
    return replace(report, targets=targets)


def nothing_called(source: str) -> TraceError:
    """That a model was run and asked for nothing."""
    return TraceError(
        Sentence("{text} calls no operator, so there is nothing to scan", text=source),
        hint=Sentence("check that the model's forward is reached and takes tensors"),
    )


def with_plans(
    report: Report,
    scanned: Scanned,
    matrices: Sequence[SupportMatrix],
    plans: Mapping[str, Sequence[NodePlan]],
    database: Database,
) -> Report:
    """The same report with the suggestions beside its findings; ``plans`` by target.

    A target that no plan was made for, since its run ended before, stays as it is.
    """
    from opcheck.resolve.suggestions import planned

    targets = tuple(
        planned(found, scanned.of(m.target), plans[name], database.remedies(m.target))
        if (name := str(m.target)) in plans
        else found
        for found, m in zip(report.targets, matrices, strict=True)
    )
    return replace(report, targets=targets)


def ranked(report: Report) -> Report:
    """The same report with the best target first."""
    return replace(report, targets=best_first(report.targets))


def graph_digest(trace: Trace) -> str:
    """First 16 hex digits of a sha256 over every call in order, for models without a file."""
    import hashlib

    digest = hashlib.sha256()
    lines = [
        repr((trace.nodes[use.node].op, trace.nodes[use.node].arguments)) for use in trace.uses
    ]
    for use in trace.sequence:
        digest.update(lines[use].encode())
    return digest.hexdigest()[:16]
