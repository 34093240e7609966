"""A model held against targets' chips: what it costs there, and what would make it cost less."""

from opcheck.commands.tune.tuned import Subject, tuned
from opcheck.commands.tune.values import TunedTarget, Tuning
from opcheck.costs.roofline import product_of
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.request import ScanRequest
from opcheck.pipeline.database import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.traces import gathered, worked

TOO_MANY = 8
"""More targets than that nobody reads advice for side by side."""


def tune(
    request: ScanRequest, product: str = "", progress: Progress = silent, output: Progress = silent
) -> Tuning:
    """Say what a model costs on each of its targets, and what to change.

    ``product`` is what the chip is sold as; it needs one target.

    Raises:
        UsageError: an unknown target or product, or none or too many targets.
        SourceError, TraceError, DatabaseError: as :func:`opcheck.commands.scan.answer`.
    """
    database = open_database(request.databases)
    matrices = _matrices(database, request)
    if product and len(matrices) > 1:
        raise UsageError("--product is of one target's chip", "give one target with -t")
    require_age(request, database, matrices)
    chips = [database.chip(matrix.target) for matrix in matrices]
    if product:
        product_of(chips[0], product)  # refused before the model is loaded
    progress(f"reading {request.model.source}")
    scanned = gathered(worked(request, matrices, progress, output, costs=True))
    progress("holding what it costs against what the chips have")
    report = report_of(request.model.source, scanned, matrices)
    targets: list[TunedTarget] = []
    for matrix, chip, found in zip(matrices, chips, report.targets, strict=True):
        subject = Subject(
            request.model.source, scanned.of(matrix.target), matrix, found, request.model.step
        )
        remedies = database.remedies(matrix.target)
        targets.append(tuned(subject, chip, product, remedies))
    return Tuning(
        opcheck_version=report.opcheck_version,
        torch_version=report.torch_version,
        model=report.model,
        trace=report.trace,
        targets=tuple(targets),
    )


def _matrices(database: Database, request: ScanRequest) -> tuple[SupportMatrix, ...]:
    if not request.targets:
        raise UsageError(
            "tune is for targets that are named", "name one with -t; opcheck targets lists them"
        )
    matrices = matrices_for(database, request)
    if len(matrices) > TOO_MANY:
        raise UsageError(
            f"tune is for {TOO_MANY} targets at most, and these are {len(matrices)}",
            "name single chips with -t",
        )
    return matrices
