"""The folders that a database is made of - its own, those of installed packages, those given."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from opcheck.db.files.index import load_compiled, save_compiled
from opcheck.db.files.noted import status_of
from opcheck.errors import DatabaseError
from opcheck.files import read_bytes
from opcheck.lang.sentence import Sentence

GROUP = "opcheck.databases"
"""Entry points of this group name a package, or something that is or gives a path to a folder."""
_MOST_BYTES = 1 << 20
"""Of a list of entry points: a package has a few, a line each."""
_EGG = ".egg-info"
"""Of a folder that is written in place by a new installation from the same checkout."""
_NOTES = "entry_points.files"


class Layer(Struct, frozen=True):
    """One folder; what a later one says holds against what an earlier one says."""

    folder: Path
    origin: str
    """As people are told of it; "" for the database itself."""

    def of(self, path: Path) -> str:
        """What people are told of one of its files; "" for the database itself."""
        if not self.origin:
            return ""
        return f"{self.origin.rstrip('/')}/{path.relative_to(self.folder).as_posix()}"


def given(folders: Sequence[Path]) -> tuple[Layer, ...]:
    """The layers that the user names, in that order."""
    return tuple(_layer(folder, folder.as_posix()) for folder in folders)


def installed(cache: Path | None = None) -> tuple[Layer, ...]:
    """The layers that installed packages bring, by name; ``cache``: the folder of the index."""
    if not _any_installed(cache):
        return ()
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    return tuple(_layer(_folder_of(point), point.name) for point in points)


def _any_installed(cache: Path | None) -> bool:
    """Whether a package on the path has entry points of the group.

    Asking the standard library costs twenty milliseconds, for an answer that is mostly no. That it
    is no is noted for as long as the folders of the path are as they were: whatever installs a
    package makes a folder in one of them.
    """
    state = None if cache is None else _state()
    if state is not None and load_compiled(cache, _NOTES, state) is not None:
        return False
    written_anew = False
    for item in _descriptions():
        written_anew = written_anew or item.name.endswith(_EGG)
        with contextlib.suppress(OSError):
            if GROUP.encode() in read_bytes(f"{item.path}/entry_points.txt", _MOST_BYTES):
                return True
    if cache is not None and state is not None and not written_anew:
        save_compiled(cache, _NOTES, state, b"")
    return False


def _descriptions() -> Iterator["os.DirEntry[str]"]:
    """What describes the packages on the path."""
    for entry in dict.fromkeys(sys.path):
        with contextlib.suppress(OSError), os.scandir(entry or ".") as found:
            yield from (item for item in found if item.name.endswith((".dist-info", _EGG)))


def _state() -> str | None:
    """What the system tells of the folders of the path; None where one may yet change."""
    told = []
    for entry in dict.fromkeys(sys.path):
        path = os.path.abspath(entry)
        status = status_of(path)
        if status is None and os.path.exists(path):
            return None
        told.append((path, status))
    return sha256(msgspec.json.encode(told)).hexdigest()


def _folder_of(point: Any) -> Path:
    """The folder that an entry point stands for: a package's own, or the path that it gives."""
    try:
        if ":" not in point.value:
            spec = find_spec(point.value)
            locations = spec.submodule_search_locations if spec else None
            if locations:
                return Path(next(iter(locations)))
            raise ImportError(f"no package {point.value!r}")  # noqa: TRY301  # told as the others
        found = point.load()
        return Path(found() if callable(found) else found)
    except Exception as error:  # another package's code
        hint = Sentence(
            "repair or remove the package that has the entry point {text}", text=repr(point.value)
        )
        message = Sentence(
            "cannot load the database {text} of an installed package: {text_why}",
            text=repr(point.name),
            text_why=error,
        )
        raise DatabaseError(message, hint) from error


def _layer(folder: Path, origin: str) -> Layer:
    if not os.path.isdir(folder):
        what = Sentence("it is a file" if os.path.isfile(folder) else "there is no such folder")
        raise DatabaseError(
            Sentence("cannot add the database {text}: {said}", text=origin, said=what),
            Sentence(
                "give a folder of overlay files, with folders of vendors or advisories, or both"
            ),
        )
    return Layer(folder, origin)
