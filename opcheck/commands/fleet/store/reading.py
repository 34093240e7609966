"""What is asked of a store: its runs, and the answers of one that fit some filters."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import (
    Answer,
    Blocker,
    Cause,
    Ending,
    Filters,
    Run,
    RunTarget,
)
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence, from_data
from opcheck.model.report import SCRIPT
from opcheck.model.verdict import Confidence, Verdict

LAST, PREVIOUS = "last", "previous"
"""Names of runs beside their numbers."""
_ENDINGS = {ending.value: ending for ending in Ending}
_VERDICTS: Mapping[str | None, Verdict] = {verdict.value: verdict for verdict in Verdict}
_CAUSES = {cause.value: cause for cause in Cause}
_CONFIDENCES = {confidence.value: confidence for confidence in Confidence}
# tables, since a store is asked for hundreds of thousands of them


def runs(store: Store) -> tuple[Run, ...]:
    """Every run, the oldest first."""
    rows = store.connection.execute(
        "SELECT runs.*, COUNT(DISTINCT name) AS models, COUNT(DISTINCT name) "
        "- COUNT(DISTINCT CASE WHEN run_models.model IS NULL THEN name END) AS done "
        "FROM runs LEFT JOIN run_models ON run_models.run = runs.id "
        "GROUP BY runs.id ORDER BY runs.id"
    )
    return tuple(_run(store, row) for row in rows.fetchall())


def run_named(store: Store, name: str = LAST) -> Run:
    """The run of a number, the last one, or the one before it.

    Raises:
        UsageError: there is no such run.
    """
    known = runs(store)
    back = {LAST: 1, PREVIOUS: 2}.get(name)
    if back is not None and back <= len(known):
        return known[-back]
    found = next((run for run in known if str(run.id) == name), None)
    if found is None:
        numbers = ", ".join(str(run.id) for run in known) or "none"
        raise UsageError(
            Sentence("the store has no run {text}", text=repr(name)),
            Sentence("give a number, last or previous; it has {list}", list=numbers),
        )
    return found


def answers(store: Store, run: int, filters: Filters = Filters()) -> tuple[Answer, ...]:  # noqa: B008  # frozen
    """The answers of a run that fit, in the order of its models and targets.

    A model without any answer has one row, without a target, where no filter asks for more; a
    script has one for each target, with an answer or without.
    """
    causes = _causes(store, filters.operators)
    where, values = _condition(store, run, filters, causes)
    rows = store.connection.execute(
        "SELECT position, name, source, ending, reason, target, verdict, runs, support_rate, "
        f"result, kind FROM answers WHERE {where} ORDER BY position, target_position",
        values,
    ).fetchall()
    blocked = _blockers(store, run, causes, None if len(values) == 1 else rows)
    narrowed = bool(filters.targets or filters.verdicts or filters.operators)
    found: list[Answer] = []
    for _, group in groupby(rows, key=lambda row: row["position"]):
        of_one = list(group)
        if of_one[0]["kind"] == SCRIPT:  # a position is one target of it
            found += [_answer(row, row["target"], blocked.get(row["result"], ())) for row in of_one]
            continue
        answered = [row for row in of_one if row["result"] is not None]
        if not answered and not narrowed:
            found.append(_answer(of_one[0], "", ()))
        found += [_answer(row, row["target"], blocked.get(row["result"], ())) for row in answered]
    return tuple(found)


def _condition(
    store: Store, run: int, filters: Filters, causes: Mapping[int, sqlite3.Row]
) -> tuple[str, list[object]]:
    """What SQLite is to look for, and the values in it."""
    where: list[str] = ["run = ?"]
    values: list[object] = [run]
    lists: dict[str, Sequence[object]] = {}
    if filters.verdicts:
        lists["verdict"] = filters.verdicts
    if filters.endings:
        lists["ending"] = filters.endings
    if filters.models:
        names = store.connection.execute("SELECT position, name FROM run_models WHERE run=?", [run])
        lists["position"] = [at for at, name in names if _any(name, filters.models)]
    if filters.targets:
        names = store.connection.execute(
            "SELECT run_targets.position, targets.target FROM run_targets "
            "JOIN targets ON targets.id = run_targets.target WHERE run=?",
            [run],
        )
        lists["target_position"] = [at for at, name in names if _of_target(name, filters.targets)]
    for column, accepted in lists.items():
        where.append(f"{column} IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(accepted))
    if filters.operators:
        where.append(
            "result IN (SELECT result FROM blockers WHERE cause IN "
            "(SELECT value FROM json_each(?)))"
        )
        values.append(json.dumps([*causes]))
    return " AND ".join(where), values


def _answer(row: sqlite3.Row, target: str, blockers: tuple[Blocker, ...]) -> Answer:
    position, name, source, ending, reason, _, verdict, runs, rate, _, _ = row
    return Answer(
        position, name, source, _ENDINGS[ending], from_data(reason), target, _VERDICTS.get(verdict),
        None if runs is None else bool(runs), rate, blockers,
    )  # fmt: skip


def _causes(store: Store, operators: Sequence[str]) -> Mapping[int, sqlite3.Row]:
    """By row, the things that may be in the way, or those of some overloads."""
    rows = store.connection.execute("SELECT * FROM causes")
    return {row["id"]: row for row in rows if _of_operator(row["op"], operators)}


def _blockers(
    store: Store,
    run: int,
    causes: Mapping[int, sqlite3.Row],
    rows: Sequence[sqlite3.Row] | None,
) -> Mapping[int, tuple[Blocker, ...]]:
    """By result, what is in its way; of some answers alone, or with None of the whole run."""
    if rows is None:
        found = store.connection.execute(
            "SELECT blockers.* FROM blockers JOIN results ON results.id = blockers.result "
            "JOIN run_targets ON run_targets.target = results.target AND run_targets.run = ?1 "
            "JOIN (SELECT DISTINCT model FROM run_models WHERE run = ?1) AS mine "
            "ON mine.model = results.model ORDER BY result, place",
            (run,),
        )
    else:
        results = json.dumps([row["result"] for row in rows if row["result"] is not None])
        found = store.connection.execute(
            "SELECT * FROM blockers WHERE result IN (SELECT value FROM json_each(?)) "
            "ORDER BY result, place",
            (results,),
        )
    by_result: dict[int, list[Blocker]] = {}
    for row in found:
        cause = causes.get(row["cause"])
        if cause is not None:
            by_result.setdefault(row["result"], []).append(_blocker(row, cause))
    return {result: tuple(blockers) for result, blockers in by_result.items()}


def _blocker(row: sqlite3.Row, cause: sqlite3.Row) -> Blocker:
    return Blocker(
        cause["op"], _CAUSES[cause["cause"]], cause["code"], _VERDICTS[cause["verdict"]],
        from_data(cause["text"]), _CONFIDENCES[cause["confidence"]], row["calls"],
        tuple(json.loads(row["called"])), row["module"], row["file"], row["line"],
    )  # fmt: skip


def _any(text: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(text, glob) for glob in globs)


def _of_target(target: str, globs: Sequence[str]) -> bool:
    return _any(target, globs) or _any(target.partition("@")[0], globs)


def _of_operator(op: str, globs: Sequence[str]) -> bool:
    bare = op.partition("::")[2]
    return any(_any(text, globs) for text in (op, bare, bare.partition(".")[0]))


def _run(store: Store, row: Any) -> Run:
    targets = store.connection.execute(
        "SELECT targets.* FROM run_targets JOIN targets ON targets.id = run_targets.target "
        "WHERE run=? ORDER BY position",
        (row["id"],),
    )
    return Run(
        row["id"], row["manifest"], row["begun"], row["ended"], row["opcheck"], row["torch"],
        row["engine"],
        tuple(
            RunTarget(
                one["target"], one["vendor"], one["chip"], one["sdk"], one["torch"],
                one["device_type"], one["database_digest"], one["database_date"], one["casts"],
            )
            for one in targets
        ),
        row["models"], row["done"],
    )  # fmt: skip
