"""What a file was found to hold, noted for as long as the system tells the same of it.

Neither the file nor its compiled form is then read through to see whether it changed.
"""

import os
import time
from hashlib import sha256
from pathlib import Path

import msgspec

from opcheck.db.files.index import load_compiled, place_of, read_compiled, save_compiled
from opcheck.db.files.kept import MARGIN, changed

Status = tuple[int, int, int, int, int]
"""Size, changes of content and of what is noted of it, device and number of a file."""


class Note(msgspec.Struct, frozen=True, array_like=True):
    """The digest of a file, and what the system told of its compiled form."""

    digest: str
    compiled: Status


_NOTE = msgspec.json.Decoder(Note)


def status_of(path: Path) -> Status | None:
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
    stored = load_compiled(cache, _name(path), _key(path, status))
    if stored is None:
        return None
    try:
        note = _NOTE.decode(stored)
    except msgspec.MsgspecError:
        return None
    place = place_of(cache, path.name, note.digest)
    if status_of(place) != note.compiled:
        return None
    compiled = read_compiled(place)
    return None if compiled is None else (note.digest, compiled)


def note(cache: Path, path: Path, status: Status | None, digest: str) -> None:
    """Note the digest of a file that had this status before it was read.

    Its compiled form is there and was found whole.
    """
    compiled = status_of(place_of(cache, path.name, digest))
    if status is not None and compiled is not None:
        text = msgspec.json.encode(Note(digest, compiled))
        save_compiled(cache, _name(path), _key(path, status), text)


def _name(path: Path) -> str:
    return f"{path.name}.noted"


def _key(path: Path, status: Status) -> str:
    return sha256(repr((os.fspath(path), status)).encode()).hexdigest()
