"""What stands in a store that no opcheck wrote, looked for once something in it made no sense."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path

from opcheck.commands.fleet.store.schema import SCHEMA
from opcheck.commands.fleet.values import Cause, Ending
from opcheck.errors import OpcheckError, UsageError
from opcheck.model.verdict import Confidence, Verdict

_HINT = "take the store away and run the fleet again, or give a copy of it from before"
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
            raise UsageError(f"the store {path} is damaged: {found}", _HINT) from error


def damage(path: Path) -> str:
    """What no opcheck wrote, the first that is found; "" where there is nothing.

    It reads the whole file.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            return foreign(connection) or next(_damage(connection), "")
    except (sqlite3.Error, UnicodeDecodeError) as error:  # of a message that quotes the file
        return str(error)


def foreign(connection: sqlite3.Connection) -> str:
    """How the tables of a store are others than opcheck makes; "" where they are not.

    A view or a trigger is a program of its own, which anybody may have written.
    """
    ours, theirs = _made(), _objects(connection)
    for name, text in ours.items():
        if theirs.get(name) != text:
            return f"its {name} is not as opcheck makes it"
    trigger = next((name for name in theirs if name.startswith("trigger ")), "")
    return f"it has a {trigger}" if trigger else ""


def _made() -> Mapping[str, str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> Mapping[str, str]:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOTNULL")
    return {f"{kind} {name}": text for kind, name, text in rows}


def _damage(connection: sqlite3.Connection) -> Iterator[str]:
    told = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if told != "ok":
        yield " ".join(str(told).split())
    for table, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield f"a row of {table} is of another one that is not there"
    tables = [name for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
    )]  # fmt: skip
    for table in tables:
        yield from _values(connection, table)
    for table in ("run_targets", "run_models"):
        if connection.execute(_UNORDERED.format(table)).fetchone():
            yield f"the positions in {table} have gaps"


def _values(connection: sqlite3.Connection, table: str) -> Iterator[str]:
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
            yield f"a value of {table}.{column} is none that opcheck writes"
    for row in connection.execute(f"SELECT * FROM {table}"):  # raises what is no UTF-8
        del row


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)
