"""Catalogues as translators keep them: files of GNU gettext's PO format."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import Struct

_STATEMENT = re.compile(r'(?:(?P<key>msg\w+(?:\[\d+\])?)\s*)?(?P<text>".*")$')


class Entry(Struct, frozen=True):
    """One message and its translation."""

    english: str
    plural: str
    """The English of several; "" for a message that has no number in it."""
    context: str
    """Where it is said, for words that mean one thing here and another there."""
    forms: tuple[str, ...]
    """The translation, one text for each plural form of its language."""
    line: int


def read_po(text: str, name: str) -> tuple[Entry, ...]:
    """Every entry, the header first (its English is ""); ``name`` is for messages."""
    return tuple(_entry(block) for block in _blocks(text, name) if "msgid" in block.fields)


@dataclass(slots=True)
class _Block:
    line: int
    fields: dict[str, str]


def _blocks(text: str, name: str) -> Iterator[_Block]:
    """What stands between blank lines: keyword -> its text; comments are no part of it."""
    block, key = _Block(0, {}), ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped:
            yield block
            block, key = _Block(0, {}), ""
        elif not stripped.startswith("#"):
            found = _STATEMENT.match(stripped)
            key = (found["key"] or key) if found else ""
            if found is None or not key:
                raise ValueError(f"{name}:{number}: not a line of a PO file: {stripped!r}")
            block.line = block.line or number
            block.fields[key] = block.fields.get(key, "") + ast.literal_eval(found["text"])
    yield block


def _entry(block: _Block) -> Entry:
    fields = block.fields
    forms = [fields[key] for key in sorted(fields) if key.startswith("msgstr")]
    return Entry(
        fields["msgid"],
        fields.get("msgid_plural", ""),
        fields.get("msgctxt", ""),
        tuple(forms),
        block.line,
    )
