"""The order of the rooms: source, trace, database, resolve, report. Nothing here imports torch."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from opcheck import device_types
from opcheck.db.neighbours import neighbours
from opcheck.db.selection import names_groups, select
from opcheck.db.status import require_fresh
from opcheck.db.store import Database
from opcheck.device_types import Scanned
from opcheck.errors import TraceError, UsageError
from opcheck.model.database import (
    Audit,
    Contents,
    DatabaseStatus,
    ImportedFile,
    Imports,
    MatrixDiffs,
)
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.explanation import Explanation, TargetRow
from opcheck.model.matrix import SupportMatrix
from opcheck.model.names import OpName
from opcheck.model.report import ModelInfo, Report
from opcheck.model.request import ScanRequest
from opcheck.model.target import Target, TargetSpec
from opcheck.model.trace import Trace
from opcheck.model.upgrade import Upgrade
from opcheck.model.work import WorkRequest
from opcheck.resolve.findings import resolve
from opcheck.resolve.ranking import best_first
from opcheck.resolve.upgrade import moves
from opcheck.version import __version__

Progress = Callable[[str], None]

_UNSETTLED = "torch was loaded: tables alone do not settle every call of the saved graph"


def _silent(_: str) -> None:
    """Hear nothing."""


def scan(request: ScanRequest, progress: Progress = _silent, output: Progress = _silent) -> Report:
    """Hold the model that ``request`` names against its targets.

    ``progress`` hears the stages, ``output`` each line that the model's own code prints.

    Raises:
        UsageError: an unknown target, source kind or input.
        SourceError, TraceError: the model cannot be loaded or run.
        DatabaseError: a support matrix is missing, damaged or older than may be.
    """
    database = _open(request.databases)
    matrices = _matrices(database, request.targets)
    _require_fresh(request, database, matrices)
    scanned = _scanned(request, database, matrices, progress, output)
    report = _report(request.source, scanned, matrices)
    return _ranked(report) if names_groups(database, request.targets) else report


def upgrade(
    request: ScanRequest, progress: Progress = _silent, output: Progress = _silent
) -> Upgrade:
    """Say which release, torch version or chip of a vendor unblocks a model on its one target.

    Raises:
        UsageError: not exactly one target, or what :func:`scan` refuses.
        SourceError, TraceError, DatabaseError: as :func:`scan`.
    """
    if len(request.targets) != 1:
        raise UsageError(f"want one target to move from, got {len(request.targets)}")
    database = _open(request.databases)
    matrix = database.matrix(database.resolve(request.targets[0]))
    _require_fresh(request, database, (matrix,))
    candidates = [
        (found.kind, database.matrix(found.target)) for found in neighbours(database, matrix.target)
    ]
    others = [other for _, other in candidates]
    scanned = _scanned(request, database, (matrix,), progress, output, others)
    report = _report(request.source, scanned, (matrix,))
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


def emulate(
    request: EmulationRequest, progress: Progress = _silent, output: Progress = _silent
) -> Emulation:
    """Run the model that ``request`` names on an emulated device.

    ``progress`` hears the stages, ``output`` each line that the model's own code prints.

    Raises:
        UsageError: an unknown target, source kind or input.
        SourceError, EmulationError: the model cannot be loaded, or not run on such a device.
        DatabaseError: a support matrix is missing or damaged.
    """
    from opcheck import isolate
    from opcheck.emulate.supported import require_emulated

    database = _open(request.databases)
    # one that is unknown or cannot be emulated needs no process to be refused
    require_emulated(database.matrix(database.resolve(request.target)))
    progress(f"reading {request.source}")
    return isolate.emulate(request, progress=progress, output=output)


def scan_module(
    module: Any, inputs: Any, targets: Sequence[TargetSpec], *, exact: bool = False
) -> Report:
    """Hold a live module against targets, in this process; see :func:`opcheck.scan`."""
    from opcheck.source.live import load_live
    from opcheck.trace import trace_model
    from opcheck.trace.caches import forget

    database = Database.open()
    matrices = _matrices(database, tuple(targets))
    loaded = load_live(module, inputs)
    try:
        traces = [
            trace_model(
                loaded.module,
                loaded.args,
                loaded.kwargs,
                device_type=work.device_type,
                exact={name: frozenset(ops) for name, ops in work.exact.items()},
                casts=work.casts,
            )
            for work in device_types.works(matrices, exact=exact)
        ]
    finally:
        forget()
    scanned = Scanned.of(traces, loaded.kind, loaded.digest, loaded.notes)
    report = _report(type(module).__name__, scanned, matrices)
    return _ranked(report) if names_groups(database, targets) else report


def targets(databases: Sequence[str] = ()) -> tuple[TargetRow, ...]:
    """Every target of the database at its newest release."""
    database = _open(databases)
    return tuple(_row(database, target) for target in database.targets())


def explain(
    operator: str, specs: Sequence[TargetSpec] = (), databases: Sequence[str] = ()
) -> tuple[Explanation, ...]:
    """Say for one operator, overload by overload, how it fares on each target."""
    from opcheck.resolve import explain as room

    database = _open(databases)
    matrices = _matrices(database, tuple(specs))
    torch = database.tables.operator_versions()[-1]
    found = []
    for matrix in matrices:
        operators = database.operators(torch)
        branches = database.composites(torch, matrix.target.device_type)
        found += [
            replace(
                room.explain(
                    op, matrix, operators, branches, torch,
                    database.registered_in(matrix.target.name, str(op)),
                ),
                statements=database.statements(matrix.target, str(op)),
            )
            for op in _overloads(operator, {*operators, *matrix.entries, *matrix.extensions})
        ]  # fmt: skip
    return tuple(found)


def database_status(databases: Sequence[str] = ()) -> DatabaseStatus:
    """Say how old the database is and what it holds."""
    from opcheck.db.status import status

    return status(_open(databases), date.today())


def database_show(spec: TargetSpec, databases: Sequence[str] = ()) -> Contents:
    """Say what the database holds for one target."""
    from opcheck.db.contents import contents

    database = _open(databases)
    return contents(database, database.resolve(spec))


def database_diff(
    before: TargetSpec, after: TargetSpec, databases: Sequence[str] = ()
) -> MatrixDiffs:
    """Say what changed from one target or release to another."""
    from opcheck.db.contents import diffs

    return diffs(_open(databases), before, after)


def database_check(databases: Sequence[str] = ()) -> Audit:
    """Look at every file of the database and say what is wrong."""
    from opcheck.db.audit import audit

    return audit(_open(databases))


def database_import(
    vendor: str, sources: Path, releases: Sequence[str], into: Path | None = None
) -> Imports:
    """Write the files of a vendor's releases from its own files, into the database itself."""
    from opcheck.db.importing import import_files

    root = into or Database.open().root
    found = import_files(vendor, sources, releases, root)
    return Imports(tuple(ImportedFile(str(file.path), file.changed) for file in found))


def _open(databases: Sequence[str]) -> Database:
    return Database.open(overlays=tuple(map(Path, databases)))


def _matrices(database: Database, specs: tuple[TargetSpec, ...]) -> tuple[SupportMatrix, ...]:
    return tuple(database.matrix(target) for target in select(database, specs))


def _require_fresh(
    request: ScanRequest, database: Database, matrices: Sequence[SupportMatrix]
) -> None:
    if request.max_age is not None:
        targets = [matrix.target for matrix in matrices]
        require_fresh(database, targets, request.max_age, date.today())


def _scanned(
    request: ScanRequest,
    database: Database,
    matrices: Sequence[SupportMatrix],
    progress: Progress,
    output: Progress,
    others: Sequence[SupportMatrix] = (),
) -> Scanned:
    """The traces to hold against the targets, without torch where tables settle every call.

    They have to settle them on ``others`` as well, which get no say in how torch traces.
    """
    progress(f"reading {request.source}")
    by_tables = _by_tables(request)
    scanned = _without_torch(request, database, (*matrices, *others)) if by_tables else None
    if scanned is None:
        scanned = _with_torch(request, matrices, progress, output)
        if by_tables:
            scanned = replace(scanned, notes=(*scanned.notes, _UNSETTLED))
    progress("resolving")
    return scanned


def _by_tables(request: ScanRequest) -> bool:
    """Whether tables alone might answer: for a saved graph as it was saved."""
    return request.source.endswith(".pt2") and not (request.exact or request.inputs)


def _without_torch(
    request: ScanRequest, database: Database, matrices: Sequence[SupportMatrix]
) -> Scanned | None:
    """Answer from the saved graph and tables alone; None where that cannot settle every call."""
    from opcheck import saved_graph
    from opcheck.source.pt2_graph import read_trace

    graph = read_trace(Path(request.source))
    trace = saved_graph.trace_of(graph, database, matrices)
    if trace is None:
        return None
    traces = [replace(trace, device_type=work.device_type) for work in device_types.works(matrices)]
    return Scanned.of(traces, "pt2", graph.digest, graph.notes)


def _with_torch(
    request: ScanRequest, matrices: Sequence[SupportMatrix], progress: Progress, output: Progress
) -> Scanned:
    from opcheck import isolate

    requests = [
        WorkRequest(
            source=request.source,
            device_type=first.device_type,
            inputs=request.inputs,
            trust=request.trust,
            exact=first.exact,
            casts=first.casts,
            others=tuple(others),
        )
        for first, *others in device_types.processes(matrices, exact=request.exact)
    ]
    results = isolate.run_all(
        requests, timeout=request.timeout, memory=request.memory, progress=progress, output=output
    )
    traces = [trace for result in results for trace in (result.trace, *result.others)]
    return Scanned.of(traces, results[0].kind, results[0].digest, results[0].notes)


def _report(source: str, scanned: Scanned, matrices: Sequence[SupportMatrix]) -> Report:
    if scanned.empty:
        raise TraceError(
            f"{source} calls no operator, so there is nothing to scan",
            hint="check that the model's forward is reached and takes tensors",
        )
    return Report(
        opcheck_version=__version__,
        torch_version=scanned.first.torch_version,
        model=ModelInfo(source, scanned.kind, scanned.digest or _graph_digest(scanned.first)),
        trace=scanned.info(),
        targets=tuple(resolve(scanned.of_device(m.target.device_type), m) for m in matrices),
    )


def _ranked(report: Report) -> Report:
    return replace(report, targets=best_first(report.targets))


def _graph_digest(trace: Trace) -> str:
    """First 16 hex digits of a sha256 over every call in order, for models without a file."""
    import hashlib

    digest = hashlib.sha256()
    lines = [
        repr((trace.nodes[use.node].op, trace.nodes[use.node].arguments)) for use in trace.uses
    ]
    for use in trace.sequence:
        digest.update(lines[use].encode())
    return digest.hexdigest()[:16]


def _row(database: Database, target: Target) -> TargetRow:
    matrix = database.matrix(target)
    served = database.releases(target.name)
    return TargetRow(
        target=target,
        releases=tuple(dict.fromkeys(t.sdk for t in reversed(served))),
        torch_versions=tuple(t.torch for t in reversed(served) if t.sdk == target.sdk),
        registered=len(matrix.entries),
        date=matrix.database_date,
        device_name=database.chip_name(target),
    )


def _overloads(text: str, known: set[str]) -> tuple[OpName, ...]:
    """Overloads that ``aten::gelu``, ``gelu``, ``aten.gelu.default`` or a base name stands for."""
    name = _schema_spelling(text)
    whole = "::" in text or "." in text  # a bare base name stands for every overload of it
    if whole and name in known:
        return (OpName.parse(name),)
    base = [op for op in known if op.partition(".")[0] == name]
    if not base:
        import difflib

        near = difflib.get_close_matches(name, sorted({op.partition(".")[0] for op in known}), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "give it as aten::add.Tensor"
        raise UsageError(f"unknown operator {text!r}", hint)
    return tuple(OpName.parse(op) for op in sorted(base))


def _schema_spelling(text: str) -> str:
    text = text.removeprefix("torch.ops.")
    if "::" not in text:
        head, dot, rest = text.partition(".")
        known_namespace = dot and head in ("aten", "torchvision", "prims", "quantized")
        text = f"{head}::{rest}" if known_namespace else f"aten::{text}"
    return text.removesuffix(".default")
