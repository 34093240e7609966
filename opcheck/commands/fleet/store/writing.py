"""What a run writes: its beginning, each model that is over in one transaction, and its end."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Blocker, Done, Ending, Entry, RunTarget, TargetResult
from opcheck.model.codec import to_json
from opcheck.model.report import SCRIPT
from opcheck.model.verdict import Verdict


class Begun(Struct, frozen=True):
    """A run that is open for writing."""

    id: int
    targets: Mapping[str, int]
    """``RunTarget.target`` -> its row in ``targets``."""
    open: frozenset[int]
    """Positions of the entries that have no outcome yet."""


class Asked(Struct, frozen=True):
    """One entry of a run, as the store knows models."""

    entry: Entry
    key: str
    """Of all that its trace rests on."""
    opcheck: str
    torch: str


def begin(
    store: Store,
    entries: Sequence[Entry],
    targets: Sequence[RunTarget],
    *,
    manifest: str,
    digest: str,
    opcheck: str,
    torch: str,
    engine: str,
) -> Begun:
    """Begin a run, or go on with the last one where that is the same and is not over.

    ``digest`` names what is asked: entries, targets, their data and versions.
    """
    with store.transaction() as write:
        ids = {target.target: _target(write, target) for target in targets}
        last = write.execute("SELECT * FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        if last is not None and not last["ended"] and last["digest"] == digest:
            run = int(last["id"])
            write.execute("UPDATE runs SET engine=? WHERE id=?", (engine, run))
        else:
            made = write.execute(
                "INSERT INTO runs (manifest, digest, begun, ended, opcheck, torch, engine) "
                "VALUES (?,?,?,'',?,?,?)",
                (manifest, digest, _now(), opcheck, torch, engine),
            )
            run = int(made.lastrowid or 0)
            write.executemany(
                "INSERT INTO run_targets VALUES (?,?,?)",
                [(run, position, row) for position, row in enumerate(ids.values())],
            )
            write.executemany(
                "INSERT INTO run_models VALUES (?,?,?,?,NULL,NULL)",
                [(run, at, one.name, one.source) for at, one in enumerate(entries)],
            )
        left = write.execute(
            "SELECT position FROM run_models WHERE run=? AND model IS NULL", (run,)
        )
        return Begun(run, ids, frozenset(position for (position,) in left))


def adopt(store: Store, run: Begun, position: int, model: int) -> None:
    """Answer an entry by what is there already."""
    with store.transaction() as write:
        _settle(write, run, position, model, 0.0)


def finish(store: Store, run: Begun, asked: Asked, done: Done) -> int:
    """Keep what came of one model, all of it or after a kill nothing; gives its row."""
    with store.transaction() as write:
        target = run.targets.get(asked.entry.target)
        model = _model(write, asked, done, target)
        for trace in done.outcome.traces:
            write.execute(
                "INSERT OR REPLACE INTO traces VALUES (?,?,?,?,?)",
                (model, trace.device_type, trace.casts, trace.same_as, trace.data),
            )
        for result in done.outcome.targets:
            _result(write, model, run.targets[result.target], result)
        _settle(write, run, done.position, model, done.seconds)
    return model


def end(store: Store, run: Begun) -> None:
    """Note that a run is over."""
    with store.transaction() as write:
        write.execute("UPDATE runs SET ended=? WHERE id=?", (_now(), run.id))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _settle(
    write: sqlite3.Connection, run: Begun, position: int, model: int, seconds: float
) -> None:
    write.execute(
        "UPDATE run_models SET model=?, seconds=? WHERE run=? AND position=?",
        (model, round(seconds, 3), run.id, position),
    )


def _target(write: sqlite3.Connection, target: RunTarget) -> int:
    """The row of a target with its data; made where there is none."""
    row = write.execute(
        "SELECT id FROM targets WHERE target=? AND database_digest=? AND casts=?",
        (target.target, target.database_digest, target.casts),
    ).fetchone()
    if row is not None:
        return int(row[0])
    made = write.execute(
        "INSERT INTO targets (target, vendor, chip, sdk, torch, device_type, database_digest, "
        "database_date, casts) VALUES (?,?,?,?,?,?,?,?,?)",
        (target.target, target.vendor, target.chip, target.sdk, target.torch,
         target.device_type, target.database_digest, target.database_date, target.casts),
    )  # fmt: skip
    return int(made.lastrowid or 0)


def _model(write: sqlite3.Connection, asked: Asked, done: Done, target: int | None) -> int:
    """The row of a model: that of the last version where it was scanned well, else another."""
    entry, outcome, request = asked.entry, done.outcome, asked.entry.request
    files = json.dumps(dict(outcome.files), sort_keys=True)
    last = write.execute(
        "SELECT id, version, ending, files FROM models WHERE key=? ORDER BY version DESC LIMIT 1",
        (asked.key,),
    ).fetchone()
    well = (Ending.SCANNED, files)
    if last and (last["ending"], last["files"]) == well == (outcome.ending, files):
        return int(last["id"])
    made = write.execute(
        "INSERT INTO models (key, version, source, options, opcheck, torch, kind, digest, ending, "
        "reason, hint, timeout, memory, calls, operators, gaps, files, target) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            asked.key,
            last["version"] + 1 if last else 1,
            entry.source,
            json.dumps(to_json(entry.script or request)),
            asked.opcheck,
            outcome.torch_version or asked.torch,
            SCRIPT if entry.script else outcome.kind,
            outcome.digest,
            outcome.ending,
            outcome.reason,
            outcome.hint,
            request.model.timeout,
            request.model.memory,
            outcome.calls,
            outcome.operators,
            json.dumps(outcome.gaps),
            files,
            target,
        ),
    )
    return int(made.lastrowid or 0)


_RESULT = (
    "INSERT INTO results (model, target, verdict, runs, support_rate, "
    "native, decomposed, fallback, unsupported, unknown, native_calls, decomposed_calls, "
    "fallback_calls, unsupported_calls, unknown_calls, islands, fallback_bytes) "
    "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)


def _result(write: sqlite3.Connection, model: int, target: int, found: TargetResult) -> None:
    there = write.execute("SELECT 1 FROM results WHERE model=? AND target=?", (model, target))
    if there.fetchone() is not None:  # another run on the same store was faster
        return
    made = write.execute(
        _RESULT,
        (
            model, target, found.verdict,
            None if found.runs is None else int(found.runs), found.support_rate,
            *(found.operators.get(verdict, 0) for verdict in Verdict),
            *(found.calls.get(verdict, 0) for verdict in Verdict),
            found.islands, found.fallback_bytes,
        ),
    )  # fmt: skip
    for place, blocker in enumerate(found.blockers):
        write.execute(
            "INSERT INTO blockers VALUES (?,?,?,?,?,?,?,?)",
            (
                made.lastrowid, place, _cause(write, blocker), blocker.calls,
                json.dumps(blocker.called), blocker.module, blocker.file, blocker.line,
            ),
        )  # fmt: skip


def _cause(write: sqlite3.Connection, found: Blocker) -> int:
    """The row of what is in the way, which many results share."""
    key = (found.op, found.cause, found.code, found.verdict, found.confidence, found.text)
    row = write.execute(
        "SELECT id FROM causes WHERE op=? AND cause=? AND code=? AND verdict=? AND confidence=? "
        "AND text=?",
        key,
    ).fetchone()
    if row is not None:
        return int(row[0])
    made = write.execute(
        "INSERT INTO causes (op, cause, code, verdict, confidence, text) VALUES (?,?,?,?,?,?)", key
    )
    return int(made.lastrowid or 0)
