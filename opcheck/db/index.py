"""Compiled database files in the user's cache: JSON named by digest, used only if it checks out."""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

FORMAT = "1"
"""Part of every name, so that a change of what is stored finds no older file."""


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
    """The compiled form of a file with this digest; None where there is none that can be read."""
    if folder is None:
        return None
    try:
        stored = json.loads(_path(folder, name, digest).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(stored, dict) or stored.get("digest") != digest:
        return None
    return stored.get("data")


def save(folder: Path | None, name: str, digest: str, data: object) -> None:
    """Keep the compiled form; says nothing where the folder cannot be written."""
    if folder is None:
        return
    import tempfile

    path = _path(folder, name, digest)
    text = json.dumps({"digest": digest, "data": data}, separators=(",", ":"))
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=path.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)


def _path(folder: Path, name: str, digest: str) -> Path:
    return folder / f"{name}-{FORMAT}-{digest[:16]}.json"
