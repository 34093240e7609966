"""How a run went and how its models stand on each target; all answers of it for a web page."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fleet.answers.missing import missing
from opcheck.commands.fleet.answers.values import (
    BlockedBy,
    Cell,
    Failure,
    FleetPage,
    Goal,
    ModelRow,
    Standing,
    Summary,
    TargetTally,
)
from opcheck.commands.fleet.store.reading import LAST, run_named
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Cause, Ending, Run, label_of
from opcheck.lang.sentence import Sentence, chained, from_data
from opcheck.model.report import SCRIPT
from opcheck.model.verdict import Confidence, Verdict
from opcheck.version import __version__


def summary(store: Store, run: Run) -> Summary:
    """Count the models of a run by ending, target and standing."""
    return Summary(
        run, _endings(store, run), _tallies(store, run), *_everywhere(store, run),
        _failures(store, run),
    )  # fmt: skip


def _endings(store: Store, run: Run) -> Mapping[Ending, int]:
    rows = store.connection.execute(
        # of a script that of the first target where it did not end well: SQLite gives the row of
        # the least value
        "SELECT ending, COUNT(*) FROM (SELECT ending, MIN(CASE WHEN ending = ?1 THEN 1e9 ELSE "
        "position END) FROM run_models JOIN models ON models.id = model WHERE run = ?2 "
        "GROUP BY name) GROUP BY ending",
        (Ending.SCANNED, run.id),
    )
    found = dict(map(tuple, rows))
    return {ending: found.get(ending, 0) for ending in Ending}


def _tallies(store: Store, run: Run) -> tuple[TargetTally, ...]:
    counts: dict[int, Counter[Standing]] = defaultdict(Counter)
    rates: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for at, verdict, runs, count, rate, rated in store.connection.execute(
        "SELECT target_position, verdict, runs, COUNT(*), TOTAL(support_rate), "
        "COUNT(support_rate) FROM answers WHERE run=? GROUP BY target_position, verdict, runs",
        (run.id,),
    ):
        counts[at][Standing.of(verdict, runs)] += count
        rates[at] = [rates[at][0] + rate, rates[at][1] + rated]
    return tuple(
        TargetTally(
            target,
            {standing: counts[at][standing] for standing in Standing},
            round(rates[at][0] / rates[at][1], 4) if rates[at][1] else None,
        )
        for at, target in enumerate(run.targets)
    )


def _everywhere(store: Store, run: Run) -> tuple[int, int]:
    """How many models run on every target, and how many are known to run on none."""
    row = store.connection.execute(
        "SELECT TOTAL(good = ?1), TOTAL(bad = ?1) FROM (SELECT TOTAL(runs = 1) AS good, "
        "TOTAL(runs = 0) AS bad FROM answers WHERE run = ?2 GROUP BY name)",
        (len(run.targets), run.id),
    ).fetchone()
    return int(row[0]), int(row[1])


def _failures(store: Store, run: Run) -> tuple[Failure, ...]:
    found: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(dict)
    for name, target, *why in store.connection.execute(
        "SELECT name, targets.target, ending, reason, hint FROM run_models "
        "JOIN models ON models.id = model LEFT JOIN targets ON targets.id = models.target "
        "WHERE run=? AND ending <> ? ORDER BY position",
        (run.id, Ending.SCANNED),
    ):
        targets = found[why[0], why[1], why[2]].setdefault(name, [])
        targets += [target] if target is not None else []
    order = sorted(found, key=lambda why: (-len(found[why]), why))
    return tuple(
        Failure(
            Ending(why[0]), from_data(why[1]), from_data(why[2]),
            tuple(_labels(found[why], len(run.targets))),
        )
        for why in order
    )  # fmt: skip


def _labels(models: Mapping[str, Sequence[str]], count: int) -> Iterator[str]:
    """Names of models; of a script with its targets, unless it is so on all ``count`` of them."""
    for name, targets in models.items():
        if len(targets) in (0, count):
            yield name
        else:
            yield from (label_of(name, target) for target in targets)


STEPS = 10
"""How many steps of each ranking a page shows."""
_CELLS = """
SELECT target_position, answers.target, answers.name, answers.source, answers.kind,
  answers.ending, answers.reason, answers.hint, answers.calls, answers.operators, gaps, verdict,
  runs, support_rate,
  (SELECT group_concat(cause) FROM blockers WHERE blockers.result = answers.result) AS causes
FROM answers JOIN models ON models.id = answers.model
WHERE run = ? ORDER BY position, target_position
"""
_NO_CELL = Cell(Standing.NO_ANSWER, None, ())


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
    for _, group in groupby(rows, key=lambda row: row["name"]):
        found = list(group)
        most = max(found, key=lambda row: row["calls"])  # of a script each target is a run
        bad = next((row for row in found if row["ending"] != Ending.SCANNED), found[0])
        cells = {row["target_position"]: _cell(row, places) for row in found}
        yield ModelRow(
            bad["name"], bad["source"], bad["kind"], Ending(bad["ending"]),
            _reason(found), from_data(bad["hint"]), most["calls"], most["operators"],
            max(len(json.loads(row["gaps"])) for row in found),
            tuple(cells.get(at, _NO_CELL) for at in range(len(run.targets))),
        )  # fmt: skip


def _reason(rows: Sequence[sqlite3.Row]) -> Sentence:
    """Why a model was not scanned; of a script, on which targets it did not end well and why."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["reason"]:
            found[row["reason"]].append(row["target"].partition("+")[0])
    if rows[0]["kind"] != SCRIPT or len({row["reason"] for row in rows}) == 1:
        return from_data(rows[0]["reason"])
    return chained(
        [
            Sentence("{list}: {said}", list=", ".join(targets), said=from_data(reason))
            for reason, targets in found.items()
        ],
        "; ",
    )


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
        row: BlockedBy(
            op, Cause(cause), code, Verdict(verdict), from_data(text), Confidence(confidence)
        )
        for row, op, cause, code, verdict, text, confidence in rows
    }
