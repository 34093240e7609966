"""What there is to scan against."""

from collections.abc import Sequence

from opcheck.commands.targets.values import TargetRow
from opcheck.db.releases import toolkit_names
from opcheck.db.store import Database
from opcheck.model.target import Target, TargetKind
from opcheck.pipeline.database import open_database


def targets(databases: Sequence[str] = ()) -> tuple[TargetRow, ...]:
    """Every target of the database at its newest release."""
    database = open_database(databases)
    return tuple(_row(database, target) for target in database.of_kind(*TargetKind))


def _row(database: Database, target: Target) -> TargetRow:
    matrix = database.matrix(target)
    served = database.releases(target.name)
    called = database.called.called(target.vendor)
    return TargetRow(
        target=target,
        releases=tuple(dict.fromkeys(t.sdk for t in reversed(served))),
        torch_versions=tuple(t.torch for t in reversed(served) if t.sdk == target.sdk),
        registered=len(matrix.entries),
        date=matrix.database_date,
        device_name=database.chip_name(target),
        also=called.chips.get(target.chip, ()) if target.mode is None else (),
        vendor_also=called.also if target.mode is None else (),
        toolkits=toolkit_names(database.toolkits(target)),
        opsets=tuple(database.opsets(target)),
    )
