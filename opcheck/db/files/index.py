"""The index - checked files in a form that is read quickly, by what the files' bytes are."""

import contextlib
import os
import re
import sys
import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

from opcheck.files import read_bytes

FORMAT = "9"
"""Part of every name, so that a change of what is stored finds no older file."""
_SEALED = 65
"""Bytes of the first line of a compiled file."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_MORE = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
_MOST_BYTES = 1 << 26
"""Of a compiled file: sixteen times what the file itself may have."""
_KEPT = 30 * 86_400
"""Seconds until a compiled file goes: releases come and go, and one still used is made again."""
SHIPPED = Path(__file__).parent.parent.parent / "_index"
"""Compiled files that a wheel brings; a checkout has none. Nothing is ever written there."""
_COMPILED = re.compile(r".+-\w+-[0-9a-f]{8}-[0-9a-f]{16}\.json(?:[0-9a-f]{16})?")


class _Now:
    writes: ClassVar[bool] = True


def write_nothing() -> None:
    """From now on only read: this process may not write where users keep their caches."""
    _Now.writes = False


def cache_folder() -> Path | None:
    """Where this user's caches belong; None where there is no such place."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        home = Path.home()
    except RuntimeError:
        return Path(base) / "opcheck" if base else None
    if base:
        return Path(base) / "opcheck"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "opcheck"


def load_compiled(folder: Path | None, name: str, digest: str) -> memoryview | None:
    """The compiled form of a file with this digest; None where there is none that is whole."""
    if folder is None:
        return None
    found = _content(compiled_path(folder, name, digest))
    if found is None:
        found = _content(compiled_path(SHIPPED, name, digest))  # what the wheel brings
    if found is None:
        return None
    stored = found[_SEALED:]
    return stored if found[:_SEALED] == _seal(digest, stored) else None


def read_compiled(path: str) -> memoryview | None:
    """What a compiled file holds that was found whole before, and has not changed since."""
    found = _content(path)
    return None if found is None else found[_SEALED:]


def lines(path: str, most: int) -> bytes:
    """What :func:`append` wrote to a file; nothing where it is larger, or its end is missing."""
    try:
        text = read_bytes(path, most)
    except FileNotFoundError:
        return b""
    except OSError:
        text = b"?"
    if text and not text.endswith(b"\n"):
        begin_anew(path)
        return b""
    return text


def begin_anew(path: str) -> None:
    """Remove a file of lines that is damaged or has become too large."""
    if _Now.writes:
        with contextlib.suppress(OSError):
            os.unlink(path)


def append(path: str, line: bytes) -> None:
    """Add a line to a file of the index; says nothing where it cannot be written.

    Others may add to it at the same time: a line is written at once.
    """
    if not _Now.writes:
        return
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, _MORE, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def _content(path: str) -> memoryview | None:
    try:
        return memoryview(read_bytes(path, _MOST_BYTES))
    except OSError:
        return None


def save_compiled(folder: Path, name: str, digest: str, stored: bytes) -> None:
    """Keep the compiled form; says nothing where the folder cannot be written.

    Others may write the same file at the same time: each puts a whole one in its place.
    """
    if not _Now.writes:
        return
    path = Path(compiled_path(folder, name, digest))
    temporary = path.with_name(f"{path.name}{os.urandom(8).hex()}")  # tempfile is slow to load
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        _remove_old(folder)
        try:
            with os.fdopen(os.open(temporary, _NEW, 0o600), "wb") as file:
                file.writelines((_seal(digest, stored), stored))
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)


@cache
def _remove_old(folder: Path) -> None:
    """Remove, once in a process, compiled files that nobody may need any more."""
    before = time.time() - _KEPT
    with os.scandir(folder) as found:
        for item in found:
            if _COMPILED.fullmatch(item.name) and item.stat().st_mtime < before:
                with contextlib.suppress(OSError):
                    os.unlink(item.path)


def compiled_path(folder: Path, name: str, digest: str) -> str:
    """Where the compiled form of a file with this digest is, if there is one."""
    return f"{folder}{os.sep}{name}-{FORMAT}-{_checks()}-{digest[:16]}.json"


def _seal(digest: str, stored: bytes | memoryview) -> bytes:
    """What the first line must be: of the file's digest and of what was made of it."""
    seal = sha256(digest.encode())
    seal.update(stored)
    return f"{seal.hexdigest()}\n".encode()


@cache
def _checks() -> str:
    """A digest of the code that checks files, and of the code that puts together what they add.

    What it found fit is not checked again.
    """
    files = Path(__file__).parent
    folders = (files.parent / "schema", files.parent / "by_hand")
    found = sorted(
        f"{folder}{os.sep}{name}"
        for folder in folders
        for name in os.listdir(folder)
        if name.endswith(".py")
    )
    code = sha256()
    for path in (f"{files}{os.sep}yaml_reader.py", *found):
        with contextlib.suppress(OSError):
            code.update(read_bytes(path, _MOST_BYTES))
    return code.hexdigest()[:8]
