"""A report with the places where sizes matter that are not always the same."""

from collections.abc import Sequence

from msgspec.structs import replace

from opcheck.db.store import Database
from opcheck.device_types import Scanned
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Report
from opcheck.resolve.dynamic import sites, taken


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
