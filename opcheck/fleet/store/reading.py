"""What is asked of a store: its runs, and the answers of one that fit some filters."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from opcheck.errors import UsageError
from opcheck.fleet.store.store import Store
from opcheck.model.fleet import (
    Answer,
    Blocker,
    Cause,
    Ending,
    Filters,
    Run,
    RunTarget,
)
from opcheck.model.verdict import Confidence, Verdict

LAST, PREVIOUS = "last", "previous"
"""Names of runs beside their numbers."""


def runs(store: Store) -> tuple[Run, ...]:
    """Every run, the oldest first."""
    rows = store.connection.execute(
        "SELECT runs.*, COUNT(position) AS models, COUNT(run_models.model) AS done "
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
            f"the store has no run {name!r}", f"give a number, last or previous; it has {numbers}"
        )
    return found


def answers(store: Store, run: int, filters: Filters = Filters()) -> tuple[Answer, ...]:  # noqa: B008  # frozen
    """The answers of a run that fit, in the order of its models and targets.

    A model without any answer has one row, without a target, where no filter asks for more.
    """
    rows = store.connection.execute(
        "SELECT position, name, source, ending, reason, target, verdict, runs, support_rate, "
        "result FROM answers WHERE run=? ORDER BY position, target_position",
        (run,),
    )
    found: list[Answer] = []
    blocked = _blockers(store, run, filters.operators)
    for _, group in groupby(rows, key=lambda row: row["position"]):
        found += _fitting(list(group), filters, blocked)
    return tuple(found)


def _fitting(
    rows: Sequence[sqlite3.Row], filters: Filters, blocked: dict[int, tuple[Blocker, ...]]
) -> Iterator[Answer]:
    """The answers of one model that fit."""
    first = rows[0]
    if not _any(first["name"], filters.models):
        return
    if filters.endings and first["ending"] not in filters.endings:
        return
    answered = [row for row in rows if row["result"] is not None]
    narrowed = filters.targets or filters.verdicts or filters.operators
    if not answered and not narrowed:
        yield _answer(first, "", ())
    for row in answered:
        blockers = blocked.get(row["result"], ())
        if (
            _of_target(row["target"], filters.targets)
            and (not filters.verdicts or row["verdict"] in filters.verdicts)
            and (not filters.operators or blockers)
        ):
            yield _answer(row, row["target"], blockers)


def _answer(row: sqlite3.Row, target: str, blockers: tuple[Blocker, ...]) -> Answer:
    return Answer(
        row["position"], row["name"], row["source"], Ending(row["ending"]), row["reason"], target,
        None if row["verdict"] is None else Verdict(row["verdict"]),
        None if row["runs"] is None else bool(row["runs"]), row["support_rate"], blockers,
    )  # fmt: skip


def _blockers(store: Store, run: int, operators: Sequence[str]) -> dict[int, tuple[Blocker, ...]]:
    """By result, the things in the way, or those of some overloads."""
    causes = {
        row["id"]: row
        for row in store.connection.execute("SELECT * FROM causes")
        if _of_operator(row["op"], operators)
    }
    chosen = "" if not operators else f" AND blockers.cause IN ({','.join(map(str, causes))})"
    rows = store.connection.execute(
        "SELECT blockers.* FROM blockers JOIN results ON results.id = blockers.result "
        "JOIN run_targets ON run_targets.target = results.target AND run_targets.run = ?1 "
        "JOIN (SELECT DISTINCT model FROM run_models WHERE run = ?1) AS mine "
        f"ON mine.model = results.model WHERE 1{chosen} ORDER BY result, place",
        (run,),
    )
    found: dict[int, list[Blocker]] = {}
    for row in rows:
        found.setdefault(row["result"], []).append(_blocker(row, causes[row["cause"]]))
    return {result: tuple(blockers) for result, blockers in found.items()}


def _blocker(row: sqlite3.Row, cause: sqlite3.Row) -> Blocker:
    return Blocker(
        cause["op"], Cause(cause["cause"]), cause["code"], Verdict(cause["verdict"]),
        cause["text"], Confidence(cause["confidence"]), row["calls"],
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
