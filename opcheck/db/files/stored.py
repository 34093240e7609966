"""Parts of a file as the index keeps them: one is found by its name, and the rest is not read.

A text begins with a line that tells where each part is. What has names, or is a list, stands in it
one value a line.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

Extent = tuple[int, int]
"""Where something begins and ends, from the end of the first line."""
_EXTENTS = msgspec.json.Decoder(dict[str, list[Extent]])
_LIST = msgspec.json.Decoder(list[int])
_BY_NAME = msgspec.json.Decoder(dict[str, msgspec.Raw])
_FEW = 32
"""So many values are searched for; who asks for more is given a table."""


class Packer:
    """Puts parts together."""

    def __init__(self) -> None:
        self._table: dict[str, list[Extent]] = {}
        self._body = [b"\n"]
        self._size = 1

    def add(self, key: str, *values: bytes) -> None:
        """Add what a key stands for: some texts."""
        self._table[key] = [self._add(value) for value in values]

    def _add(self, value: bytes) -> Extent:
        start = self._size
        self._body += (value, b"\n")
        self._size += len(value) + 1
        return start, self._size - 1

    def packed(self) -> bytes:
        """The text."""
        return b"".join((msgspec.json.encode(self._table), *self._body))


class Part(Struct):
    """A stretch of a text."""

    text: bytes
    start: int
    end: int

    @property
    def content(self) -> memoryview:
        """Its bytes."""
        return memoryview(self.text)[self.start : self.end]

    def line_at(self, place: int) -> memoryview:
        """The line that begins so far behind the start."""
        start = self.start + place
        end = self.text.find(b"\n", start, self.end)
        return memoryview(self.text)[start : self.end if end < 0 else end]


def unpacked(text: bytes | memoryview) -> dict[str, Sequence[Part]]:
    """What :class:`Packer` put together.

    Raises:
        ValueError: the text is damaged.
    """
    whole = text.obj if isinstance(text, memoryview) else text
    if not isinstance(whole, bytes):
        raise ValueError("not the end of a text")  # noqa: TRY004  # as of other damage
    begins = len(whole) - len(text)
    start = whole.find(b"\n", begins)
    table = _EXTENTS.decode(memoryview(whole)[begins : max(start, begins)])
    return {
        key: [Part(whole, start + first, start + last) for first, last in extents]
        for key, extents in table.items()
    }


def named(values: Mapping[str, bytes]) -> bytes:
    """Values by name, a line each."""
    return b"\n".join(b"%b:%b" % (msgspec.json.encode(name), one) for name, one in values.items())


class Named(Struct, dict=True):
    """Values by name, as :func:`named` wrote them."""

    part: Part
    _asked: int = 0

    def get(self, name: str) -> memoryview | msgspec.Raw | None:
        """The text of a value; None where there is none of that name."""
        if self._asked > _FEW:
            return self.all.get(name)
        self._asked += 1
        key = b"\n%b:" % msgspec.json.encode(name)
        text, end = self.part.text, self.part.end
        found = text.find(key, self.part.start - 1, end)
        if found < 0:
            return None
        start = found + len(key)
        stop = text.find(b"\n", start, end)
        return memoryview(text)[start : end if stop < 0 else stop]

    @cached_property
    def all(self) -> dict[str, msgspec.Raw]:
        """The text of each value."""
        lines = bytes(self.part.content).split(b"\n") if self.part.content else []
        return _BY_NAME.decode(b"{%b}" % b",".join(lines))


def listed(values: Iterable[bytes]) -> tuple[bytes, Sequence[int]]:
    """Values of a list, a line each, and where each begins."""
    lines, places, place = [], [], 0
    for value in values:
        lines.append(value)
        places.append(place)
        place += len(value) + 1
    return b"\n".join(lines), places


def begins(part: Part) -> Iterator[int]:
    """Where each line of :func:`listed` begins."""
    place = 0
    for line in bytes(part.content).split(b"\n") if part.content else ():
        yield place
        place += len(line) + 1


def numbers(text: memoryview | msgspec.Raw) -> Sequence[int]:
    """A list of numbers."""
    return _LIST.decode(text)


def plain(value: Any) -> bytes:
    """A value as JSON, which has no break within a line.

    Raises:
        ValueError: JSON cannot hold it.
    """
    try:
        text = msgspec.json.encode(value)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    if b"null" in text and msgspec.json.decode(text) != value:
        raise ValueError("JSON has no such number")  # infinity, for which null is written
    return text
