"""A run as Parquet files, which notebooks read: the views of the store, one file each."""

import importlib
import os
from pathlib import Path
from typing import Any

from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Run
from opcheck.errors import UsageError

VIEWS = ("answers", "problems")
_ORDER = ("position", "target_position", "place")
_ROWS = 100_000
"""How many are in memory at a time."""
_TYPES = {"TEXT": "string", "INTEGER": "int64", "REAL": "float64"}


def written(store: Store, run: Run, folder: Path) -> tuple[str, ...]:
    """Write each view as ``VIEW.parquet``, whole or not at all; gives the paths.

    Raises:
        UsageError: pyarrow is not installed, or a file cannot be written.
    """
    arrow, parquet = _pyarrow()
    try:
        folder.mkdir(exist_ok=True)
        return tuple(_written(store, view, run, folder, arrow, parquet) for view in VIEWS)
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder}: {error.strerror or error}", "give another folder"
        ) from error


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            f"Parquet needs pyarrow, which cannot be imported: {error}",
            "pip install 'opcheck[parquet]'; the SQLite file itself is read without it",
        ) from error


def _written(store: Store, view: str, run: Run, folder: Path, arrow: Any, parquet: Any) -> str:
    path = folder / f"{view}.parquet"
    draft = folder / f".{view}-{os.getpid()}.parquet"
    schema = _schema(store, view, arrow)
    order = ", ".join(name for name in _ORDER if name in schema.names)
    rows = store.connection.execute(f"SELECT * FROM {view} WHERE run=? ORDER BY {order}", (run.id,))
    try:
        with parquet.ParquetWriter(draft, schema) as writer:
            while batch := rows.fetchmany(_ROWS):
                columns = dict(zip(schema.names, zip(*batch, strict=True), strict=True))
                writer.write_table(arrow.table(columns, schema=schema))
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return str(path)


def _schema(store: Store, view: str, arrow: Any) -> Any:
    """Names and types of the columns, which SQLite tells of those that a view takes over."""
    columns = store.connection.execute(f"PRAGMA table_info({view})").fetchall()
    return arrow.schema(
        [(column["name"], getattr(arrow, _TYPES[column["type"]])()) for column in columns]
    )
