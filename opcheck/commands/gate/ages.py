"""Whether what a report rests on is as new as a policy asks."""

from collections.abc import Iterator, Sequence
from datetime import date

from opcheck.db.status import days_since, require_fresh
from opcheck.db.store import Database
from opcheck.errors import DatabaseError, UsageError
from opcheck.model.report import Report, TargetReport
from opcheck.model.target import Target, TargetSpec
from opcheck.pipeline.database import open_database


def require_fresh_report(report: Report, databases: Sequence[str], days: int, today: date) -> None:
    """Refuse a report whose vendors' data is older than so many days.

    What was looked up in the database of today is as old as its vendor's newest data, as in a scan;
    of any other all that is known is the date that the report has.

    Raises:
        DatabaseError: it is older, or its date is not known.
    """
    database = open_database(databases)
    current = dict(_current(database, report.targets))
    require_fresh(database, current.values(), days, today)
    for target in report.targets:
        if target.target in current:
            continue
        age = days_since(target.database_date, today)
        if age is None or age > days:
            told = f"{age} days old" if age is not None else "of no known date"
            raise DatabaseError(
                f"the data of {target.target} in the report is {told}, too old for the policy of "
                f"{days} days",
                "scan again with a newer opcheck",
            )


def _current(database: Database, targets: Sequence[TargetReport]) -> Iterator[tuple[str, Target]]:
    """The targets whose data in the report is that of the database, each by its name."""
    for reported in targets:
        try:
            target = database.resolve(TargetSpec.parse(reported.target))
        except (ValueError, UsageError):  # no longer, or not yet, in this database
            continue
        if database.matrix(target).database_digest == reported.database_digest:
            yield reported.target, target
