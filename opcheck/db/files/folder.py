"""A folder of small database files, read at once, and not opened again while none has changed."""

import contextlib
import os
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from opcheck.db.files import parts
from opcheck.db.files.document import HINT, Document, checked, content, uncollected
from opcheck.db.files.index import load_compiled, save_compiled
from opcheck.db.files.kept import MARGIN, changed
from opcheck.db.files.stored import plain
from opcheck.db.schema.checks import Record, ShapeError
from opcheck.lang.sentence import Sentence

_DIGESTS = msgspec.json.Decoder(dict[str, str])
Digests = Mapping[str, str]
"""File name -> sha256 of its bytes, in the order of names."""


def read_folder(
    folder: Path, shape: Record, cache: Path | None = None, hint: Sentence = HINT
) -> tuple[Document, ...]:
    """Read every file of a folder of small ones, by name, as :func:`read` does.

    The index has their content in one more file, and in a second one what the system told of them
    then: while it tells the same, none of them is opened.

    Raises:
        DatabaseError: one of them cannot be read, is beyond a bound, or is not of that shape.
    """
    state = None if cache is None else _state(folder)
    digests = None if state is None else _noted(load_compiled(cache, _notes(folder), state))
    held = None if digests is None else _kept(cache, folder, digests, shape)
    if digests is None or held is None:
        digests, held = _read(folder, shape, cache, hint)
        if cache is not None and state is not None:
            save_compiled(cache, _notes(folder), state, msgspec.json.encode(digests))
    return tuple(
        Document(f"{folder}{os.sep}{name}", held[name], digest) for name, digest in digests.items()
    )


def digests(folder: Path, cache: Path | None = None, hint: Sentence = HINT) -> Digests:
    """The digest of every file of a folder of small ones, by name; none is decoded.

    Raises:
        DatabaseError: one of them cannot be read, or is beyond a bound.
    """
    if not os.path.isdir(folder):
        return {}
    state = None if cache is None else _state(folder)
    found = None if state is None else _noted(load_compiled(cache, _notes(folder), state))
    if found is None:
        texts = ((name, content(folder / name, hint)) for name in _names(folder))
        found = {name: sha256(text).hexdigest() for name, text in texts}
        if cache is not None and state is not None:
            save_compiled(cache, _notes(folder), state, msgspec.json.encode(found))
    return found


def _read(
    folder: Path, shape: Record, cache: Path | None, hint: Sentence
) -> tuple[Digests, Mapping[str, Any]]:
    """Open every file; those are decoded that the index does not hold as they are."""
    texts = {name: content(folder / name, hint) for name in _names(folder)}
    digests = {name: sha256(text).hexdigest() for name, text in texts.items()}
    held = _kept(cache, folder, digests, shape)
    if held is None:
        with uncollected():
            held = {name: checked(folder / name, text, shape, hint) for name, text in texts.items()}
        if cache is not None:
            with contextlib.suppress(ValueError):
                save_compiled(cache, folder.name, _key(digests), plain(held))
    return digests, held


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".yaml"))
    except OSError:
        return []  # as a folder without files


def _state(folder: Path) -> str | None:
    """What the system tells of a folder's files; None where one is so new that it may yet change.

    It is to be asked before they are read: a file that changes meanwhile is told otherwise later.
    """
    names, before = _names(folder), f"{folder}{os.sep}"
    try:
        found = [os.stat(before + name) for name in names]
    except (OSError, ValueError):
        return None
    if found and max(map(changed, found)) >= time.time_ns() - MARGIN:
        return None
    told = [
        (name, now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_dev, now.st_ino)
        for name, now in zip(names, found, strict=True)
    ]
    return sha256(msgspec.json.encode(told)).hexdigest()


def _notes(folder: Path) -> str:
    return f"{folder.name}.files"


def _key(digests: Digests) -> str:
    named = "".join(f"{digest} {name}\n" for name, digest in digests.items())
    return sha256(named.encode()).hexdigest()


def _noted(stored: memoryview | None) -> Digests | None:
    try:
        return None if stored is None else _DIGESTS.decode(stored)
    except msgspec.MsgspecError:
        return None


def _kept(
    cache: Path | None, folder: Path, digests: Digests, shape: Record
) -> Mapping[str, Any] | None:
    """What the index holds of the files of a folder, if they were checked as of this kind."""
    stored = load_compiled(cache, folder.name, _key(digests))
    if stored is None:
        return None
    try:
        held: dict[str, Any] = parts.everything(stored)
        for name in digests:
            shape.required["schema"].check(held[name]["schema"], ())
    except (ValueError, RecursionError, ShapeError, KeyError, TypeError, AttributeError):
        return None
    return held
