"""A quick reader of the YAML that importers write; anything else it leaves to the YAML library.

Every value stands on one line in flow style, so that quoting its plain words makes it JSON.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

_QUOTED = re.compile(r'("(?:[^"\\\n]|\\.)*")')
_PLAIN = re.compile(r"([A-Za-z_/][A-Za-z0-9_./+=@<>-]*(?:::?[A-Za-z0-9_./-]+)*)")
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
    lines = [line for line in _quoted(titled).split("\n") if line]
    if not lines:
        raise OtherStyleError("nothing")
    return _mapping(lines, "")


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _quoted(text: str) -> str:
    """The text with its plain words in quotes."""
    if _GAP in text:
        raise OtherStyleError("a control character")
    parts = _QUOTED.split(text)
    words = '"'.join(_PLAIN.split(_GAP.join(parts[::2])))
    if _NOT_TEXT.search(words):
        raise OtherStyleError("a plain word that is no text")
    words = words.replace('"true"', "true").replace('"false"', "false")
    parts[::2] = words.split(_GAP)
    return "".join(parts)


def _mapping(lines: Sequence[str], indent: str) -> str:
    """Lines of one indent, each with those below it, as a JSON object."""
    members: list[str] = []
    head, below = "", list[str]()
    for line in lines:
        if line.startswith(f"{indent}  ") and head:
            below.append(line)
            continue
        if head:
            members.append(_member(head, below, indent))
        head, below = line.removeprefix(indent), []
        if head.startswith(" ") or len(head) + len(indent) != len(line):
            raise OtherStyleError(f"unexpected indent: {line}")
    members.append(_member(head, below, indent))
    return "{" + ",".join(members) + "}"


def _member(head: str, below: Sequence[str], indent: str) -> str:
    """A key with its value, on its own line or on those below it."""
    if not below:
        return head
    if not head.endswith(":"):
        raise OtherStyleError(f"lines below a value: {head}")
    indent += "  "
    mark = f"{indent}- "
    if all(line.startswith(mark) for line in below):
        return f"{head}[{','.join(line[len(mark) :] for line in below)}]"
    return f"{head}{_mapping(below, indent)}"


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping of the pairs, of which no two have one key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise OtherStyleError("a key stands twice")
    return found
