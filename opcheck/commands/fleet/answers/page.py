"""All answers of a run for its web page."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fleet.answers.missing import missing
from opcheck.commands.fleet.answers.page_values import Cell, FleetPage, ModelRow
from opcheck.commands.fleet.answers.summary import summary
from opcheck.commands.fleet.answers.values import BlockedBy, Goal, Standing
from opcheck.commands.fleet.store.reading import LAST, run_named
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Cause, Ending, Run
from opcheck.model.verdict import Confidence, Verdict
from opcheck.version import __version__

STEPS = 10
"""How many steps of each ranking a page shows."""
_CELLS = """
SELECT position, answers.name, answers.source, answers.kind, answers.ending, answers.reason,
  answers.hint, answers.calls, answers.operators, gaps, verdict, runs, support_rate,
  (SELECT group_concat(cause) FROM blockers WHERE blockers.result = answers.result) AS causes
FROM answers JOIN models ON models.id = answers.model
WHERE run = ? ORDER BY position, target_position
"""


def page_of(path: Path, run: str = LAST, reports: Mapping[str, str] | None = None) -> FleetPage:
    """A run of a store for its page; ``reports`` has addresses of models' reports by name.

    Raises:
        UsageError: it is no store, or has no such run.
    """
    with Store(path, create=False) as store:
        found = run_named(store, run)
        causes = _causes(store, found)
        places = {row: place for place, row in enumerate(causes)}
        models = tuple(_models(store, found, places))
        if reports:
            models = tuple(replace(one, report=reports.get(one.name, "")) for one in models)
        every = range(len(found.targets))
        return FleetPage(
            __version__, str(path), summary(store, found),
            tuple(missing(store, found, targets=every, goal=goal, top=STEPS) for goal in Goal),
            tuple(causes.values()), models,
        )  # fmt: skip


def _models(store: Store, run: Run, places: Mapping[int, int]) -> Iterator[ModelRow]:
    rows = store.connection.execute(_CELLS, (run.id,))
    for _, group in groupby(rows, key=lambda row: row["position"]):
        cells = list(group)
        first = cells[0]
        yield ModelRow(
            first["name"], first["source"], first["kind"], Ending(first["ending"]),
            first["reason"], first["hint"], first["calls"], first["operators"],
            len(json.loads(first["gaps"])), tuple(_cell(row, places) for row in cells),
        )  # fmt: skip


def _cell(row: sqlite3.Row, places: Mapping[int, int]) -> Cell:
    causes = (row["causes"] or "").split(",")
    return Cell(
        Standing.of(row["verdict"], row["runs"]), row["support_rate"],
        tuple(places[int(cause)] for cause in causes if cause),
    )  # fmt: skip


def _causes(store: Store, run: Run) -> Mapping[int, BlockedBy]:
    """Rows of ``causes`` that some answer of the run meets, in their order."""
    rows = store.connection.execute(
        "SELECT id, op, cause, code, verdict, text, confidence FROM causes WHERE id IN ("
        "SELECT DISTINCT blockers.cause FROM answers JOIN blockers USING (result) WHERE run=?)",
        (run.id,),
    )
    return {
        row: BlockedBy(op, Cause(cause), code, Verdict(verdict), text, Confidence(confidence))
        for row, op, cause, code, verdict, text, confidence in rows
    }
