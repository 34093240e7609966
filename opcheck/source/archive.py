"""A model's zip archive, opened with suspicion: every way it can be bad is one SourceError."""

import errno
import io
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from msgspec import Struct

from opcheck.errors import SourceError
from opcheck.files import MOST_MODEL_BYTES, open_regular
from opcheck.lang.sentence import Sentence
from opcheck.source.zip_directory import require_one_reading

MAX_MEMBERS = 1_000_000
_MAX_DIRECTORY = 256 * 2**20
"""Bytes of the list of the members, which is read at once: a million names, 200 bytes each."""
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
_SAVE_AGAIN = Sentence("save or copy the model again, and check that the copy is complete")
_TWO_WAYS = Sentence("the zip archive can be read in two ways")
_NOT_A_MODEL = Sentence("opcheck reads archives that torch.export.save or torch.jit.save wrote")


class Archive(Struct, frozen=True):
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
                Sentence(
                    "{text_file}: {member} cannot be unpacked ({text})",
                    text_file=self.path,
                    member=member,
                    text=error,
                ),
                _SAVE_AGAIN,
            ) from error
        if len(content) > limit:
            raise SourceError(
                Sentence(
                    "{text_file}: {member} unpacks to more than {count} bytes",
                    text_file=self.path,
                    member=member,
                    count=limit,
                ),
                _NOT_A_MODEL,
            )
        return content


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open ``path`` and check it before anything in it is unpacked."""
    with _opened(path) as stream, _directory(path, stream) as zip_file:
        entries = zip_file.infolist()
        size = os.fstat(stream.fileno()).st_size
        _check_sizes(path, entries, size)
        _check_names(path, entries)
        _check_methods(path, entries)
        _check_reading(path, zip_file, entries, size)
        names = tuple(entry.filename for entry in entries if not entry.is_dir())
        yield Archive(path, names, zip_file)


def is_zip(path: Path) -> bool:
    """Whether the file starts as a zip does; False as well where it cannot be read."""
    try:
        with open_regular(path, MOST_MODEL_BYTES) as stream:
            return _starts_as_zip(stream)
    except OSError:
        return False


class _Stream(io.BufferedReader):
    """A file of which only so much is read at once, since a forged directory may claim it all."""

    most = _MAX_DIRECTORY

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        if size is not None and size > self.most:
            raise ValueError(f"its directory claims {size} bytes")
        return super().read(size)


def _opened(path: Path) -> _Stream:
    try:
        stream = _Stream(open_regular(path, MOST_MODEL_BYTES).detach())
    except OSError as error:
        raise _not_opened(path, error) from error
    if not os.fstat(stream.fileno()).st_size:
        stream.close()
        raise SourceError(Sentence("{text_file}: the file is empty", text_file=path), _SAVE_AGAIN)
    return stream


def _not_opened(path: Path, error: OSError) -> SourceError:
    if isinstance(error, FileNotFoundError):
        return SourceError(
            Sentence("{text_file}: no such file", text_file=path),
            Sentence("check the path of the model file"),
        )
    if error.errno == errno.EISDIR:
        return SourceError(
            Sentence("{text_file}: is a directory", text_file=path),
            Sentence("give the model file inside it"),
        )
    return SourceError(
        Sentence(
            "{text_file}: cannot be read ({text_why})", text_file=path, text_why=error.strerror
        ),
        Sentence("give the path of a saved model"),
    )


def _directory(path: Path, stream: _Stream) -> zipfile.ZipFile:
    try:
        found = zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise SourceError(
            Sentence(
                "{text_file}: {said} ({text})",
                text_file=path,
                said=_why_no_zip(stream),
                text=error,
            ),
            _SAVE_AGAIN,
        ) from error
    stream.most = sys.maxsize  # a member has a limit of its own
    return found


def _why_no_zip(stream: BinaryIO) -> Sentence:
    stream.seek(0)
    if _starts_as_zip(stream):
        return Sentence("the zip archive is truncated or damaged: its directory cannot be read")
    return Sentence("is not a zip archive")


def _starts_as_zip(stream: BinaryIO) -> bool:
    return stream.read(len(_LOCAL_HEADER)) == _LOCAL_HEADER


def _check_sizes(path: Path, entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse what would unpack to far more than the file can hold."""
    if len(entries) > MAX_MEMBERS:
        raise SourceError(
            Sentence("{text_file}: holds {count} members", text_file=path, count=len(entries)),
            _NOT_A_MODEL,
        )
    if sum(entry.compress_size for entry in entries) > size:
        raise SourceError(
            Sentence(
                "{text_file}: its members claim more bytes than the file has, so they "
                "overlap or it is cut",
                text_file=path,
            ),
            _SAVE_AGAIN,
        )
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > max(size * MAX_RATIO, ALWAYS_FINE):
        raise SourceError(
            Sentence(
                "{text_file}: would unpack to {count} bytes, over {count_times} times its own size",
                text_file=path,
                count=unpacked,
                count_times=MAX_RATIO,
            ),
            _NOT_A_MODEL,
        )


def _check_names(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse names that say one thing to one reader and another to the next."""
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        if not name:
            raise SourceError(
                Sentence("{text_file}: holds a member without a name", text_file=path), _NOT_A_MODEL
            )
        if name in seen:
            raise SourceError(
                Sentence("{text_file}: holds {text} twice", text_file=path, text=repr(name)),
                _NOT_A_MODEL,
            )
        seen.add(name)
        if name.startswith("/") or "\\" in name or ":" in name.partition("/")[0]:
            raise SourceError(
                Sentence(
                    "{text_file}: holds {text}, not a relative name",
                    text_file=path,
                    text=repr(name),
                ),
                _NOT_A_MODEL,
            )
        if ".." in name and ".." in PurePosixPath(name).parts:
            raise SourceError(
                Sentence(
                    "{text_file}: holds {text}, which leads out of it",
                    text_file=path,
                    text=repr(name),
                ),
                _NOT_A_MODEL,
            )


def _check_reading(
    path: Path, zip_file: zipfile.ZipFile, entries: list[zipfile.ZipInfo], size: int
) -> None:
    """Refuse an archive in which PyTorch would see other members than those checked here."""
    stream = zip_file.fp
    assert stream is not None, "it is open"
    try:
        require_one_reading(stream, size, entries)
    except (ValueError, OSError) as error:  # of two readings, or of a directory too long to read
        raise SourceError(
            Sentence("{text_file}: {said}: {text}", text_file=path, said=_TWO_WAYS, text=error),
            _SAVE_AGAIN,
        ) from error


def _check_methods(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse what torch never writes and what unpacks only with optional modules or a password."""
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED:
            raise SourceError(
                Sentence(
                    "{text_file}: {member} is encrypted", text_file=path, member=entry.filename
                ),
                _NOT_A_MODEL,
            )
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise SourceError(
                Sentence(
                    "{text_file}: {member} is packed by method {method}, neither stored "
                    "nor deflated",
                    text_file=path,
                    member=entry.filename,
                    method=entry.compress_type,
                ),
                _NOT_A_MODEL,
            )
