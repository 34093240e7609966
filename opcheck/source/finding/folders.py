"""The files of a project: those of others left out, no link followed, and not without end."""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from opcheck.model.text import is_text

MOST = 20_000
"""Files and folders that are looked at: somebody may name ``/``."""
OTHERS = frozenset(
    {"venv", "env", "node_modules", "site-packages", "dist-packages", "__pycache__",
     "__pypackages__", "build", "dist", "third_party", "wandb", "mlruns"}
)  # fmt: skip
"""Folders of what is installed, built or downloaded; hidden ones are left out as well."""
_ODD = re.compile(r"[:*?\[\],;\"\\\x00-\x1f]")
_ENVIRONMENT = "pyvenv.cfg"
"""What a virtual environment has, whatever it is called."""


class Listing(Struct, frozen=True):
    """The regular files of a folder, and whether these are all."""

    files: tuple[str, ...]
    """From the folder on, with ``/``, sorted."""
    whole: bool
    odd: int = 0
    """How many files have names that no source can have: with ``:`` or ``*`` and the like."""


def listing(folder: Path, most: int = MOST) -> Listing:
    """The regular files of a folder and of those below it, looking at so many entries."""
    found: list[str] = []
    seen, odd, whole, todo = 0, 0, True, [""]
    while todo and whole:
        inside = todo.pop()
        entries = _entries(folder / inside, most - seen + 1)
        seen += len(entries)
        whole = seen <= most
        if inside and any(entry.name == _ENVIRONMENT for entry in entries):
            continue
        for entry in entries[: None if whole else most - seen]:
            path = f"{inside}/{entry.name}" if inside else entry.name
            if _is_folder(entry):
                todo += [] if _is_others(entry.name) else [path]
            elif _is_file(entry):
                plain = is_text(path) and not _ODD.search(path)
                found += [path] if plain else []
                odd += not plain
    return Listing(tuple(sorted(found)), whole, odd)


def _entries(folder: Path, most: int) -> list["os.DirEntry[str]"]:
    """At most so many entries of a folder, by name; none of one that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(islice(entries, most), key=lambda entry: entry.name)
    except OSError:
        return []


def _is_others(name: str) -> bool:
    return name.startswith(".") or name in OTHERS or name.endswith(".egg-info")


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def is_test(path: str) -> bool:
    """Whether a Python file is of a project's tests, documents or set-up, by its path."""
    *folders, name = path.split("/")
    return (
        name.startswith("test_")
        or name.endswith("_test.py")
        or name in ("conftest.py", "setup.py", "noxfile.py", "conf.py")
        or any(folder in ("test", "tests", "testing", "docs", "doc") for folder in folders)
    )


def beside(files: tuple[str, ...], name: str) -> Iterator[str]:
    """The folders, from the project's on, that have a file of this name; "" for itself."""
    return (path.rpartition("/")[0] for path in files if path.rpartition("/")[2] == name)
