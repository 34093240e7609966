"""What is asked of a store as it stands: the answers that fit, and a run as files."""

from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fleet.answers.asked import chosen
from opcheck.commands.fleet.parquet import written
from opcheck.commands.fleet.store import reading
from opcheck.commands.fleet.store.reading import LAST
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Answers, Filters


def query_of(path: Path, run: str = LAST, filters: Filters = Filters()) -> Answers:  # noqa: B008
    """The answers of a run that fit.

    Raises:
        UsageError: there is no such store or run, or the run has none of the targets.
    """
    with Store(path, create=False) as store:
        found = reading.run_named(store, run)
        if filters.targets:
            named = tuple(found.targets[at].target for at in chosen(found, filters.targets))
            filters = replace(filters, targets=named)
        return Answers(found, filters, reading.answers(store, found.id, filters))


def export_of(path: Path, folder: str, run: str = LAST) -> tuple[str, ...]:
    """Write a run as Parquet files into a folder; gives their paths.

    Raises:
        UsageError: there is no such store or run, or the files cannot be written.
    """
    with Store(path, create=False) as store:
        return written(store, reading.run_named(store, run), Path(folder))
