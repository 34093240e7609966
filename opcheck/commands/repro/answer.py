"""One finding of a model, or of a report of one, chosen and written as a script."""

from collections.abc import Iterator, Sequence
from datetime import date

from opcheck.commands.gate.files import is_report, report_of_targets
from opcheck.commands.repro.arguments import read_arguments
from opcheck.commands.repro.script import script
from opcheck.commands.repro.values import Argument, Repro, ReproRequest
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.target import TargetSpec
from opcheck.model.trace import OpName, TensorMeta, Trace, Value
from opcheck.pipeline.database import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.traces import scanned_for
from opcheck.resolve.findings import argument_text
from opcheck.resolve.walk import Walk
from opcheck.version import __version__

SHORTEST = 4
"""Characters of an id that may stand for it, where only one begins so."""
_LISTED = 5


def chosen(report: Report, wanted: str) -> tuple[TargetReport, Finding]:
    """The finding of a report that an id, its beginning or an overload stands for.

    Raises:
        UsageError: it stands for none, or for several.
    """
    every = [(target, finding) for target in report.targets for finding in target.findings]
    found = [pair for pair in every if pair[1].id == wanted]
    found = found or [pair for pair in every if pair[1].op == wanted]
    if not found and len(wanted) >= SHORTEST:
        found = [pair for pair in every if pair[1].id.startswith(wanted)]
    match found:
        case [pair]:
            return pair
        case []:
            raise UsageError(
                Sentence(
                    "{source} has no finding {id}", source=report.model.source, id=repr(wanted)
                ),
                _known([finding for _, finding in every]),
            )
    if len({target.target for target, _ in found}) > 1:
        names = ", ".join(dict.fromkeys(target.target for target, _ in found))
        raise UsageError(
            Sentence(
                "{id} is a finding on several targets: {list_targets}",
                id=repr(wanted),
                list_targets=names,
            ),
            Sentence("name one of them with -t"),
        )
    raise UsageError(
        Sentence(
            "{id} stands for {count} findings of {source}",
            id=repr(wanted),
            count=len(found),
            source=report.model.source,
        ),
        Sentence(
            "give the id of one: {text}",
            text=", ".join((_finding_line(finding) for _, finding in found)),
        ),
    )


def _known(findings: Sequence[Finding]) -> Sentence:
    """What there is, what blocks first."""
    worst = sorted(findings, key=lambda finding: -finding.verdict.rank)[:_LISTED]
    if not worst:
        return Sentence("it has none at all")
    ids = ", ".join(map(_finding_line, worst))
    more = len(findings) - len(worst)
    if not more:
        return Sentence("ids are in what opcheck scan --format json writes: {text}", text=ids)
    return Sentence(
        "ids are in what opcheck scan --format json writes: {text} and {count} more",
        text=ids,
        count=more,
    )


def _finding_line(finding: Finding) -> str:
    return f"{finding.id} ({finding.op}, {finding.verdict})"


def smallest(calls: Sequence[tuple[Argument, ...]]) -> tuple[Argument, ...]:
    """The first of the calls with the fewest elements."""
    return min(calls, key=lambda given: sum(_elements(each.value) for each in given))


def _elements(value: Value) -> int:
    if isinstance(value, tuple):
        return sum(map(_elements, value))
    return value.numel if isinstance(value, TensorMeta) else 0


_EMULATED = "PrivateUse1"
_SCAN_AGAIN = Sentence("a report is what opcheck scan --format json writes: scan the model again")


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
    report = report_of_targets(request.scan, request.scan, date.today())
    said, finding = chosen(report, request.finding)
    try:
        spec = TargetSpec.parse(said.target)
    except ValueError as error:
        raise UsageError(
            Sentence("{error}: {text}", error=request.scan.model.source, text=error), _SCAN_AGAIN
        ) from error
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
        node, resolution = trace.nodes[use.node], walk.resolution(use.node)
        same = (str(node.op), use.phase, resolution.verdict, resolution.code, resolution.text) == (
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
            Sentence(
                "{target} compiles whole graphs, and runs no call on its own", target=matrix.target
            ),
            Sentence("give its compiler the part of the model where the finding is"),
        )
    try:
        op = OpName.parse(finding.op)
    except ValueError as error:
        raise UsageError(
            Sentence("{error}: {text}", error=report.model.source, text=error), _SCAN_AGAIN
        ) from error
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
