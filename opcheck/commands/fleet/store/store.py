"""The store: one SQLite file, opened or begun, and looked through once it makes no sense."""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from opcheck.commands.fleet.store.schema import FORMAT, SCHEMA
from opcheck.commands.fleet.values import Cause, Ending, StoredTrace
from opcheck.errors import OpcheckError, UsageError
from opcheck.files import require_regular
from opcheck.lang.sentence import NOTHING, Sentence, verbatim
from opcheck.model.verdict import Confidence, Verdict

_DAMAGED_HINT = Sentence(
    "take the store away and run the fleet again, or give a copy of it from before"
)
_MAKING_SECONDS = 1.0
"""So long a store may take to be made, by another process."""
_LONGEST_VALUE = 2**28
_SHOWN = 20
"""Characters of a format that is not ours."""
_TYPES = {"INTEGER": ("integer",), "REAL": ("real", "integer"), "TEXT": ("text",)}
"""How SQLite keeps the values of a column that is declared so."""
_MEMBERS: Mapping[tuple[str, str], type[StrEnum]] = {
    ("models", "ending"): Ending,
    ("results", "verdict"): Verdict,
    ("causes", "cause"): Cause,
    ("causes", "verdict"): Verdict,
    ("causes", "confidence"): Confidence,
}
_JSON = {
    ("models", "options"): "object",
    ("models", "gaps"): "array",
    ("models", "files"): "object",
    ("blockers", "called"): "array",
}
_UNORDERED = (
    "SELECT 1 FROM {0} GROUP BY run HAVING MIN(position) <> 0 OR MAX(position) <> COUNT(*) - 1"
)


@contextmanager
def whole(*paths: Path | None) -> Iterator[None]:
    """Say of whatever goes wrong in the block that a store is damaged, if one of them is.

    Raises:
        UsageError: one is damaged, and something went wrong.
    """
    try:
        yield
    except OpcheckError:
        raise
    except Exception as error:  # a wrong value may go wrong anywhere; of a sound store it is a bug
        require_sound((path for path in paths if path is not None), error)
        raise


def require_sound(paths: Iterable[Path], error: Exception) -> None:
    """Refuse stores that are damaged, for an error that they led to.

    Raises:
        UsageError: one is.
    """
    for path in paths:
        if found := damage(path):
            raise UsageError(
                Sentence("the store {name} is damaged: {said}", name=path, said=found),
                _DAMAGED_HINT,
            ) from error


def damage(path: Path) -> Sentence:
    """What no opcheck wrote, the first that is found; "" where there is nothing.

    It reads the whole file.
    """
    try:
        with closing(_connected(path)) as connection:
            return foreign(connection) or next(_damage(connection), NOTHING)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # of a message that quotes the file
        return verbatim(error)


def foreign(connection: sqlite3.Connection) -> Sentence:
    """How the tables of a store are others than opcheck makes; "" where they are not.

    A view or a trigger is a program of its own, which anybody may have written.
    """
    ours, theirs = _made(), _objects(connection)
    for name, text in ours.items():
        if theirs.get(name) != text:
            return Sentence("its {text} is not as opcheck makes it", text=name)
    trigger = next((name for name in theirs if name.startswith("trigger ")), "")
    return Sentence("it has a {text}", text=trigger) if trigger else NOTHING


def _made() -> Mapping[str, str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> Mapping[str, str]:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOTNULL")
    return {f"{kind} {name}": text for kind, name, text in rows}


def _damage(connection: sqlite3.Connection) -> Iterator[Sentence]:
    told = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if told != "ok":
        yield verbatim(" ".join(str(told).split()))
    for table, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield Sentence("a row of {name} is of another one that is not there", name=table)
    tables = [name for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
    )]  # fmt: skip
    for table in tables:
        yield from _values(connection, table)
    for table in ("run_targets", "run_models"):
        if connection.execute(_UNORDERED.format(table)).fetchone():
            yield Sentence("the positions in {name} have gaps", name=table)


def _values(connection: sqlite3.Connection, table: str) -> Iterator[Sentence]:
    """Columns of a table with a value that does not belong there."""
    for _, column, declared, required, _, key in connection.execute(f"PRAGMA table_info({table})"):
        kinds = (*_TYPES.get(declared, ()), *(() if required or key else ("null",)))
        wrong = [f"typeof({column}) NOT IN ({_listed(kinds)})"]
        if declared != "TEXT":
            wrong.append(f"{column} < 0")
        if members := _MEMBERS.get((table, column)):
            wrong.append(f"{column} NOT IN ({_listed(members)})")
        if form := _JSON.get((table, column)):
            wrong.append(f"NOT json_valid({column}) OR json_type({column}) <> '{form}'")
        if connection.execute(f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong)}").fetchone():
            yield Sentence(
                "a value of {name} is none that opcheck writes", name=f"{table}.{column}"
            )
    for row in connection.execute(f"SELECT * FROM {table}"):  # raises what is no UTF-8
        del row


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)


_NO_STORE_HINT = Sentence("give another file with --store, or take this one away")
_MOST_BYTES = 1 << 44
"""Of a store, which is never read whole: a million models take some gigabytes."""
_MAGIC = b"SQLite format 3\0"
"""How a file of SQLite begins; it takes any shorter one for empty, and writes over it."""
_WAIT_SECONDS = 30.0
"""How long a writer waits for another one of the same file."""

Unchanged = Callable[[Mapping[str, str]], bool]
"""Whether files have the digests that they had."""


class Known(Struct, frozen=True):
    """What a store knows of a model, for a run that comes to it again."""

    model: int
    """Its row in ``models``."""
    ending: Ending
    timeout: float | None
    memory: float | None
    """The limits that it was scanned under."""
    results: frozenset[int]
    """Rows of ``targets`` that it has a result on."""


class Store:
    """One SQLite file; whoever reads it at the same time sees whole models."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        """Open a store, or begin one.

        What turns out to be no store is left as it is.

        Args:
            path: the file.
            create: begin a store where there is no file, or an empty one.

        Raises:
            UsageError: it cannot be opened, is no store, or one of another opcheck.
        """
        try:
            require_regular(path, _MOST_BYTES)
            with path.open("rb") as file:
                beginning = file.read(len(_MAGIC))
            if beginning != _MAGIC and (beginning or not create):
                raise _no_store(path)
        except FileNotFoundError as error:
            if not create:
                hint = Sentence("opcheck fleet MANIFEST makes one")
                raise UsageError(Sentence("there is no store {text}", text=path), hint) from error
        except OSError as error:
            raise UsageError(
                Sentence(
                    "cannot use the store {text}: {text_why}", text=path, text_why=error.strerror
                ),
                _NO_STORE_HINT,
            ) from error
        _require_no_journal(path)
        try:
            self._path = path
            self.connection = _connected(path)
            self.connection.row_factory = sqlite3.Row
            with ExitStack() as refused:  # an open connection would have the next one wait
                refused.callback(self.connection.close)
                self._prepare(path, create=create)
                refused.pop_all()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise UsageError(
                Sentence("cannot use the store {text}: {text_why}", text=path, text_why=error),
                _NO_STORE_HINT,
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(sqlite3.Error):  # another one reads or writes: the last to leave does it
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()
        if isinstance(error, Exception) and not isinstance(error, OpcheckError):
            require_sound([self._path], error)
        if isinstance(error, sqlite3.Error):  # the disk is full, another writer takes long
            raise UsageError(
                Sentence(
                    "cannot use the store {text}: {text_why}", text=self._path, text_why=error
                ),
                _NO_STORE_HINT,
            ) from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is written in the block, or nothing of it."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def known(self, key: str, unchanged: Unchanged) -> Known | None:
        """What there is of a model with this key, the newest whose own files are as they were."""
        rows = self.connection.execute(
            "SELECT * FROM models WHERE key=? ORDER BY version DESC", (key,)
        )
        row = next((row for row in rows if unchanged(json.loads(row["files"]))), None)
        if row is None:
            return None
        results = self.connection.execute("SELECT target FROM results WHERE model=?", (row["id"],))
        return Known(
            row["id"],
            Ending(row["ending"]),
            row["timeout"],
            row["memory"],
            frozenset(target for (target,) in results),
        )

    def traces(self, model: int) -> tuple[StoredTrace, ...]:
        """The traces of a model, for all device types that it was traced for."""
        rows = self.connection.execute(
            "SELECT device_type, casts, data, same_as FROM traces WHERE model=? "
            "ORDER BY device_type, casts",
            (model,),
        )
        return tuple(StoredTrace(*row) for row in rows)

    def _prepare(self, path: Path, *, create: bool) -> None:
        execute = self.connection.execute
        if create:
            with self.transaction():
                if not execute("SELECT name FROM sqlite_master").fetchall():
                    for statement in filter(str.strip, SCHEMA.split(";")):
                        execute(statement)
                    execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT,))
        tables = {name for (name,) in execute("SELECT name FROM sqlite_master WHERE type='table'")}
        found = (
            execute("SELECT value FROM meta WHERE name='format'").fetchone()
            if {"meta", "run_models"} <= tables
            else None
        )
        if found is None:
            raise _no_store(path)
        form = str(found[0])[:_SHOWN]
        if form != FORMAT:
            raise UsageError(
                Sentence(
                    "{text} is a store of format {format}; this opcheck reads {format_read}",
                    text=path,
                    format=form,
                    format_read=FORMAT,
                ),
                _NO_STORE_HINT,
            )
        if other := foreign(self.connection):
            raise UsageError(
                Sentence("cannot use the store {text}: {said}", text=path, said=other),
                _NO_STORE_HINT,
            )
        execute("PRAGMA journal_mode=WAL")  # writes to the file: only now is it known for a store
        execute("PRAGMA synchronous=NORMAL")  # under WAL, a process that is killed loses nothing
        execute("PRAGMA foreign_keys=ON")


def _connected(path: Path) -> sqlite3.Connection:
    """A connection to the file, no value of which may be larger than any that opcheck writes."""
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    return connection


def _require_no_journal(path: Path) -> None:
    """Refuse a store with a journal of SQLite's beside it, but for the moment of its making.

    A store has a write-ahead log instead. SQLite plays a journal back into the store when it opens
    that, and removes a file that the journal names.

    Raises:
        UsageError: it stays.
    """
    journal = path.with_name(f"{path.name}-journal")
    ends = time.monotonic() + _MAKING_SECONDS
    while os.path.lexists(journal):
        if time.monotonic() > ends:
            raise UsageError(
                Sentence(
                    "cannot use the store {path}: there is {name} beside it",
                    path=path,
                    name=journal.name,
                ),
                Sentence(
                    "move it away: no store has one, and SQLite would write it back into the store"
                ),
            )
        time.sleep(_MAKING_SECONDS / 20)


def _no_store(path: Path) -> UsageError:
    return UsageError(Sentence("{text} is no store of opcheck fleet", text=path), _NO_STORE_HINT)
