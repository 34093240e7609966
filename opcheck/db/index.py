"""Compiled database files in the user's cache: JSON named by digest, used only if it checks out."""

import contextlib
import json
import os
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from opcheck.files import read_bytes

FORMAT = "2"
"""Part of every name, so that a change of what is stored finds no older file."""
_MOST_BYTES = 1 << 26
"""Of a compiled file: sixteen times what the file itself may have."""


def default_folder() -> Path | None:
    """Where this user's caches belong; None where there is no such place."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        home = Path.home()
    except RuntimeError:
        return Path(base) / "opcheck" if base else None
    if base:
        return Path(base) / "opcheck"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "opcheck"


def load(folder: Path | None, name: str, digest: str) -> Any:
    """The compiled form of a file with this digest; None where there is none that is whole."""
    if folder is None:
        return None
    try:
        seal, _, stored = read_bytes(_path(folder, name, digest), _MOST_BYTES).partition(b"\n")
        if seal != _seal(digest, stored):
            return None
        return json.loads(stored)
    except (OSError, ValueError, RecursionError):
        return None


def save(folder: Path | None, name: str, digest: str, data: object) -> None:
    """Keep the compiled form; says nothing where the folder cannot be written.

    Others may write the same file at the same time: each puts a whole one in its place.
    """
    if folder is None:
        return
    import tempfile

    path = _path(folder, name, digest)
    stored = json.dumps(data, separators=(",", ":")).encode()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_seal(digest, stored) + b"\n" + stored)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)


def _path(folder: Path, name: str, digest: str) -> Path:
    return folder / f"{name}-{FORMAT}-{_checks()}-{digest[:16]}.json"


def _seal(digest: str, stored: bytes) -> bytes:
    """What the first line must be: of the file's digest and of what was made of it."""
    return sha256(digest.encode() + stored).hexdigest().encode()


@cache
def _checks() -> str:
    """A digest of the code that checks files: what it found fit is not checked again."""
    code = b""
    room = Path(__file__).parent
    for path in (room / "bounds.py", room / "shape.py", *sorted((room / "shapes").glob("*.py"))):
        with contextlib.suppress(OSError):
            code += path.read_bytes()
    return sha256(code).hexdigest()[:8]
