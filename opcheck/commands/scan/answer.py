"""A model checked against targets, and against what else a vendor has."""

from opcheck.db.selection import names_groups
from opcheck.device_types import Scanned
from opcheck.model.report import PartialReportError, Report
from opcheck.model.request import ScanRequest
from opcheck.model.work import CutShortError
from opcheck.pipeline.database import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import TargetReports, ranked, report_of, sized, with_lists
from opcheck.pipeline.traces import gathered, scanned_for
from opcheck.source.identity import identity_of


def scan(
    request: ScanRequest,
    progress: Progress = silent,
    output: Progress = silent,
    *,
    apart: bool = False,
) -> Report:
    """Hold the model that ``request`` names against its targets.

    ``progress`` hears the stages, ``output`` each line that the model's own code prints. ``apart``:
    everything of the model is read in a process of its own, also what needs no torch.

    Raises:
        UsageError: an unknown target, source kind or input.
        SourceError, TraceError: the model cannot be loaded or run.
        PartialReportError: its process ended too early; the error has a report until then.
        DatabaseError: a support matrix is missing, damaged or older than may be.
    """
    database = open_database(request.databases)
    matrices = matrices_for(database, request)
    require_age(request, database, matrices)
    held = TargetReports(matrices, explained=request.explained)

    def report(scanned: Scanned) -> Report:
        progress("holding the calls against what the targets have")
        found = report_of(request.model.source, scanned, matrices, begun=held)
        found = sized(found, scanned, database, matrices)
        model = identity_of(request.model.source, scanned.kind)
        found = with_lists(found, model, database, matrices)
        return ranked(found) if names_groups(database, request.targets) else found

    try:
        scanned = scanned_for(
            request, database, matrices, progress, output, heard=held.take, apart=apart
        )
    except CutShortError as error:
        raise PartialReportError(error, report(gathered(error.results))) from error
    return report(scanned)
