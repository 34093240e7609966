"""The bytes of a database file, which may have only so many."""

import errno
from pathlib import Path

from opcheck.files import FileError, read_bytes
from opcheck.lang.sentence import Sentence

MOST_BYTES = 1 << 22
"""No file may be larger."""


class BoundsError(ValueError):
    """A file is beyond a bound; says where, and what was expected."""

    def __init__(self, line: int, expected: Sentence) -> None:
        super().__init__(expected)
        self.line = line
        self.expected = expected


def bounded(path: Path) -> bytes:
    """The bytes of a file; no more are read than it may have.

    Raises:
        BoundsError: it is larger.
        OSError: it is no regular file, or cannot be read.
    """
    try:
        return read_bytes(path, MOST_BYTES)
    except FileError as error:
        if error.errno != errno.EFBIG:
            raise
        raise BoundsError(
            1, Sentence("expected at most {count} bytes, found more", count=f"{MOST_BYTES:,}")
        ) from error
