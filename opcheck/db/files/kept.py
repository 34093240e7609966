"""What was read of a folder, kept for as long as no file in it changes."""

import os
import threading
import time
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
MARGIN = 2_000_000_000
"""Nanoseconds by which a file system may round what it notes, or its clock be behind."""


class Kept(threading.local, Generic[T]):
    """The last value of each thread: what reads on demand is not for several at a time."""

    _value: T | None = None
    _since = 0

    def while_unchanged(self, folder: Path, made: T) -> T:
        """The value that is equal to ``made``, with what was read for it; ``made`` if none is."""
        now = time.time_ns()
        if self._value is None or self._value != made or _changed_since(self._since, folder):
            self._value, self._since = made, now
        return self._value


def _changed_since(time: int, folder: Path) -> bool:
    """Whether something below a folder may have changed, come or gone since then.

    A file that goes or takes another's place changes its folder, however old it is itself.
    """
    before, seen, left = time - MARGIN, set[tuple[int, int]](), [os.fspath(folder)]
    try:
        while left:
            path = left.pop()
            status = os.stat(path)
            if changed(status) >= before:
                return True
            if (status.st_dev, status.st_ino) in seen:  # by a link to a folder above
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as found:
                for item in found:
                    if item.is_dir():
                        left.append(item.path)
                    elif changed(item.stat()) >= before:
                        return True
    except OSError:
        return True
    return False


def changed(status: os.stat_result) -> int:
    """When a file, or what is noted of it, last changed: nanoseconds."""
    return max(status.st_mtime_ns, status.st_ctime_ns)
