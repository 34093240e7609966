"""A manifest as a table: a row of names, ``source`` among them, and a row for each model."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opcheck.commands.fleet.manifest.fields import FIELDS, HINT, LISTS, TRUST, Row, refuse_trust
from opcheck.errors import UsageError
from opcheck.files import read_bytes

SEPARATOR = ";"
"""Between several values in one cell."""
_MOST_BYTES = 1 << 28
"""Of a manifest: a million models in rows of two hundred bytes and more."""


def read_csv(path: Path) -> tuple[Row, ...]:
    """The rows of a file.

    Raises:
        UsageError: it cannot be read, or is no manifest.
    """
    try:
        text = read_bytes(path, _MOST_BYTES).decode("utf-8-sig")
        table = csv.reader(io.StringIO(text, newline=""), strict=True)
        columns = [name.strip() for name in next(table, [])]
        _check(columns, path)
        found = [
            _row(dict(zip(columns, cells, strict=True)), f"{path}:{table.line_num}")
            for cells in table
            if any(map(str.strip, cells)) and _fits(cells, columns, path, table.line_num)
        ]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}", HINT) from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: expected a table in UTF-8, but {error}", HINT) from error
    if not found:
        raise UsageError(f"{path}: names no model", HINT)
    return tuple(found)


def _check(columns: list[str], path: Path) -> None:
    known = ["source", "name", *FIELDS]
    if "source" not in columns:
        found = ", ".join(columns) or "nothing"
        raise UsageError(f"{path}:1: expected a column 'source', found {found:.80}", HINT)
    for column in columns:
        if column == TRUST:
            refuse_trust(f"{path}:1")
        if column not in known:
            hint = f"known columns: {', '.join(known)}"
            raise UsageError(f"{path}:1: unknown column {column!r:.60}", hint)
        if columns.count(column) > 1:
            raise UsageError(f"{path}:1: the column {column!r} stands twice", "take one out")


def _fits(cells: list[str], columns: list[str], path: Path, line: int) -> bool:
    if len(cells) != len(columns):
        raise UsageError(
            f"{path}:{line}: expected {len(columns)} cells, found {len(cells)}",
            "put what has commas in quotes",
        )
    return True


def _row(cells: Mapping[str, str], where: str) -> Row:
    given = {name: cell.strip() for name, cell in cells.items() if cell.strip()}
    source, name = given.pop("source", ""), given.pop("name", "")
    if not source:
        raise UsageError(f"{where}: expected a source, found nothing", HINT)
    options: dict[str, Any] = {
        key: [part.strip() for part in cell.split(SEPARATOR)] if key in LISTS else cell
        for key, cell in given.items()
    }
    return Row(source, where, options, name)
