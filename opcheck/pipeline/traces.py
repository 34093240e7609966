"""The traces of a model for the device types of its targets, without torch where tables do."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck import device_types
from opcheck.db.store import Database
from opcheck.device_types import Scanned, Traced
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.request import CallSpec, ScanRequest
from opcheck.model.work import WorkRequest, WorkResult
from opcheck.pipeline.database import Progress
from opcheck.pipeline.older_torch import with_older
from opcheck.sandbox import command_line
from opcheck.source.user_code import is_code

Heard = Callable[[WorkResult], object]
"""Hears of a trace while others are still made; it may come to be left out for an older torch's."""
_UNSETTLED = "torch was loaded: tables alone do not settle every call of the saved graph"


def scanned_for(
    request: ScanRequest,
    database: Database,
    matrices: Sequence[SupportMatrix],
    progress: Progress,
    output: Progress,
    others: Sequence[SupportMatrix] = (),
    *,
    heard: Heard = lambda _: None,
    apart: bool = False,
) -> Scanned:
    """The traces to hold against the targets, without torch where tables settle every call.

    They have to settle them on ``others`` as well, which get no say in how torch traces. ``heard``
    hears of a trace by torch when it is done. ``apart``: this process is not confined, and reads no
    graph.
    """
    if not is_code(request.model.source, trust=request.model.trust):
        database.tables.index()
        command_line.current().begin((database.cache or "",))
    progress(Sentence("reading {text}", text=request.model.source))
    by_tables = not apart and _by_tables(request)
    scanned = _without_torch(request, database, (*matrices, *others)) if by_tables else None
    if scanned is None:
        scanned = gathered(worked(request, matrices, progress, output, heard))
        if by_tables:
            scanned = replace(scanned, notes=(*scanned.notes, _UNSETTLED))
    progress("resolving")
    return scanned


def _by_tables(request: ScanRequest) -> bool:
    """Whether tables alone might answer: for a saved graph as it was saved."""
    as_saved = not (
        request.exact
        or request.model.inputs
        or request.model.step
        or request.model.calls != CallSpec()
    )
    as_saved = as_saved and not request.model.dynamic
    return as_saved and request.model.source.endswith(".pt2")


def _without_torch(
    request: ScanRequest, database: Database, matrices: Sequence[SupportMatrix]
) -> Scanned | None:
    """Answer from the saved graph and tables alone; None where that cannot settle every call."""
    from opcheck import saved_graph
    from opcheck.source.pt2.graph import read_trace

    graph = read_trace(Path(request.model.source))
    trace = saved_graph.trace_of(graph, database, matrices)
    if trace is None:
        return None
    traces = tuple(
        Traced(replace(trace, device_type=work.device_type))
        for work in device_types.works(matrices)
    )
    return Scanned(traces, "pt2", graph.digest, graph.notes)


def worked(
    request: ScanRequest,
    matrices: Sequence[SupportMatrix],
    progress: Progress,
    output: Progress,
    heard: Heard = lambda _: None,
    *,
    plan: bool = False,
    costs: bool = False,
) -> tuple[WorkResult, ...]:
    """The model traced by torch, once for each device type, and for each older torch that differs.

    With suggestions, or with what calls cost, where that is asked for.
    """
    from opcheck.sandbox.parent import run

    asked = WorkRequest(
        request.model,
        device_types.processes(matrices, exact=request.exact, plan=plan),
        request.databases,
        request.rules,
        costs,
    )
    results = run.run(asked, progress=progress, output=output, heard=heard)
    # what the model prints was heard, and the stages are the same again
    return with_older(results, asked, matrices, run.run, progress)


def gathered(results: Sequence[WorkResult]) -> Scanned:
    """What was traced of one model, for all device types."""
    traces = tuple(Traced(result.trace, result.targets) for result in results)
    return Scanned(traces, results[0].kind, results[0].digest, results[0].notes)
