"""What a YAML file may be, whoever wrote it: bounds that hold before a library builds anything.

The YAML libraries have none of their own: deep nesting ends one written in C by a segmentation
fault, aliases of aliases grow to any size, tags other than these three raise whatever they like,
and of a key that stands twice the first is dropped in silence.
"""

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from opcheck.files import FileError, read_bytes

MOST_BYTES = 1 << 22
"""No file may be larger."""
MOST_VALUES = 1_000_000
"""Keys and values that a file may hold, those that an alias stands for counted each time."""
DEEPEST = 16
"""Levels of nesting that a file may have, those within an alias counted."""
_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")} | {"!", None}
_STANDARD = "tag:yaml.org,2002:"


class BoundsError(ValueError):
    """A file is beyond a bound; says where, and what was expected."""

    def __init__(self, line: int, expected: str) -> None:
        super().__init__(expected)
        self.line = line
        self.expected = expected


def content(path: Path) -> bytes:
    """The bytes of a file; no more are read than it may have.

    Raises:
        BoundsError: it is larger.
        OSError: it is no regular file, or cannot be read.
    """
    try:
        return read_bytes(path, MOST_BYTES)
    except FileError as error:
        if error.errno != errno.EFBIG:
            raise
        raise BoundsError(1, f"expected at most {MOST_BYTES:,} bytes, found more") from error


def require_within(text: bytes) -> None:
    """Refuse what is beyond a bound, or has a key twice.

    Raises:
        BoundsError: it does.
        yaml.YAMLError: it is no YAML.
    """
    for line, key in repeated_keys(text):
        raise BoundsError(line, f"expected the key {key!r} once, found it again")


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
            raise BoundsError(line, f"expected *{anchor} outside of what it stands for")
        return self._anchored.get(anchor, (1, 0))  # that it is nowhere is told by who builds it

    def _grow(self, values: int, depth: int) -> None:
        self._open[-1].values += values
        self._open[-1].depth = max(self._open[-1].depth, 1 + depth)

    def _hold(self, values: int, depth: int, line: int) -> None:
        self._values += values
        if len(self._open) + depth > DEEPEST:
            raise BoundsError(line, f"expected at most {DEEPEST} levels of nesting")
        if self._values > MOST_VALUES:
            raise BoundsError(line, f"expected at most {MOST_VALUES:,} values, aliases counted in")


def _require_plain(tag: str | None, line: int) -> None:
    if tag not in _TAGS:
        short = str(tag).replace(_STANDARD, "!!", 1)
        raise BoundsError(line, f"expected a value without a tag, found {short!r}")
