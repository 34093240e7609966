"""A bad archive is one clear error, and nothing of it is unpacked first."""

import io
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

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


def moved(path: Path) -> None:
    """Data before an archive, which zipfile adds to every offset and miniz does not."""
    archive_of(path, {"a": "1"})
    path.write_bytes(b"#" * 100 + path.read_bytes())


def commented(path: Path) -> None:
    """A comment after the end record, in which another one could stand."""
    archive_of(path, {"a": "1"})
    content = path.read_bytes()
    path.write_bytes(content[:-2] + struct.pack("<H", 22) + b"#" * 22)


def elsewhere(path: Path) -> None:
    """A record for large files that miniz takes from where it is said to be, and zipfile not."""
    torch.save({}, path)
    content = bytearray(path.read_bytes())
    content[-22 - 12 : -22 - 4] = struct.pack("<Q", 0)
    path.write_bytes(content)


def disagreeing(path: Path) -> None:
    torch.save({}, path)
    content = bytearray(path.read_bytes())
    content[-6:-2] = struct.pack("<L", 4)
    path.write_bytes(content)


def like_cased(path: Path) -> None:
    archive_of(path, {"m/code/a.py": "1", "m/CODE/a.py": "2"})


def cut_name(path: Path) -> None:
    archive_of(path, {"abc": "1"})
    path.write_bytes(path.read_bytes().replace(b"abc", b"a\0c"))


def flat_buffer(path: Path) -> None:
    archive_of(path, {"a": "1"})
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"PTMF" + content[8:])


def miscounted(path: Path) -> None:
    archive_of(path, {"a": "1", "b": "2"})
    content = bytearray(path.read_bytes())
    content[-14:-10] = struct.pack("<2H", 1, 1)
    path.write_bytes(content)


TWO = "can be read in two ways: "


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (moved, TWO + "its directory is not where its end record says"),
        (commented, TWO + "it does not end with the record that ends a zip file"),
        (elsewhere, TWO + "its record for large files is not where it is said to be"),
        (disagreeing, TWO + "its two end records differ"),
        (like_cased, TWO + "two of its members differ only in upper and lower case"),
        (cut_name, TWO + "the name b'a\\x00c' has a NUL in it"),
        (flat_buffer, TWO + "it starts as a FlatBuffer as well as a zip file"),
        (miscounted, TWO + "its directory lists more members than it says"),
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


class Add(nn.Module):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def forward(self, x: Tensor) -> Tensor:
        return x + self.number


def saved(number: int) -> bytes:
    content = io.BytesIO()
    torch.jit.save(torch.jit.script(Add(number)), content)
    return content.getvalue()


def test_a_model_hidden_behind_another_is_refused(tmp_path: Path) -> None:
    """zipfile reads the second one, PyTorch runs the first."""
    hidden, shown = saved(1), saved(2)
    members, size, start = struct.unpack_from("<3Q", shown, len(shown) - 22 - 20 - 24)
    counts = (members, members)
    record = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *counts, size, start, 0)
    path = tmp_path / "m.pt"
    path.write_bytes(hidden[: start + size] + shown[: start + size] + record)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(io.BytesIO(shown)) as expected:
        assert archive.read("archive/data.pkl") == expected.read("archive/data.pkl")
    assert torch.jit.load(path)(torch.zeros(1)).tolist() == [1]
    refused = pytest.raises(SourceError, match="its directory is not where its end record says")
    with refused, open_archive(path):
        pass


@pytest.mark.slow
def test_what_torch_writes_can_be_read_in_one_way(tmp_path: Path) -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    (tmp_path / "script.pt").write_bytes(saved(1))
    torch.jit.trace(module, torch.ones(1, 3)).save(str(tmp_path / "traced, \u6a21\u578b.pt"))
    torch.save(module.state_dict(), tmp_path / "weights.pt")
    torch.save(torch.zeros(2**22), tmp_path / "large.pt")
    torch.save([torch.zeros(1) for _ in range(70_000)], tmp_path / "many.pt")
    torch.export.save(torch.export.export(module, (torch.ones(1, 3),)), tmp_path / "program.pt2")
    for path in tmp_path.iterdir():
        with open_archive(path) as archive:
            assert archive.members


def test_an_archive_beyond_four_gigabytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.pt"
    with path.open("wb") as stream:
        stream.seek(5 * 2**30)  # a hole in the file
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("a", "1")
    with open_archive(path) as opened:
        assert opened.read("a") == b"1"
