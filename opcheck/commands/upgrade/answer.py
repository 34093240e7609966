"""What else a vendor has that would unblock a model."""

from opcheck.commands.upgrade.moves import moves
from opcheck.commands.upgrade.neighbours import neighbours
from opcheck.commands.upgrade.values import Upgrade
from opcheck.errors import UsageError
from opcheck.model.request import ScanRequest
from opcheck.pipeline.database import Progress, open_database, require_age, silent
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.traces import scanned_for


def upgrade(
    request: ScanRequest, progress: Progress = silent, output: Progress = silent
) -> Upgrade:
    """Say which release, torch version or chip of a vendor unblocks a model on its one target.

    Raises:
        UsageError: not exactly one target, or what :func:`scan` refuses.
        SourceError, TraceError, DatabaseError: as :func:`scan`.
    """
    if len(request.targets) != 1:
        raise UsageError(f"want one target to move from, got {len(request.targets)}")
    database = open_database(request.databases)
    matrix = database.matrix(database.resolve(request.targets[0]))
    require_age(request, database, (matrix,))
    candidates = [
        (found.kind, database.matrix(found.target)) for found in neighbours(database, matrix.target)
    ]
    others = [other for _, other in candidates]
    scanned = scanned_for(request, database, (matrix,), progress, output, others)
    report = report_of(request.model.source, scanned, (matrix,))
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
