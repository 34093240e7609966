"""One finding of a model, or of a report of one, taken out of it as a script."""

from collections.abc import Iterator
from datetime import date

from opcheck.commands.gate.files import is_report, report_asked_for
from opcheck.commands.repro.choosing import chosen, smallest
from opcheck.commands.repro.reading import read_arguments
from opcheck.commands.repro.script import script
from opcheck.commands.repro.values import Argument, Repro, ReproRequest
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Finding, Report
from opcheck.model.target import TargetSpec
from opcheck.model.trace import OpName, Trace
from opcheck.pipeline.database import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.traces import scanned_for
from opcheck.resolve.findings import argument_text
from opcheck.resolve.walk import Walk
from opcheck.version import __version__

_EMULATED = "PrivateUse1"
_SCAN_AGAIN = "a report is what opcheck scan --format json writes: scan the model again"


def repro(request: ReproRequest, progress: Progress = silent, output: Progress = silent) -> str:
    """A script that makes the smallest call of one finding, without the model.

    Raises:
        UsageError: there is no such finding, several are meant, or no script can make its call.
        SourceError, TraceError, DatabaseError: as of a scan.
    """
    database = open_database(request.scan.databases)
    if is_report(request.scan.model.source):
        return script(_of_report(request, database))
    return script(_of_model(request, database, progress, output))


def _of_report(request: ReproRequest, database: Database) -> Repro:
    report = report_asked_for(request.scan, request.scan, date.today())
    said, finding = chosen(report, request.finding)
    try:
        spec = TargetSpec.parse(said.target)
    except ValueError as error:
        raise UsageError(f"{request.scan.model.source}: {error}", _SCAN_AGAIN) from error
    matrix = database.matrix(database.resolve(spec))
    calls = [read_arguments(place.inputs) for place in finding.uses]
    return _repro(database, matrix, report, finding, calls, strides=False)


def _of_model(
    request: ReproRequest, database: Database, progress: Progress, output: Progress
) -> Repro:
    matrices = matrices_for(database, request.scan)
    require_age(request.scan, database, matrices)
    scanned = scanned_for(request.scan, database, matrices, progress, output)
    report = report_of(request.scan.model.source, scanned, matrices)
    said, finding = chosen(report, request.finding)
    matrix = next(matrix for matrix in matrices if str(matrix.target) == said.target)
    calls = list(_calls(scanned.of(matrix.target), matrix, finding))
    return _repro(database, matrix, report, finding, calls, strides=True)


def _calls(trace: Trace, matrix: SupportMatrix, finding: Finding) -> Iterator[tuple[Argument, ...]]:
    """The arguments of every call that a finding is about."""
    walk = Walk(trace.nodes, matrix, trace.torch_version)
    wanted = {place.inputs for place in finding.uses}
    needed = dict(trace.differentiated)
    for use in trace.uses:
        node, fate = trace.nodes[use.node], walk.fate(use.node)
        same = (str(node.op), use.phase, fate.verdict, fate.code, fate.text) == (
            finding.op, finding.phase, finding.verdict, finding.reason.code, finding.reason.text,
        )  # fmt: skip
        if same and tuple(argument_text(n, v) for n, v in node.arguments) in wanted:
            names = needed.get(use.node, ())
            yield tuple(Argument(n, v, n in names) for n, v in node.arguments)


def _repro(
    database: Database,
    matrix: SupportMatrix,
    report: Report,
    finding: Finding,
    calls: list[tuple[Argument, ...]],
    *,
    strides: bool,
) -> Repro:
    if matrix.compiles_graphs:
        raise UsageError(
            f"{matrix.target} compiles whole graphs, and runs no call on its own",
            "give its compiler the part of the model where the finding is",
        )
    try:
        op = OpName.parse(finding.op)
    except ValueError as error:
        raise UsageError(f"{report.model.source}: {error}", _SCAN_AGAIN) from error
    environment = database.environment(matrix.target.vendor)
    plugin = environment.plugin if environment else None
    return Repro(
        target=matrix.target,
        op=op,
        finding=finding,
        arguments=smallest(calls),
        strides=strides,
        emulated=matrix.dispatch_key == _EMULATED,
        module=plugin.module if plugin else "",
        package=plugin.package if plugin else "",
        torch_version=report.torch_version,
        opcheck_version=__version__,
    )
