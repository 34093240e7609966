"""A model's zip archive, opened with suspicion: every way it can be bad is one SourceError."""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from opcheck.errors import SourceError

MAX_MEMBERS = 1_000_000
MAX_READ_BYTES = 512 * 2**20
"""Most bytes that one member may unpack to; the largest graphs known are a tenth of it."""
MAX_RATIO = 200
"""Most that a whole archive may grow by; JSON shrinks about thirtyfold, weights hardly."""
ALWAYS_FINE = 64 * 2**20
"""Bytes that an archive may unpack to whatever its own size."""

_UNPACKING = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError,
    RuntimeError,
)  # fmt: skip
"""What zipfile raises where a member's own header is not what the directory says."""
_ENCRYPTED = 0x1
_LOCAL_HEADER = b"PK\x03\x04"
_SAVE_AGAIN = "save or copy the model again, and check that the copy is complete"
_NOT_A_MODEL = "opcheck reads archives that torch.export.save or torch.jit.save wrote"


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip file whose member list was checked; members are unpacked only on ``read``."""

    path: Path
    members: tuple[str, ...]
    """Names as stored, in the order of the archive, folders left out."""
    zip_file: zipfile.ZipFile

    def read(self, member: str, limit: int = MAX_READ_BYTES) -> bytes:
        """The bytes of one member, at most ``limit`` of them."""
        try:
            with self.zip_file.open(member) as stream:
                content = stream.read(limit + 1)
        except _UNPACKING as error:
            raise SourceError(
                f"{self.path}: {member} cannot be unpacked ({error})", _SAVE_AGAIN
            ) from error
        if len(content) > limit:
            raise SourceError(
                f"{self.path}: {member} unpacks to more than {limit} bytes", _NOT_A_MODEL
            )
        return content


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open ``path`` and check it before anything in it is unpacked."""
    size = _file_size(path)
    try:
        zip_file = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise SourceError(f"{path}: {_why_no_zip(path)} ({error})", _SAVE_AGAIN) from error
    with zip_file:
        entries = zip_file.infolist()
        _check_sizes(path, entries, size)
        _check_names(path, entries)
        _check_methods(path, entries)
        names = tuple(entry.filename for entry in entries if not entry.is_dir())
        yield Archive(path, names, zip_file)


def is_zip(path: Path) -> bool:
    """Whether the file starts as a zip does; False as well where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_LOCAL_HEADER)) == _LOCAL_HEADER
    except OSError:
        return False


def _file_size(path: Path) -> int:
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = "no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise SourceError(f"{path}: {reason}", "check the path of the model file") from error
    if stat.S_ISDIR(status.st_mode):
        raise SourceError(f"{path}: is a directory", "give the model file inside it")
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"{path}: is not a regular file", "give the path of a saved model")
    if status.st_size == 0:
        raise SourceError(f"{path}: the file is empty", _SAVE_AGAIN)
    return status.st_size


def _why_no_zip(path: Path) -> str:
    if is_zip(path):
        return "the zip archive is truncated or damaged: its directory cannot be read"
    return "is not a zip archive"


def _check_sizes(path: Path, entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse what would unpack to far more than the file can hold."""
    if len(entries) > MAX_MEMBERS:
        raise SourceError(f"{path}: holds {len(entries)} members", _NOT_A_MODEL)
    if sum(entry.compress_size for entry in entries) > size:
        raise SourceError(
            f"{path}: its members claim more bytes than the file has, so they overlap or it is cut",
            _SAVE_AGAIN,
        )
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > max(size * MAX_RATIO, ALWAYS_FINE):
        raise SourceError(
            f"{path}: would unpack to {unpacked} bytes, over {MAX_RATIO} times its own size",
            _NOT_A_MODEL,
        )


def _check_names(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse names that say one thing to one reader and another to the next."""
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        if not name:
            raise SourceError(f"{path}: holds a member without a name", _NOT_A_MODEL)
        if name in seen:
            raise SourceError(f"{path}: holds {name!r} twice", _NOT_A_MODEL)
        seen.add(name)
        if name.startswith("/") or "\\" in name or ":" in name.partition("/")[0]:
            raise SourceError(f"{path}: holds {name!r}, not a relative name", _NOT_A_MODEL)
        if ".." in name and ".." in PurePosixPath(name).parts:
            raise SourceError(f"{path}: holds {name!r}, which leads out of it", _NOT_A_MODEL)


def _check_methods(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse what torch never writes and what unpacks only with optional modules or a password."""
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED:
            raise SourceError(f"{path}: {entry.filename} is encrypted", _NOT_A_MODEL)
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise SourceError(
                f"{path}: {entry.filename} is packed by method {entry.compress_type},"
                " neither stored nor deflated",
                _NOT_A_MODEL,
            )
