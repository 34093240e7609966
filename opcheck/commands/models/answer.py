"""What lists say of models by a name, on some targets."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from opcheck.commands.models.values import ListSummary, ModelsAnswer
from opcheck.db.model_lists import named, of_target
from opcheck.db.selection import select
from opcheck.model.model_lists import ModelRow
from opcheck.model.target import TargetSpec
from opcheck.pipeline.database import open_database


def models(
    name: str = "", specs: Sequence[TargetSpec] = (), databases: Sequence[str] = ()
) -> ModelsAnswer:
    """The rows of models by a part of their name, or by a class, type or source of theirs.

    With targets, those on one of their chips, or of their vendors on no chip more than on others.

    Raises:
        UsageError: an unknown target.
        DatabaseError: a list is damaged.
    """
    database = open_database(databases)
    targets = select(database, specs) if specs else ()
    every = database.model_rows
    rows = named(every, name) if name else every
    if targets:
        kept = {id(row) for target in targets for row in of_target(rows, target)}
        rows = tuple(row for row in rows if id(row) in kept)
    return ModelsAnswer(name, tuple(map(str, targets)), tuple(_summaries(every)), rows)


def _summaries(rows: Sequence[ModelRow]) -> Iterator[ListSummary]:
    for of, group in groupby(rows, key=lambda row: row.of):
        listed = tuple(group)
        evidence = listed[0].evidence
        counts = Counter(row.best for row in listed)
        yield ListSummary(of, evidence.source, evidence.date, dict(sorted(counts.items())))
