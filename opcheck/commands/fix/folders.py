"""Folders of files that are written whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from opcheck.errors import UsageError

_HINT = "give another folder with --into"


def require_folder(folder: Path, *, write: bool) -> None:
    """Refuse a folder that cannot be written to, before any work is done.

    Raises:
        UsageError: it is there already, or its own folder is not, or may not be written to.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"cannot write {folder}: it is no folder", _HINT)
    if folder.exists() and not write:
        message = f"{folder} is there already"
        raise UsageError(message, "give another folder with --into, or --write to write into it")
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise UsageError(f"cannot write {folder}: there is no folder {parent}", "make it first")
    if not os.access(folder if folder.exists() else parent, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write {folder}: permission denied", _HINT)


def write_folder(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Write files into a folder, by path in it: a new one, or beside others that are there.

    Where one cannot be written, those that were there are as they were, and no new one is left.

    Raises:
        UsageError: one cannot be written.
    """
    place = folder if folder.exists() else folder.absolute().parent
    try:
        draft = Path(tempfile.mkdtemp(prefix=".opcheck-", dir=place))
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}", _HINT) from error
    try:
        _write(draft / "new", files)
        if folder.exists():
            _merge(draft, folder, files)
        else:
            (draft / "new").replace(folder)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}", _HINT) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return tuple(str(folder / path) for path in sorted(files))


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir()
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        if text.startswith("#!"):
            file.chmod(file.stat().st_mode | (file.stat().st_mode & 0o444) >> 2)


def _merge(draft: Path, folder: Path, files: Mapping[str, str]) -> None:
    """Put each file in its place; what was there waits in the draft until all are."""
    undo: list[Callable[[], object]] = []
    try:
        for path in files:
            place, old = folder / path, draft / "old" / path
            undo += [parent.rmdir for parent in _parents(place.parent, folder)]
            old.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                place.replace(old)
                undo.append(partial(old.replace, place))
            (draft / "new" / path).replace(place)
            undo.append(place.unlink)
    except BaseException:
        for step in reversed(undo):
            step()
        raise


def _parents(wanted: Path, folder: Path) -> list[Path]:
    """Make the folders between, and say which were not there."""
    missing = [p for p in (wanted, *wanted.parents) if folder in p.parents and not p.exists()]
    for parent in reversed(missing):
        parent.mkdir()
    return list(reversed(missing))
