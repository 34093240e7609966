"""A trace resolved on each target, as one report, with the places where sizes matter."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from opcheck.db.store import Database
from opcheck.device_types import Scanned
from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.model_lists import ModelIdentity
from opcheck.model.plan import NodePlan
from opcheck.model.report import ModelInfo, Report
from opcheck.model.trace import Trace
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


def report_of(
    source: str, scanned: Scanned, matrices: Sequence[SupportMatrix], *, explained: bool = False
) -> Report:
    """Hold the traces of one model against every target.

    ``explained``: each finding says what was looked at.
    """
    if scanned.empty:
        raise nothing_called(source)
    walks = Walks()
    return Report(
        opcheck_version=__version__,
        torch_version=scanned.first.torch_version,
        model=ModelInfo(source, scanned.kind, scanned.digest or graph_digest(scanned.first)),
        trace=scanned.info(),
        targets=tuple(
            resolve(scanned.of(m.target), m, walks, explained=explained) for m in matrices
        ),
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
