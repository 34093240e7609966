"""Files that are read because somebody names them: regular ones only, and up to a limit."""

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST_SOURCE_BYTES = 16 << 20
"""Of a Python file: the largest that people write are a tenth of it."""
MOST_MODEL_BYTES = 1 << 40
"""Of a file with weights, which is streamed: no checkpoint is kept in one file of a tebibyte."""
MOST_REPORT_BYTES = 1 << 26
"""Of a report, a baseline or an emulation in JSON: one on every target has some megabytes."""

_CHUNK = 1 << 20
_LEAST = 1 << 12
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes to would be waited for
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


class FileError(OSError):
    """There is a file of this name, and it is not of the kind that may be read."""


def open_regular(path: Path | str, limit: int) -> io.BufferedReader:
    """Open a regular file of at most ``limit`` bytes.

    Raises:
        OSError: it cannot be; ``strerror`` says why, whatever the reason is.
    """
    return os.fdopen(_opened(path, limit)[0], "rb")


def _opened(path: Path | str, limit: int) -> tuple[int, int]:
    """A descriptor of a file, and its size."""
    require_regular(path, limit)  # opening a device may already do something to it
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        _require(status, path, limit)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status.st_size


def read_bytes(path: Path | str, limit: int) -> bytes:
    """The bytes of a regular file, at most ``limit`` of them whatever its size is said to be.

    Raises:
        OSError: it has more, or cannot be read; ``strerror`` says why.
    """
    descriptor, size = _opened(path, limit)
    try:
        content = _content(descriptor, size, limit)
    finally:
        os.close(descriptor)
    if content is None:
        raise _too_large(path, limit)
    return content


def _content(descriptor: int, size: int, limit: int) -> bytes | None:
    """All of an open file of this size; None where that is more than ``limit`` bytes."""
    parts, left, likely = list[bytes](), limit + 1, size + 1
    while left and (part := os.read(descriptor, asked := min(left, max(likely, _LEAST)))):
        parts.append(part)
        left -= len(part)
        likely -= len(part)
        if likely == 1 and len(part) < asked:  # as many as it was said to have, and no more
            break
    return b"".join(parts) if left else None


def read_stream(stream: BinaryIO, limit: int) -> bytes | None:
    """All that is left in a stream; None where that is more than ``limit`` bytes."""
    parts, left = [], limit + 1
    while left and (part := stream.read(min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts) if left else None


def require_regular(path: Path | str, limit: int) -> None:
    """Refuse what may not be read, for a library that opens the file itself; it is not opened here.

    Raises:
        OSError: it is no regular file, is larger or is not there; ``strerror`` says why.
    """
    try:
        status = os.stat(path)
    except ValueError as error:  # NUL, or half of a surrogate pair
        raise FileError(errno.EINVAL, "no file can have this name", str(path)) from error
    _require(status, path, limit)


def in_words(size: int) -> str:
    """A size in the largest unit that it is a whole number of."""
    units = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
    return next(
        (f"{size // unit} {name}" for name, unit in units if size >= unit and not size % unit),
        f"{size} bytes",
    )


def _require(status: os.stat_result, path: Path | str, limit: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise FileError(errno.EINVAL, "it is not a regular file", str(path))
    if status.st_size > limit:
        raise _too_large(path, limit)


def _too_large(path: Path | str, limit: int) -> FileError:
    return FileError(errno.EFBIG, f"it is larger than {in_words(limit)}", str(path))
