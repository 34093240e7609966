"""A bad archive is one clear error, and nothing of it is unpacked first."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from opcheck.errors import SourceError
from opcheck.source.archive import open_archive
from tests.source.pt2_files import archive_of

MEGABYTE = b"\0" * 2**20


def absent(path: Path) -> None:
    pass


def empty(path: Path) -> None:
    path.touch()


def folder(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def text(path: Path) -> None:
    path.write_text("hello")


def truncated(path: Path) -> None:
    archive_of(path, {"a": os.urandom(1000)})
    path.write_bytes(path.read_bytes()[:500])


def bomb(path: Path) -> None:
    archive_of(path, {str(number): MEGABYTE for number in range(80)})


def overlapping(path: Path) -> None:
    """Two entries over the same bytes, as bombs that stay small have them."""
    archive_of(path, {"a": os.urandom(2000), "b": b""})
    content = bytearray(path.read_bytes())
    first = content.find(b"PK\x01\x02")
    second = content.find(b"PK\x01\x02", first + 1)
    content[second + 20 : second + 28] = content[first + 20 : first + 28]
    path.write_bytes(content)


def duplicate(path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", "1")
        archive.writestr("a", "2")


def leading_out(path: Path) -> None:
    archive_of(path, {"m/../../etc/passwd": "x"})


def absolute(path: Path) -> None:
    archive_of(path, {"/etc/passwd": "x"})


def drive(path: Path) -> None:
    archive_of(path, {"C:/x": "x"})


def encrypted(path: Path) -> None:
    archive_of(path, {"a": "1"})
    content = bytearray(path.read_bytes())
    content[content.find(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)


def exotic(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a", "1")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (absent, "no such file"),
        (empty, "the file is empty"),
        (folder, "is a directory"),
        (pipe, "is not a regular file"),
        (text, "is not a zip archive"),
        (truncated, "the zip archive is truncated or damaged"),
        (bomb, "would unpack to 83886080 bytes, over 200 times its own size"),
        (overlapping, "claim more bytes than the file has"),
        (duplicate, "holds 'a' twice"),
        (leading_out, "holds 'm/../../etc/passwd', which leads out of it"),
        (absolute, "holds '/etc/passwd', not a relative name"),
        (drive, "holds 'C:/x', not a relative name"),
        (encrypted, "a is encrypted"),
        (exotic, "a is packed by method 12, neither stored nor deflated"),
    ],
)
def test_a_bad_archive_is_refused(make: Callable[[Path], None], words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    make(path)
    with pytest.raises(SourceError) as raised, open_archive(path):
        pass
    assert raised.value.message.startswith(f"{path}: ")
    assert words in raised.value.message
    assert raised.value.hint


def test_reading_stops_at_the_limit(tmp_path: Path) -> None:
    with open_archive(archive_of(tmp_path / "a.zip", {"a": os.urandom(100)})) as archive:
        assert len(archive.read("a")) == 100
        with pytest.raises(SourceError, match="a unpacks to more than 99 bytes"):
            archive.read("a", limit=99)


def test_a_member_that_lies_about_its_content_is_refused(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.zip", {"a": "text " * 100})
    content = bytearray(path.read_bytes())
    content[40] ^= 0xFF
    path.write_bytes(content)
    with open_archive(path) as archive, pytest.raises(SourceError, match="a cannot be unpacked"):
        archive.read("a")
