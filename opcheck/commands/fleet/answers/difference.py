"""What changed from one run to another, of one store or of two, and by what."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from opcheck.commands.fleet.answers.values import (
    Because,
    BlockedBy,
    Change,
    Changed,
    Difference,
    Standing,
    TargetChanges,
)
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Cause, Run, RunTarget
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence, from_data
from opcheck.model.target import target_name
from opcheck.model.verdict import Confidence, Verdict

Pair = tuple[RunTarget, RunTarget]
"""A target before and after."""


def difference(
    store: Store, earlier: Path, before: Run, after: Run, pairs: Sequence[Pair] | None = None
) -> Difference:
    """Hold ``after``, of ``store``, against ``before``, of the store at ``earlier``.

    Without ``pairs``, each target is compared with that of the same name, else of the same chip.
    """
    found = _paired(before.targets, after.targets) if pairs is None else tuple(pairs)
    olds, news = ({pair[side].target for pair in found} for side in (0, 1))
    with _beside(store, earlier) as connection:
        return Difference(
            before, after,
            _only(connection, "main", after, "earlier", before),
            _only(connection, "earlier", before, "main", after),
            tuple(t.target for t in after.targets if pairs is None and t.target not in news),
            tuple(t.target for t in before.targets if pairs is None and t.target not in olds),
            tuple(_changes(connection, before, after, found)),
        )  # fmt: skip


def _paired(before: Sequence[RunTarget], after: Sequence[RunTarget]) -> tuple[Pair, ...]:
    """Targets of both runs, in the order of the later: another release is compared with the old."""
    whole = {target.target: target for target in before}
    chips: dict[str, list[RunTarget]] = {}
    kept = {target.target for target in after}
    for target in before:
        if target.target not in kept:
            chips.setdefault(_chip(target), []).append(target)
    new: dict[str, int] = {}
    for target in after:
        if target.target not in whole:
            new[_chip(target)] = new.get(_chip(target), 0) + 1
    pairs = []
    for target in after:
        olds = chips.get(_chip(target), [])
        if target.target in whole:
            pairs.append((whole[target.target], target))
        elif len(olds) == 1 and new[_chip(target)] == 1:
            pairs.append((olds[0], target))
    return tuple(pairs)


def _chip(target: RunTarget) -> str:
    return target_name(target.vendor, target.chip)


@contextmanager
def _beside(store: Store, earlier: Path) -> Iterator[sqlite3.Connection]:
    """The connection of a store, with another one as ``earlier``; it may be the same."""
    connection = store.connection
    try:
        connection.execute("ATTACH ? AS earlier", (str(earlier),))
    except sqlite3.Error as error:
        raise UsageError(
            Sentence("cannot use the store {text}: {text_why}", text=earlier, text_why=error)
        ) from error
    try:
        yield connection
    finally:
        connection.execute("DETACH earlier")


def _only(
    connection: sqlite3.Connection, here: str, run: Run, there: str, other: Run
) -> tuple[str, ...]:
    """Models of one run that the other has not."""
    rows = connection.execute(
        f"SELECT name FROM {here}.run_models WHERE run=? AND name NOT IN "
        f"(SELECT name FROM {there}.run_models WHERE run=?) GROUP BY name ORDER BY MIN(position)",
        (run.id, other.id),
    )
    return tuple(name for (name,) in rows)


_SHARED = """
CREATE TEMP TABLE shared AS
SELECT new.position, new.name, old.model AS old_model, new.model AS new_model,
  was.target AS old_target, is_now.target AS new_target
FROM main.run_models AS new JOIN earlier.run_models AS old ON old.name = new.name
JOIN earlier.models AS was ON was.id = old.model
JOIN main.models AS is_now ON is_now.id = new.model
WHERE new.run = ? AND old.run = ? AND new.model NOTNULL AND old.model NOTNULL
"""
_OF_PAIR = "COALESCE(old_target, ?1) = ?1 AND COALESCE(new_target, ?2) = ?2"
"""Of a script, what is of one pair of targets; of models, all."""
_CAUSES = "(SELECT group_concat(cause) FROM {0}.blockers WHERE result = {1}.id)"
_CHANGED = f"""
SELECT name, old.verdict AS old_verdict, old.runs AS old_runs, new.verdict, new.runs,
  {_CAUSES.format("earlier", "old")} AS went, {_CAUSES.format("main", "new")} AS came,
  CASE WHEN new.id IS NULL THEN is_now.reason WHEN old.id IS NULL THEN was.reason ELSE ''
  END AS reason,
  was.digest <> is_now.digest AND '' NOT IN (was.digest, is_now.digest) AS model_differs,
  was.opcheck <> is_now.opcheck AS opcheck_differs, was.torch <> is_now.torch AS torch_differs
FROM shared
JOIN earlier.models AS was ON was.id = old_model
JOIN main.models AS is_now ON is_now.id = new_model
LEFT JOIN earlier.results AS old ON old.model = old_model AND old.target = ?1
LEFT JOIN main.results AS new ON new.model = new_model AND new.target = ?2
WHERE {_OF_PAIR} AND (old.runs IS NOT new.runs OR old.verdict IS NOT new.verdict)
ORDER BY position
"""
_Read = Callable[[str | None], tuple[BlockedBy, ...]]


def _changes(
    connection: sqlite3.Connection, before: Run, after: Run, pairs: Sequence[Pair]
) -> Iterator[TargetChanges]:
    went, came = _reader(connection, "earlier"), _reader(connection, "main")
    olds, news = _rows(connection, "earlier", before), _rows(connection, "main", after)
    connection.execute(_SHARED, (after.id, before.id))
    kinds = list(Change)
    for old, new in pairs:
        rowids = (olds[old.target], news[new.target])
        (shared,) = connection.execute(
            f"SELECT COUNT(*) FROM shared WHERE {_OF_PAIR}", rowids
        ).fetchone()
        rows = connection.execute(_CHANGED, rowids)
        found = [one for row in rows if (one := _changed(row, old, new, went, came))]
        found.sort(key=lambda changed: kinds.index(changed.change))
        yield TargetChanges(old, new, shared - len(found), tuple(found))
    connection.execute("DROP TABLE shared")


def _rows(connection: sqlite3.Connection, schema: str, run: Run) -> dict[str, int]:
    """Targets of a run -> their rows."""
    return dict(connection.execute(
        f"SELECT targets.target, targets.id FROM {schema}.run_targets AS mine "
        f"JOIN {schema}.targets ON targets.id = mine.target WHERE run = ?", (run.id,)
    ).fetchall())  # fmt: skip


def _changed(
    row: sqlite3.Row, old: RunTarget, new: RunTarget, went: _Read, came: _Read
) -> Changed | None:
    """One model, unless it stands as before: as it does with native and with decomposed."""
    stood = Standing.of(row["old_verdict"], row["old_runs"])
    stands = Standing.of(row["verdict"], row["runs"])
    if stood is stands:
        return None
    olds, news = went(row["went"]), came(row["came"])
    answered = Standing.NO_ANSWER not in (stood, stands)
    return Changed(
        row["name"], Change.of(stood, stands), stood, stands, _because(row, old, new),
        tuple(one for one in news if one not in olds) if answered else (),
        tuple(one for one in olds if one not in news) if answered else (),
        from_data(row["reason"]),
    )  # fmt: skip


def _because(row: sqlite3.Row, old: RunTarget, new: RunTarget) -> tuple[Because, ...]:
    differs = {
        Because.MODEL: row["model_differs"],
        Because.TARGET: old.target != new.target,
        Because.DATABASE: old.database_digest != new.database_digest,
        Because.OPCHECK: row["opcheck_differs"],
        Because.TORCH: row["torch_differs"],
    }
    return tuple(what for what in Because if differs[what])


def _reader(connection: sqlite3.Connection, schema: str) -> _Read:
    """Reads ids of causes with commas, in the order in which they stand."""
    known = {
        number: BlockedBy(
            op, Cause(cause), code, Verdict(verdict), from_data(text), Confidence(confidence)
        )
        for number, op, cause, code, verdict, text, confidence in connection.execute(
            f"SELECT id, op, cause, code, verdict, text, confidence FROM {schema}.causes"
        )
    }

    @cache
    def read(ids: str | None) -> tuple[BlockedBy, ...]:
        return tuple(
            dict.fromkeys(known[int(number)] for number in (ids or "").split(",") if number)
        )

    return read
