"""Folders as one process sees them: as they are, with what it wrote and took away.

What is written lies aside as an overlay of the kernel's has it (``sandbox/limits/overlay.py``), so
that it is read in the same way when the process is over.
"""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence

from opcheck.sandbox.limits.overlay import folder_of, note_removed

# as they are before they are replaced
_lstat, _readlink, _scandir, _mkdir = os.lstat, os.readlink, os.scandir, os.mkdir
_remove, _rename, _rmdir, _symlink = os.remove, os.rename, os.rmdir, os.symlink
_stat = os.stat
_LINKS = 40
"""Links that are followed until a path is taken for a circle, as Linux has it."""


class Tree:
    """The folders, and what became of them."""

    def __init__(self, folders: Sequence[str], aside: str) -> None:
        """Begin with the folders as they are.

        Args:
            folders: real paths, none within another.
            aside: an empty folder in none of them.
        """
        self._tops = {folder: folder_of(aside, at, folder) for at, folder in enumerate(folders)}
        self._removed: set[str] = set()

    def at(self, path: str) -> str | None:
        """Where what is written to a real path lies; None for one in none of the folders."""
        for folder, top in self._tops.items():
            if path == folder:
                return top
            if path.startswith(folder.rstrip(os.sep) + os.sep):
                return os.path.join(top, os.path.relpath(path, folder))
        return None

    def real(self, path: str, *, last: bool = True) -> str:
        """The path without links, as this process sees them; ``last``: of its last part, too."""
        done, parts, followed = os.sep, path.split(os.sep)[::-1], 0
        while parts:
            part = parts.pop()
            if part in ("", os.curdir):
                continue
            if part == os.pardir:
                done = os.path.dirname(done)
                continue
            whole = os.path.join(done, part)
            seen = self.seen(whole) if last or parts else None
            if seen is None or not stat.S_ISLNK(_lstat(seen).st_mode):
                done = whole
                continue
            followed += 1
            if followed > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            goal = _readlink(seen)
            done = os.sep if os.path.isabs(goal) else done
            parts += goal.split(os.sep)[::-1]
        return done

    def seen(self, path: str) -> str | None:
        """Where what this process sees at a path without links lies; None: there is nothing."""
        above = self.at(path)
        if above is not None and _exists(above):
            return above
        return path if not self._is_removed(path) and _exists(path) else None

    def for_reading(self, path: str) -> str:
        """Where to look for a path without links, whether it is there or not."""
        found = self.seen(path)
        if found is not None:
            return found
        return self.at(path) or path

    def for_writing(self, path: str, *, keep: bool) -> str:
        """Where to write a file of this path without links; ``keep``: with what is in it.

        Raises:
            FileNotFoundError: its folder is not there.
        """
        above = self.at(path)
        if above is None:
            return path
        below = self.seen(path)
        if below is not None and _is_folder(below):
            self._folder(path)
            return above
        self._folder(os.path.dirname(path))
        if keep and below is not None and below != above:
            shutil.copy2(below, above, follow_symlinks=False)
        return above

    def make_folder(self, path: str, mode: int) -> None:
        """Make a folder, as ``os.mkdir`` does."""
        if self.seen(path) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        self._folder(os.path.dirname(path))
        _mkdir(self._above(path), mode)

    def remove(self, path: str) -> None:
        """Take a file away, as ``os.remove`` does."""
        found = self._there(path)
        if stat.S_ISDIR(_lstat(found).st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self._take(path, _remove)

    def remove_folder(self, path: str) -> None:
        """Take an empty folder away, as ``os.rmdir`` does."""
        found = self._there(path)
        if not stat.S_ISDIR(_lstat(found).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        if next(self.names(path), None) is not None:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        self._take(path, _rmdir)

    def link(self, goal: str, path: str) -> None:
        """Make a symbolic link, as ``os.symlink`` does."""
        if self.seen(path) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        self._folder(os.path.dirname(path))
        _symlink(goal, self._above(path))

    def rename(self, source: str, path: str) -> None:
        """Move a file or a folder to where at most one of its kind is, as ``os.replace`` does."""
        found = self._there(source)
        if self.seen(path) is not None:
            folder = stat.S_ISDIR(_lstat(found).st_mode)
            (self.remove_folder if folder else self.remove)(path)
        self._folder(os.path.dirname(path))
        self._copy(source, self._above(path))
        self._take_whole(source)

    def names(self, path: str) -> Iterator[str]:
        """Names of what this process sees in a folder, each once."""
        found: dict[str, None] = {}
        above = self.at(path)
        if above is not None and _is_folder(above):
            found.update(dict.fromkeys(_names(above)))
        if not self._is_removed(path) and _is_folder(path):
            found.update(dict.fromkeys(_names(path)))
        return (name for name in found if self.seen(os.path.join(path, name)) is not None)

    def touched(self, path: str) -> bool:
        """Whether a folder may be seen otherwise than it is."""
        above = self.at(path)
        return above is not None and (_is_folder(above) or bool(self._removed))

    def _above(self, path: str) -> str:
        above = self.at(path)
        if above is None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return above

    def _there(self, path: str) -> str:
        found = self.seen(path)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._above(path)
        return found

    def _folder(self, path: str) -> None:
        """Have the folder of a file aside, too."""
        if not stat.S_ISDIR(_stat(self.for_reading(path)).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        above = self.at(path)
        if above is not None and not _exists(above):
            self._folder(os.path.dirname(path))
            _mkdir(above)

    def _is_removed(self, path: str) -> bool:
        return bool(self._removed) and any(
            path == gone or path.startswith(gone + os.sep) for gone in self._removed
        )

    def _take(self, path: str, own: Callable[[str], None]) -> None:
        above = self._above(path)
        if _exists(above):
            own(above)
        if _exists(path) and not self._is_removed(path):
            self._removed.add(path)
            note_removed(self._top_of(path), path)

    def _top_of(self, path: str) -> str:
        return next(
            top for folder, top in self._tops.items()
            if path.startswith(folder.rstrip(os.sep) + os.sep)
        )  # fmt: skip

    def _copy(self, source: str, goal: str) -> None:
        found = self._there(source)
        if not stat.S_ISDIR(_lstat(found).st_mode):
            if found == self.at(source):
                _rename(found, goal)
            else:
                shutil.copy2(found, goal, follow_symlinks=False)
            return
        _mkdir(goal)
        for name in [*self.names(source)]:
            self._copy(os.path.join(source, name), os.path.join(goal, name))

    def _take_whole(self, path: str) -> None:
        if self.seen(path) is not None and stat.S_ISDIR(_lstat(self._there(path)).st_mode):
            for name in [*self.names(path)]:
                self._take_whole(os.path.join(path, name))
            self._take(path, _rmdir)
        else:
            self._take(path, _remove)


def _names(folder: str) -> Iterator[str]:
    with _scandir(folder) as entries:
        yield from (entry.name for entry in entries)


def _exists(path: str) -> bool:
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(_stat(path).st_mode)
    except (OSError, ValueError):
        return False
