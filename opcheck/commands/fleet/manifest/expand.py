"""What a source of a manifest stands for: itself, a folder's models, or whatever a pattern fits."""

import glob
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from opcheck.errors import OpcheckError, UsageError
from opcheck.sandbox.parent.run import names_of
from opcheck.source.kinds.python_file import PythonFile
from opcheck.source.load import kinds, select
from opcheck.source.model_folder import CONFIG, INDEX

_WILD = re.compile(r"[*?\[]")
_DEEP = re.compile(r"(?:(?<=/)|^)(\*\*)(?:/|$)")
_HF = "hf:"
_MOST = 20_000
"""Files and folders that are looked at for one source: a manifest may say ``/``."""


class Expanded(Struct, frozen=True):
    """The sources that one stands for."""

    sources: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Files that a pattern fits and that are no models."""


def expand(source: str, folder: Path) -> Expanded:
    """The sources that one stands for; ``folder`` is where its paths begin.

    Raises:
        UsageError: nothing fits.
        SourceError: the library that a pattern is for is not there.
    """
    prefix, colon, pattern = source.partition(":")
    kind = next((kind for kind in kinds() if colon and kind.name == prefix), None)
    if source.startswith(_HF):
        return _configs(source, _within(folder, pattern))
    if kind is None:
        return _models(_within(folder, source))
    if not (kind.lists and _WILD.search(pattern)):
        return Expanded((source,))
    known = names_of(prefix)
    names = tuple(f"{prefix}:{name}" for name in known if fnmatchcase(name, pattern))
    if not names:
        raise UsageError(f"{source}: {prefix} has no such model", f"it has {len(known)} of them")
    return Expanded(names)


def _within(folder: Path, path: str) -> str:
    """A path of a manifest as it is from here."""
    if os.path.isabs(path) or folder.resolve() == Path.cwd():
        return path
    return os.path.normpath(os.path.join(folder, path))


def _configs(source: str, path: str) -> Expanded:
    """``hf:`` and a folder with a config, or a pattern for such folders."""
    if not _WILD.search(path):
        return Expanded((f"{_HF}{path}",))
    found = _fitting(path)
    models = [
        one for one in found if os.path.basename(one) == CONFIG or _is_model_folder(one, CONFIG)
    ]
    if not models:
        raise UsageError(
            f"{source}: no folder with a {CONFIG}", f"it fits {len(found)} files and folders"
        )
    return Expanded(tuple(f"{_HF}{one}" for one in models))


def _models(path: str) -> Expanded:
    if _WILD.search(path):
        found = _fitting(path)
        models = {one: None for one in found if _is_model(one)}
        others = [one for one in found if one not in models and not os.path.isdir(one)]
        if not models:
            raise UsageError(f"{path}: fits no model", f"it fits {len(found)} files and folders")
        return Expanded(tuple(models), tuple(others))
    if not os.path.isdir(path) or _is_model(path):
        return Expanded((path,))
    inside = tuple(_inside(path))
    if not inside:
        raise UsageError(
            f"{path}: there is no model in this folder",
            "models in Python files are named one by one, as models.py:build",
        )
    return Expanded(inside)


def _fitting(pattern: str) -> list[str]:
    """The paths that a pattern fits, in order; ``**`` stands for folders at any depth."""
    found: set[str] = set()
    for seen, paths in enumerate(_looked_at(pattern), 1):
        _require_few(pattern, seen)
        found.update(paths)
    return sorted(found)


def _looked_at(pattern: str) -> Iterator[tuple[str, ...]]:
    """A path that fits, or () for one that was only passed: links and hidden folders are not."""
    above, deep, below = _DEEP.split(pattern, 1) if _DEEP.search(pattern) else (pattern, "", "")
    if not deep:
        yield from ((path,) for path in glob.iglob(pattern))
        return
    for root in glob.iglob(above or os.curdir):
        for parent, folders, files in os.walk(root):
            folders[:] = (name for name in folders if not name.startswith("."))
            yield from (() for _ in (parent, *files))
            yield from _looked_at(os.path.join(glob.escape(parent), below or "*"))


def _require_few(path: str, many: int) -> None:
    if many > _MOST:
        raise UsageError(
            f"{path}: has more than {_MOST:,} files and folders", "name a folder with models in it"
        )


def _inside(folder: str) -> Iterator[str]:
    """The models below a folder, each of its own folder or file, in order."""
    seen = 0
    for parent, folders, files in os.walk(folder):
        seen += 1 + len(files)
        _require_few(folder, seen)
        if _is_model(parent):
            folders.clear()
            yield parent
            continue
        folders.sort()
        paths = (os.path.join(parent, name) for name in sorted(files))
        yield from (path for path in paths if _is_model(path))


def _is_model_folder(path: str, *names: str) -> bool:
    return any(os.path.isfile(os.path.join(path, name)) for name in names)


def _is_model(path: str) -> bool:
    """Whether a file or folder is one that a kind of source claims, as it stands."""
    if os.path.isdir(path):
        return _is_model_folder(path, CONFIG, INDEX)
    try:
        return not isinstance(select(path), PythonFile) and not path.endswith(".json")
    except OpcheckError:
        return False
