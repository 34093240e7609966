"""A quick reader of the YAML that importers write; anything else it leaves to the YAML library.

Every value stands on one line in flow style, so that quoting its plain words makes it JSON.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

_QUOTED = re.compile(r'("(?:[^"\\\n]|\\.)*")')
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./+=@<>-]*(?:::?[A-Za-z0-9_./-]+)*")
_TITLE = re.compile(r"^([a-z_]+): ([A-Za-z]\S* [A-Za-z0-9_ ./()+-]*[A-Za-z0-9.)])$", re.MULTILINE)
"""A top-level value of several plain words."""
_NOT_TEXT = re.compile(r'"(?:null|yes|no|on|off|y|n)"', re.IGNORECASE)
"""What YAML reads as something else than text."""
_GAP = "\0"
"""Stands for quoted text while plain words are quoted."""


class OtherStyleError(ValueError):
    """Text that only a YAML library reads."""


def read(text: str, *, distinct: bool = False) -> Any:
    """The content of a file as the YAML library would give it.

    Raises:
        OtherStyleError: it is not written as importers write, or is no YAML at all; or, where
            keys are to be ``distinct``, one stands twice.
    """
    try:
        return json.loads(_as_json(text), object_pairs_hook=_distinct if distinct else None)
    except (ValueError, RecursionError) as error:
        raise OtherStyleError(str(error)) from None


def _as_json(text: str) -> str:
    titled = _TITLE.sub(r'\1: "\2"', _without_comments(text))
    sections = list(_sections(_quoted(titled)))
    if not sections:
        raise OtherStyleError("nothing")
    return "{" + ",".join(sections) + "}"


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _quoted(text: str) -> str:
    """The text with its plain words in quotes."""
    if _GAP in text:
        raise OtherStyleError("a control character")
    parts = _QUOTED.split(text)
    words = _PLAIN.sub(r'"\g<0>"', _GAP.join(parts[::2]))
    if _NOT_TEXT.search(words):
        raise OtherStyleError("a plain word that is no text")
    words = words.replace('"true"', "true").replace('"false"', "false")
    parts[::2] = words.split(_GAP)
    return "".join(parts)


def _sections(text: str) -> Iterator[str]:
    """Each top-level key with its value, as members of a JSON object."""
    head, items = "", list[str]()
    for line in text.split("\n"):
        if line.startswith("  ") and head and line[2:3].strip():
            items.append(line[2:])
        elif line.startswith(" ") or (items and not head):
            raise OtherStyleError(f"unexpected indent: {line}")
        elif line:
            yield from _section(head, items)
            head, items = line, []
    yield from _section(head, items)


def _section(head: str, items: list[str]) -> Iterable[str]:
    if not head:
        return ()
    if not head.endswith(":"):
        if items:
            raise OtherStyleError(f"items below a value: {head}")
        return (head,)
    if items and all(item.startswith("- ") for item in items):
        return (f"{head}[{','.join(item[2:] for item in items)}]",)
    return (f"{head}{{{','.join(items)}}}",) if items else (head,)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping of the pairs, of which no two have one key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise OtherStyleError("a key stands twice")
    return found
