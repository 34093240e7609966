"""What files were found to hold, noted for as long as the system tells the same of them.

Neither a file nor its compiled form is then read through to see whether it changed. All notes are
lines of one file, the last of a path holds: a thousand files are told by one read.
"""

import os
import time
from collections.abc import MutableMapping
from functools import cache
from pathlib import Path

import msgspec

from opcheck.db.files import index
from opcheck.db.files.kept import MARGIN, changed

Status = tuple[int, int, int, int, int]
"""Size, changes of content and of what is noted of it, device and number of a file."""
_LARGEST = 1 << 21
"""Bytes of notes: five times what all files of a database come to; they begin anew beyond it."""


class Note(msgspec.Struct, frozen=True, array_like=True):
    """What was found of a file, and what the system told of it and of its compiled form then."""

    path: str
    status: Status
    digest: str
    shipped: bool
    """Whether the compiled form is one that the wheel brings."""
    compiled: Status


_NOTES = msgspec.json.Decoder(Note)


def status_of(path: str | Path) -> Status | None:
    """What the system tells of a file; None where it is so new that it may yet change."""
    try:
        now = os.stat(path)
    except (OSError, ValueError):
        return None
    if changed(now) >= time.time_ns() - MARGIN:
        return None
    return (now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_dev, now.st_ino)


def noted(cache: Path, path: Path, status: Status) -> tuple[str, memoryview] | None:
    """The digest of a file with this status, and its compiled form; None where none is noted."""
    note = _notes(_place(cache)).get(os.fspath(path))
    if note is None or note.status != status:
        return None
    place = _compiled(cache, path, note.digest, shipped=note.shipped)
    if status_of(place) != note.compiled:
        return None
    compiled = index.read_compiled(place)
    return None if compiled is None else (note.digest, compiled)


def note(cache: Path, path: Path, status: Status | None, digest: str) -> None:
    """Note the digest of a file that had this status before it was read.

    Its compiled form is there and was found whole.
    """
    for shipped in (False, True):
        compiled = status_of(_compiled(cache, path, digest, shipped=shipped))
        if status is not None and compiled is not None:
            made = Note(os.fspath(path), status, digest, shipped, compiled)
            _notes(_place(cache))[made.path] = made
            index.append(_place(cache), msgspec.json.encode(made) + b"\n")
            return


def _place(cache: Path) -> str:
    return index.compiled_path(cache, "all.noted", "0" * 16)


def _compiled(cache: Path, path: Path, digest: str, *, shipped: bool) -> str:
    return index.compiled_path(index.SHIPPED if shipped else cache, path.name, digest)


@cache
def _notes(place: str) -> MutableMapping[str, Note]:
    """The notes in a file, and those that this process adds."""
    text = index.lines(place, _LARGEST)
    try:
        return {note.path: note for note in _NOTES.decode_lines(text)}
    except msgspec.MsgspecError:  # damaged: they begin anew
        index.begin_anew(place)
        return {}
