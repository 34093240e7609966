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

FORMAT = "8"
"""Part of every name, so that a change of what is stored finds no older file."""
_SEALED = 65
"""Bytes of the first line of a compiled file."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
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
    found = None if folder is None else _content(place_of(folder, name, digest))
    if found is None:
        return None
    stored = found[_SEALED:]
    return stored if found[:_SEALED] == _seal(digest, stored) else None


def read_compiled(path: Path) -> memoryview | None:
    """What a compiled file holds that was found whole before, and has not changed since."""
    found = _content(path)
    return None if found is None else found[_SEALED:]


def _content(path: Path) -> memoryview | None:
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
    path = compiled_path(folder, name, digest)
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


def compiled_path(folder: Path, name: str, digest: str) -> Path:
    """Where the compiled form of a file with this digest is, if there is one."""
    return folder / f"{name}-{FORMAT}-{_checks()}-{digest[:16]}.json"


def place_of(folder: Path, name: str, digest: str) -> Path:
    """Where the compiled form is read from: the user's index, else what the wheel brings."""
    own = compiled_path(folder, name, digest)
    return own if own.exists() else compiled_path(SHIPPED, name, digest)


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
    found = sorted(path for folder in folders for path in folder.glob("*.py"))
    code = b""
    for path in (files / "yaml_reader.py", *found):
        with contextlib.suppress(OSError):
            code += path.read_bytes()
    return sha256(code).hexdigest()[:8]
