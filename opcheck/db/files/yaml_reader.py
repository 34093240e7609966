"""YAML within bounds - by the YAML library, or quickly where importers wrote it."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from opcheck.db.files.content import MOST_BYTES, BoundsError
from opcheck.lang.sentence import Sentence

MOST_VALUES = 1_000_000
"""Keys and values that a file may hold, those that an alias stands for counted each time."""
DEEPEST = 16
"""Levels of nesting that a file may have, those within an alias counted."""
_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")} | {"!", None}
_STANDARD = "tag:yaml.org,2002:"


def require_within(text: bytes) -> None:
    """Refuse what is beyond a bound, or has a key twice.

    Raises:
        BoundsError: it does.
        yaml.YAMLError: it is no YAML.
    """
    for line, key in repeated_keys(text):
        raise BoundsError(
            line, Sentence("expected the key {text} once, found it again", text=repr(key))
        )


def repeated_keys(text: bytes) -> Iterator[tuple[int, str]]:
    """1-based line and name of each key that its mapping had before.

    Raises:
        BoundsError: the text is beyond a bound.
        yaml.YAMLError: it is no YAML.
    """
    import yaml

    reading = _Reading()
    # a library tells its events one after another; it is building values from them that recurses
    for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        line = event.start_mark.line + 1 if event.start_mark else 1
        match event:
            case yaml.CollectionEndEvent():
                reading.end()
            case yaml.CollectionStartEvent(anchor=anchor, tag=tag):
                _require_plain(tag, line)
                reading.begin(anchor, isinstance(event, yaml.MappingStartEvent), line)
            case yaml.AliasEvent(anchor=str(anchor)):
                reading.add(*reading.standing_for(anchor, line), line)
            case yaml.ScalarEvent(anchor=anchor, tag=tag, value=value):
                _require_plain(tag, line)
                if reading.repeats(value):
                    yield line, value
                reading.add(1, 0, line, anchor)


@dataclass(slots=True)
class _Part:
    """A list or mapping, with what stands in it so far."""

    anchor: str | None
    keys: set[str] | None
    """Of a mapping; None: it is a list."""
    children: int = 0
    values: int = 1
    """Itself and everything below it, through aliases too."""
    depth: int = 1


class _Reading:
    """Where a file was read to: the parts that have not ended, and what anchors stand for."""

    def __init__(self) -> None:
        self._open: list[_Part] = []
        self._anchored: dict[str, tuple[int, int]] = {}
        """Values and depth of what each anchor stands for."""
        self._values = 0

    def repeats(self, text: str) -> bool:
        """Whether this text is a key that its mapping had; it has it now."""
        part = self._open[-1] if self._open else None
        if part is None or part.keys is None or part.children % 2:
            return False
        had = text in part.keys
        part.keys.add(text)
        return had

    def begin(self, anchor: str | None, mapping: bool, line: int) -> None:
        """Enter a part."""
        self._hold(1, 1, line)
        if self._open:
            self._open[-1].children += 1
        self._open.append(_Part(anchor, set() if mapping else None))

    def end(self) -> None:
        """Leave the innermost part."""
        part = self._open.pop()
        if part.anchor is not None:
            self._anchored[part.anchor] = part.values, part.depth
        if self._open:
            self._grow(part.values, part.depth)

    def add(self, values: int, depth: int, line: int, anchor: str | None = None) -> None:
        """Take in what stands in the innermost part: one value, or what an alias stands for."""
        self._hold(values, depth, line)
        if anchor is not None:
            self._anchored[anchor] = values, depth
        if self._open:
            self._open[-1].children += 1
            self._grow(values, depth)

    def standing_for(self, anchor: str, line: int) -> tuple[int, int]:
        """How many values an alias stands for, and how deep they are."""
        if anchor not in self._anchored and any(part.anchor == anchor for part in self._open):
            raise BoundsError(
                line, Sentence("expected *{anchor} outside of what it stands for", anchor=anchor)
            )
        return self._anchored.get(anchor, (1, 0))  # that it is nowhere is told by who builds it

    def _grow(self, values: int, depth: int) -> None:
        self._open[-1].values += values
        self._open[-1].depth = max(self._open[-1].depth, 1 + depth)

    def _hold(self, values: int, depth: int, line: int) -> None:
        self._values += values
        if len(self._open) + depth > DEEPEST:
            raise BoundsError(
                line, Sentence("expected at most {count} levels of nesting", count=DEEPEST)
            )
        if self._values > MOST_VALUES:
            raise BoundsError(
                line,
                Sentence(
                    "expected at most {count} values, aliases counted in", count=f"{MOST_VALUES:,}"
                ),
            )


def _require_plain(tag: str | None, line: int) -> None:
    if tag not in _TAGS:
        short = str(tag).replace(_STANDARD, "!!", 1)
        raise BoundsError(
            line, Sentence("expected a value without a tag, found {text}", text=repr(short))
        )


_QUOTED = re.compile(r'("[^"\\\n]*(?:\\.[^"\\\n]*)*")')
_PLAIN = re.compile(r"([A-Za-z_/][A-Za-z0-9_./+=@<>#-]*+(?:::?[A-Za-z0-9_./-]++)*+)")
_VALUE = re.compile(r"( *(?:- )?[A-Za-z_]+): ([A-Za-z_].*)")
"""A key with a plain value beside it."""
_FOLDED = re.compile(r"( *)((?:- )?)([A-Za-z_]+): >-")
"""A key whose value is the text of the lines below it."""
_KEY = re.compile(r'"(?:[^"\\]|\\.)*":(?: |$)')
"""How an item of a list begins that is a mapping, with its keys in quotes."""
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
"""A text in quotes."""
_ENDS = ("}", "]", '"', ":")
"""Of lines whose value is no plain words."""
_UNLIKE_YAML = re.compile(
    r'"(?:[Nn][Oo]"|N[Uu][Ll][Ll]"|[Yy][Ee][Ss]"|[Oo](?:[Nn]|[Ff][Ff])"'
    r'|T[Rr][Uu][Ee]"|F[Aa][Ll][Ss][Ee]"|:[^ \n])'
)
"""A plain word that YAML reads as something else than text, or a colon that ends no key there."""
_GAP = "\0"
"""Stands for quoted text while plain words are quoted."""
_ANCHORED = re.compile(r'("(?:[^"\\]|\\.)*":) &"(\w+)" ?(.*)')
"""A key in quotes, the name that its value has, and the value, if it stands beside it."""
_BEGIN, _NAMED, _END = "\1", "\2", "\3"
"""Around a value that has a name."""
_STANDING = re.compile(rf'{_BEGIN}(\w+){_NAMED}([^{_BEGIN}{_END}]*){_END}|\*"(\w+)"')
"""A value that has a name, or a name that stands for one."""


class OtherStyleError(ValueError):
    """Text that only a YAML library reads."""


def read_quickly(text: str, *, distinct: bool = False) -> Any:
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
    lines = [line for line in _quoted("\n".join(_stated(text))).split("\n") if line]
    if not lines:
        raise OtherStyleError("nothing")
    return _with_aliases(_mapping(lines, ""))


def _with_aliases(text: str) -> str:
    """The text with values in place of the names that stand for them; no value has one in it."""
    named: dict[str, str] = {}
    size = len(text)

    def standing(found: re.Match[str]) -> str:
        nonlocal size
        name, value, alias = found.groups()
        if name in named:
            raise OtherStyleError(f"two values that are called {name}")
        if name is not None:
            named[name] = value
        elif alias not in named:
            raise OtherStyleError(f"nothing that {alias} stands for")
        else:
            value = named[alias]
            size += len(value)
        if size > MOST_BYTES or '*"' in value:
            raise OtherStyleError("more than is read quickly")
        return value

    return _STANDING.sub(standing, text) if _BEGIN in text else text


def _stated(text: str) -> Iterator[str]:
    """The lines without comments, and with plain and folded texts in quotes."""
    listed = text.splitlines()
    if len(listed) != text.count("\n") + (not text.endswith("\n")) or "\t" in text:
        raise OtherStyleError("another break or space")
    lines = iter(listed)
    line = next(lines, None)
    while line is not None:
        after = next(lines, None)
        if line.endswith(">-") and (folded := _FOLDED.fullmatch(line)):
            indent, mark, key = folded.groups()
            margin = f"{indent}{'  ' if mark else ''}  "
            parts = list[str]()
            while after is not None and after.startswith(margin):
                parts.append(after[len(margin) :])
                after = next(lines, None)
            yield f"{indent}{mark}{key}: {_folded(parts)}"
        elif not line.lstrip(" ").startswith("#"):
            yield line if line.endswith(_ENDS) else _with_sentence(line)
        line = after


def _folded(parts: Sequence[str]) -> str:
    """The lines of a folded text as one in quotes."""
    if not parts or any(not part.isprintable() or part != part.strip(" ") for part in parts):
        raise OtherStyleError("lines that are not simply joined")
    if not all(parts):
        raise OtherStyleError("paragraphs")
    return json.dumps(" ".join(parts))


def _with_sentence(line: str) -> str:
    """The line with its value in quotes, if that is plain words, which YAML reads as text."""
    found = _VALUE.fullmatch(line)
    if found is None:
        return line
    value = found[2]
    plain = " " in value and value.isascii() and value.isprintable()
    ends = value.endswith((" ", ":"))
    if not plain or ends or any(sign in value for sign in ('"', "\\", ": ", " #")):
        return line
    return f'{found[1]}: "{value}"'


def _quoted(text: str) -> str:
    """The text with its plain words in quotes."""
    if any(sign in text for sign in (_GAP, _BEGIN, _NAMED, _END)):
        raise OtherStyleError("a control character")
    parts = _QUOTED.split(text)
    words = '"'.join(_PLAIN.split(_GAP.join(parts[::2])))
    if _UNLIKE_YAML.search(words) or any(f"{_GAP}:{sign}" in words for sign in f'{_GAP}"[{{'):
        raise OtherStyleError("a plain word that is no text, or a colon that ends no key")
    for word in ("true", "false", "null"):
        words = words.replace(f'"{word}"', word)
    parts[::2] = words.split(_GAP)
    return "".join(parts)


def _mapping(lines: Sequence[str], indent: str) -> str:
    """Lines of one indent, each with those below it, as a JSON object."""
    deeper, width = f"{indent}  ", len(indent)
    heads = [place for place, line in enumerate(lines) if not line.startswith(deeper)]
    if heads[:1] != [0] or not all(lines[p].startswith(indent) for p in heads):
        raise OtherStyleError(f"unexpected indent: {lines[0]}")
    if any(lines[place].startswith(" ", width) for place in heads):
        raise OtherStyleError("an indent of one space")
    if len(heads) == len(lines) and not any("&" in line for line in lines):
        return "{" + ",".join([line[width:] for line in lines]) + "}"
    ends = [*heads[1:], len(lines)]
    return (
        "{"
        + ",".join(
            _member(lines[head][width:], lines[head + 1 : end], deeper)
            for head, end in zip(heads, ends, strict=True)
        )
        + "}"
    )


def _member(head: str, below: Sequence[str], indent: str) -> str:
    """A key with its value, on its own line or on those below it."""
    if "&" in head and (found := _ANCHORED.fullmatch(head)):
        key, name, value = found.groups()
        if bool(value) == bool(below):
            raise OtherStyleError(f"a value twice, or never: {head}")
        inner = _member(key, below, indent) if below else f"{key}{value}"
        return f"{key}{_BEGIN}{name}{_NAMED}{inner.removeprefix(key)}{_END}"
    if not below:
        return head
    if not head.endswith(":"):
        raise OtherStyleError(f"lines below a value: {head}")
    if below[0].startswith(f"{indent}- "):
        return f"{head}[{','.join(_items(below, indent))}]"
    return f"{head}{_mapping(below, indent)}"


def _items(lines: Sequence[str], indent: str) -> Iterator[str]:
    """Lines of a list, each item with those below it."""
    mark, width = f"{indent}- ", len(indent) + 2
    starts = [place for place, line in enumerate(lines) if line.startswith(mark)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        first = lines[start][width:]
        if end > start + 1 or _KEY.match(first):
            inner = [" " * width + first, *lines[start + 1 : end]]
            yield _mapping(inner, " " * width)
        elif "," in first and first[0] not in "[{" and not _TEXT.fullmatch(first):
            raise OtherStyleError(f"a comma in plain words: {first}")
        else:
            yield first


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping of the pairs, of which no two have one key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise OtherStyleError("a key stands twice")
    return found
