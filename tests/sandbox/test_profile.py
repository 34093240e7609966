"""What a confined process may do: looked for in what is there afterwards, not in what it says."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from opcheck.sandbox.limits import confine, landlock
from opcheck.sandbox.limits.system_files import project

pytestmark = pytest.mark.skipif(
    landlock.abi() < landlock.SCOPE_ABI,
    reason="this kernel's Landlock is too old to enforce all of it",
)
ROOT = Path(__file__).parents[2]
ALWAYS = {"write scratch", "rename scratch", "remove scratch", "write null", "thread"}
"""What every profile may do."""
PROCESSES = {"fork"}
PRETENDED = {"chmod", "chown", "utime", "xattr"}
"""Reported as done where code copies files of its own; but for times, nothing is."""
READS = {"read", "read by a link", "list", "read home"}
PROGRAMS = {"program", "interpreter", "shell"}
MAY = {
    "file": ALWAYS | PROCESSES,
    "alone": ALWAYS,
    "code": ALWAYS | PROCESSES | READS | PROGRAMS | PRETENDED | {"unix"},
    "trusted": ALWAYS | PROCESSES | READS | PROGRAMS | PRETENDED,
    "command": ALWAYS | PROCESSES | {"interpreter"},
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "kept").write_text("kept")
    (folder / "secret").write_text("a key")
    return folder


@pytest.fixture
def port(outside: Path) -> Iterator[int]:
    """Something to connect to, in each family."""
    with (
        socket.socket() as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        tcp.bind(("127.0.0.1", 0))
        unix.bind(str(outside / "socket"))
        abstract.bind("\0opcheck-tries")
        for server in (tcp, unix, abstract):
            server.listen()
            server.setblocking(False)
        yield tcp.getsockname()[1]
        for server in (tcp, abstract):
            with pytest.raises(BlockingIOError):
                server.accept()


def seen(folder: Path) -> list[tuple[str, tuple[int, int], int, float, bytes]]:
    """Everything about the files of a folder that could have been changed."""
    found = []
    for path in sorted(folder.iterdir()):
        status = path.stat()
        text = path.read_bytes() if path.is_file() else b""
        owner = (status.st_uid, status.st_mode)
        found.append((path.name, owner, status.st_nlink, status.st_mtime, text))
    return found


def tried(name: str, outside: Path, port: int, *more: str) -> set[str]:
    scratch = outside.parent / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [
            sys.executable, "-m", "tests.sandbox.tries", str(scratch), str(outside), str(port),
            str(os.getpid()), name, *more,
        ],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {tried for tried, came in json.loads(done.stdout).items() if came == "done"}


@pytest.mark.parametrize("name", MAY)
def test_a_confined_process_does_what_its_profile_lets_it(
    name: str, outside: Path, port: int
) -> None:
    before = seen(outside)
    assert tried(name, outside, port) == MAY[name]
    assert seen(outside) == before
    assert os.listxattr(outside / "kept") == []


def test_limits_are_only_ever_narrowed(outside: Path, port: int) -> None:
    before = seen(outside)
    assert tried("file", outside, port, "twice") == MAY["file"]
    assert seen(outside) == before


def test_an_unconfined_process_could_do_all_of_it(outside: Path) -> None:
    """Else the other tests would show nothing."""
    (outside / "kept").chmod(0o777)
    os.utime(outside / "kept", (0, 0))
    (outside / "kept").write_text("x")
    subprocess.run(["/bin/true"], check=True)
    assert (outside / "secret").read_text() == "a key"


def test_all_is_enforced_here() -> None:
    assert confine.missing() == ()


def test_what_an_old_kernel_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 3)
    (what,) = confine.missing()
    assert "version 3" in what
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    (what,) = confine.missing()
    assert "files are not kept" in what
    monkeypatch.setattr(sys, "platform", "darwin")
    (what,) = confine.missing()
    assert "darwin" in what


def test_a_project_has_no_hidden_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (".ssh", "src", "model.py"):
        (tmp_path / name).mkdir()
    assert [path.name for path in project(tmp_path)] == ["model.py", "src"]
    monkeypatch.setenv("HOME", str(tmp_path / "src"))
    assert [*project(tmp_path)] == []
    assert [*project(Path("/"))] == []
