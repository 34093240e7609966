"""Tables for spreadsheets."""

import csv
import io
from collections.abc import Iterable

from opcheck.views.problems import one_line

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What begins a formula, as ASCII and in the full width that spreadsheets take for it."""


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Rows below one header row; what a spreadsheet would compute is led by an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(map(_cell, row))
    return text.getvalue()


def _cell(value: object) -> object:
    """Numbers as they are; text on one line, and never a formula."""
    if isinstance(value, int):
        return value
    text = one_line(str(value))
    return f"'{text}" if text.lstrip(" '\"").startswith(_FORMULA) else text
