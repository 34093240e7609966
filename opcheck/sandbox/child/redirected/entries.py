"""What ``os.scandir`` gives of a folder that is seen otherwise than it is."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import Any


class Entry:
    """What ``os.scandir`` gives, of a folder that is seen otherwise than it is."""

    def __init__(self, folder: str | bytes | os.PathLike[Any], name: Any) -> None:
        self.name, self.path = name, os.path.join(os.fspath(folder), name)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """As ``os.stat``."""
        return os.stat(self.path, follow_symlinks=follow_symlinks)

    def inode(self) -> int:
        """Its number."""
        return self.stat(follow_symlinks=False).st_ino

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a folder."""
        return self._is(stat.S_ISDIR, follow_symlinks)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a plain file."""
        return self._is(stat.S_ISREG, follow_symlinks)

    def is_symlink(self) -> bool:
        """Whether it is a link."""
        return self._is(stat.S_ISLNK, follow=False)

    def is_junction(self) -> bool:
        """What Windows has."""
        return False

    def _is(self, kind: Callable[[int], bool], follow: bool) -> bool:
        try:
            return kind(self.stat(follow_symlinks=follow).st_mode)
        except FileNotFoundError:
            return False


class Entries(Iterator[Entry]):
    """What can be closed, as what ``os.scandir`` gives."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> "Entries":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """There is nothing to close."""
