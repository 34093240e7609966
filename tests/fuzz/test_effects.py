"""The watch notices what a reader does beside reading, and refuses what leaves the process."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opcheck.errors import SourceError
from opcheck.lang.sentence import NOTHING, Sentence
from tests.fuzz import readers
from tests.fuzz.effects import Canaries, Watch
from tests.fuzz.readers import Reader, tried

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("watched")


@pytest.fixture(scope="module")
def watch(folder: Path) -> Watch:
    made = Watch(Canaries(folder / "canaries"), [folder / "own"])
    made.learn()
    return made


def _seen(watch: Watch, act: Callable[[], object]) -> list[str]:
    watch.begin()
    with contextlib.suppress(OSError, RuntimeError, ImportError):
        act()
    return watch.end()


HARM: dict[str, Callable[[Path], object]] = {
    "open": lambda folder: (folder / "canaries" / "fresh").write_text("x"),
    "os.system": lambda folder: os.system("true"),
    "subprocess.Popen": lambda folder: subprocess.run(["true"], check=False),
    "os.remove": lambda folder: os.remove(folder / "canaries" / "id_rsa"),
    "os.chmod": lambda folder: os.chmod(folder, 0o777),
    "os.kill": lambda folder: os.kill(os.getpid(), 0),
    "os.fork": lambda folder: os.fork() or os._exit(0),
    "socket.__new__": lambda folder: socket.socket(),
    "exec": lambda folder: eval("'hostile'"),
    "import": lambda folder: __import__("hostile_import"),
    "opened id_rsa": lambda folder: (folder / "canaries" / "id_rsa").read_text(),
}


@pytest.mark.parametrize("harm", HARM)
def test_each_harm_is_seen(watch: Watch, folder: Path, harm: str) -> None:
    assert any(harm in event for event in _seen(watch, lambda: HARM[harm](folder)))


@pytest.mark.parametrize("harm", ["os.system", "os.kill", "os.fork", "os.remove"])
def test_what_reaches_out_of_the_process_is_refused(watch: Watch, folder: Path, harm: str) -> None:
    watch.begin()
    with pytest.raises(PermissionError, match="is refused to what is fuzzed"):
        HARM[harm](folder)
    assert watch.end()
    assert (folder / "canaries" / "id_rsa").exists()


def test_reading_is_no_harm(watch: Watch, folder: Path) -> None:
    assert _seen(watch, lambda: Path(__file__).read_text()) == []
    own = folder / "own"
    own.mkdir()
    assert _seen(watch, lambda: (own / "input").write_text("x")) == []


def test_a_file_that_native_code_changes_is_seen(watch: Watch, folder: Path) -> None:
    import torch

    path = str(folder / "canaries" / "checkpoint.pt")
    act = lambda: torch.from_file(path, shared=True, size=4, dtype=torch.uint8).fill_(7)  # noqa: E731
    assert any("checkpoint.pt" in event for event in _seen(watch, act))


def test_a_reader_that_does_more_than_read_is_a_finding(watch: Watch, folder: Path) -> None:
    """Also where it then refuses the file."""

    def read(path: Path) -> object:
        (folder / "canaries" / "left").touch()
        raise SourceError(Sentence("no model"), NOTHING)

    reader = Reader("unsafe", "m", lambda: iter((b"",)), lambda random, data: data, read)
    readers.WATCHES[:] = [watch]
    try:
        with pytest.raises(AssertionError, match=r"does more than read: .*left"):
            tried(reader, b"", folder / "own")
    finally:
        readers.WATCHES.clear()
