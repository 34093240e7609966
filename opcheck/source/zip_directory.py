"""The directory of a zip file read by the letter, so that every reader sees the same members.

Python's zipfile finds the directory by going back from the end record, and shifts all offsets by
what is missing; PyTorch's reader (miniz) takes every offset as it is written, looks names up
without regard to case, and asks first whether the file is a FlatBuffer. A file on which they
differ would have one model checked and another one loaded.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import IO, Any
from zipfile import ZipInfo

from msgspec import Struct

_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_EXTRA = struct.Struct("<2H")
_ZIP64_EXTRA = 1
_MOST_16, _MOST_32 = 0xFFFF, 0xFFFFFFFF
_UTF8_NAME = 0x800
_FLATBUFFER = b"PTMF"
_MOST_BYTES = 2**30
"""Bytes of a directory; a million members take a tenth of it."""


class TwoReadingsError(ValueError):
    """Two readers of zip files may see different members."""


class _Directory(Struct, frozen=True):
    """Where the members are listed."""

    offset: int
    size: int
    members: int


_Member = tuple[str, int, int, int, int, int]
"""A member as its entry has it: name, method, flags, both sizes, packed first, and offset."""


def require_one_reading(stream: IO[bytes], size: int, entries: Sequence[ZipInfo]) -> None:
    """Check that the file has the members that zipfile found, and no other way to be read.

    Raises:
        TwoReadingsError: it has; says why.
    """
    stream.seek(0)
    if stream.read(8)[4:] == _FLATBUFFER:
        raise TwoReadingsError("it starts as a FlatBuffer as well as a zip file")
    directory = _directory(stream, size)
    stream.seek(directory.offset)
    found = list(_members(stream.read(directory.size), directory.members))
    theirs = [
        (e.filename, e.compress_type, e.flag_bits, e.compress_size, e.file_size, e.header_offset)
        for e in entries
    ]
    if found != theirs:
        raise TwoReadingsError("its members are not where their offsets say")
    names = {name.lower() for name, *_ in found}
    if len(names) != len(found):
        raise TwoReadingsError("two of its members differ only in upper and lower case")


def _directory(stream: IO[bytes], size: int) -> _Directory:
    """Where the end record says that the directory is; it must end where that record starts."""
    end = size - _END.size
    signature, disk, first, here, members, length, offset, comment = _read(stream, _END, end)
    if signature != b"PK\x05\x06" or comment:
        raise TwoReadingsError("it does not end with the record that ends a zip file")
    if (disk, first) != (0, 0) or here != members:
        raise TwoReadingsError("it is a part of several files")
    found = _Directory(offset, length, members)
    wide = _wide_directory(stream, end)
    if wide is not None:
        _require_agreement(found, wide)
        found, end = wide, end - _LOCATOR.size - _END_64.size
    if found.offset + found.size != end:
        raise TwoReadingsError("its directory is not where its end record says")
    if found.size > _MOST_BYTES:
        raise TwoReadingsError(f"its directory has {found.size} bytes")
    return found


def _wide_directory(stream: IO[bytes], end: int) -> _Directory | None:
    """The same from the records for large files, where there are some."""
    place = end - _LOCATOR.size
    if place < 0:
        return None
    signature, disk, offset, _ = _read(stream, _LOCATOR, place)
    if signature != b"PK\x06\x07":
        return None
    if disk or offset != place - _END_64.size:
        raise TwoReadingsError("its record for large files is not where it is said to be")
    signature, _, _, _, disk, first, here, members, length, start = _read(stream, _END_64, offset)
    if signature != b"PK\x06\x06" or (disk, first) != (0, 0) or here != members:
        raise TwoReadingsError("its record for large files is damaged")
    return _Directory(start, length, members)


def _require_agreement(narrow: _Directory, wide: _Directory) -> None:
    for short, long, most in (
        (narrow.offset, wide.offset, _MOST_32),
        (narrow.size, wide.size, _MOST_32),
        (narrow.members, wide.members, _MOST_16),
    ):
        if short not in (long, most):
            raise TwoReadingsError("its two end records differ")


def _members(content: bytes, count: int) -> Iterator[_Member]:
    """Each entry of a directory that holds just so many."""
    place = 0
    for _ in range(count):
        if len(content) - place < _ENTRY.size:
            raise TwoReadingsError("its directory lists fewer members than it says")
        fields = _ENTRY.unpack_from(content, place)
        signature, _, _, flags, method, _, _, _, packed, unpacked, *lengths = fields
        name_size, extra_size, comment_size, disk, _, _, offset = lengths
        if signature != b"PK\x01\x02" or disk:
            raise TwoReadingsError("its directory is damaged")
        start = place + _ENTRY.size
        place = start + name_size + extra_size + comment_size
        if place > len(content):
            raise TwoReadingsError("its directory is cut")
        name = content[start : start + name_size]
        if b"\0" in name:
            raise TwoReadingsError(f"the name {name!r} has a NUL in it")
        extra = content[start + name_size : start + name_size + extra_size]
        if _MOST_32 in (packed, unpacked, offset):
            unpacked, packed, offset = _widened((unpacked, packed, offset), extra)
        text = name.decode("utf-8" if flags & _UTF8_NAME else "cp437", "replace")
        yield text, method, flags, packed, unpacked, offset
    if place != len(content):
        raise TwoReadingsError("its directory lists more members than it says")


def _widened(values: tuple[int, int, int], extra: bytes) -> list[int]:
    """Sizes and offset, those that need 64 bits from the first field for them, as miniz does."""
    wide = iter(_wide_values(extra))
    found = [next(wide, -1) if value == _MOST_32 else value for value in values]
    if -1 in found:
        raise TwoReadingsError("a member is large and does not say how large")
    return found


def _wide_values(extra: bytes) -> tuple[int, ...]:
    place = 0
    while len(extra) - place >= _EXTRA.size:
        kind, size = _EXTRA.unpack_from(extra, place)
        place += _EXTRA.size
        if kind == _ZIP64_EXTRA:
            field = extra[place : place + size]
            return struct.unpack(f"<{len(field) // 8}Q", field[: len(field) // 8 * 8])
        place += size
    return ()


def _read(stream: IO[bytes], form: struct.Struct, place: int) -> tuple[Any, ...]:
    if place < 0:
        raise TwoReadingsError("it is too short")
    stream.seek(place)
    content = stream.read(form.size)
    if len(content) < form.size:
        raise TwoReadingsError("it is cut")
    return form.unpack(content)
