"""Whatever a user names is read only where it is a regular file of a fitting size, and at once."""

import io
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import FrameType
from zipfile import ZipFile

import pytest

from opcheck.app.main import run
from opcheck.errors import ExitCode, SourceError
from opcheck.files import FileError, read_bytes
from opcheck.source.archive import open_archive
from opcheck.source.user_code import lines_of

SECONDS = 20
"""Far more than any of these takes; a pipe that nobody writes to takes for ever."""
LARGE = 2**30
SUFFIXES = (".pt", ".pt2", ".json", ".yaml", ".onnx", ".safetensors", ".csv", ".py", ".db", "")
TARGET = "-t ascend-910b"
MODELS = ("scan", "gate", "plan", "emulate", "choose", "tune", "upgrade", "fix --shim out.py")
OTHERS = (
    "convert {0}",
    "fleet query {0}",
    "fleet run timm:resnet18 --store {0} " + TARGET,
    "gate model.pt2 --policy {0}",
    f"gate model.pt2 {TARGET} --baseline {{0}}",
    f"gate model.pt2 {TARGET} --against {{0}}",
)
COMMANDS = (*(f"{command} {{0}} {TARGET}" for command in MODELS), *OTHERS)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class TooSlowError(Exception):
    """Something was waited for."""


@contextmanager
def at_once() -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(LARGE)


def folder_of_that_name(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (pipe, "it is not a regular file"),
        (endless, "it is not a regular file"),
        (sparse, "it is larger than 64 MiB"),
        (folder_of_that_name, "Is a directory"),
    ],
)
def test_what_is_no_file_of_a_fitting_size_is_not_read(
    make: Callable[[Path], None], told: str
) -> None:
    make(Path("file"))
    with at_once(), pytest.raises(FileError) as caught:
        read_bytes(Path("file"), 2**26)
    assert caught.value.strerror == told


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have_is_an_error_of_the_system(name: str) -> None:
    with pytest.raises(OSError, match="no file can have this name"):
        read_bytes(name, 9)


def test_a_file_that_does_not_tell_its_size_is_read_up_to_the_limit() -> None:
    """Of files in ``/proc`` the system says that they are empty."""
    whole = read_bytes("/proc/self/status", 2**20)
    assert whole.startswith(b"Name:")
    with pytest.raises(FileError) as caught:
        read_bytes("/proc/self/status", 9)
    assert caught.value.strerror == "it is larger than 9 bytes"


@pytest.mark.slow
@pytest.mark.parametrize("make", [pipe, endless, sparse])
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_refuses_at_once_what_is_no_fitting_file(
    command: str, make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    for suffix in SUFFIXES if "model.pt2" not in command else ("", ".json"):
        path = Path(f"file{suffix}")
        make(path)
        with at_once():
            code = run(command.format(path).split())
        told = capsys.readouterr().err
        assert code in (ExitCode.USAGE, ExitCode.MODEL), (suffix, told)
        assert told.count("error: ") == 1, (suffix, told)
        path.unlink()


@pytest.mark.parametrize("name", ["models.csv", "models.yaml"])
@pytest.mark.parametrize("make", [pipe, endless, sparse])
def test_a_manifest_is_a_file_of_a_fitting_size(
    name: str, make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    make(Path(name))
    with at_once():
        code = run(["fleet", "run", name, *TARGET.split()])
    told = capsys.readouterr().err
    assert (code, told.count("error: ")) == (ExitCode.USAGE, 1)
    assert name in told


@pytest.mark.parametrize(
    "name",
    ["a" * 300, "a/" * 3000, "a\0b", "a\ud800b", "loop"],
    ids=["long", "deep", "nul", "surrogate", "loop"],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_takes_any_name_for_a_name(
    command: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for suffix in (".pt2", ".json", ".py:build", ""):
        if name == "loop":
            Path(f"{name}{suffix}").symlink_to(f"{name}{suffix}")
        code = run(command.format(name + suffix).split(" "))
        told = capsys.readouterr().err
        assert code in (ExitCode.USAGE, ExitCode.MODEL), (suffix, told)
        assert told.count("error: ") == 1, (suffix, told)


def test_an_archive_whose_directory_claims_to_be_huge_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    with ZipFile(path, "w") as archive:
        archive.writestr("models/model.json", "{}")
    whole = path.read_bytes()
    ending = whole.rindex(b"PK\x05\x06")
    size = LARGE - 2**20
    end = bytearray(whole[ending:])
    end[12:20] = size.to_bytes(4, "little") + (LARGE - size).to_bytes(4, "little")
    with path.open("wb") as stream:
        stream.write(whole[:ending])
        stream.truncate(LARGE)
        stream.seek(LARGE)
        stream.write(end)
    with pytest.raises(SourceError, match="its directory claims 1072693248 bytes"):
        open_archive(path).__enter__()


def test_a_line_of_code_comes_from_a_python_file_alone(tmp_path: Path) -> None:
    """A trace in an exported program names its files itself."""
    (tmp_path / "code.py").write_text("import torch\nx = 1\n")
    (tmp_path / "key").write_text("a secret\n")
    pipe(tmp_path / "pipe.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    assert lines_of(str(tmp_path / "code.py")) == ["import torch\n", "x = 1\n"]
    with at_once():
        for name in ("key", "pipe.py", "zero.py", "none.py"):
            assert lines_of(str(tmp_path / name)) == ()


@pytest.mark.slow
def test_the_answer_goes_to_what_stands_in_for_stdout() -> None:
    with redirect_stdout(io.StringIO()) as out:
        assert run(["explain", "aten::gelu", *TARGET.split()]) == ExitCode.PASS
    assert "aten::gelu" in out.getvalue()
