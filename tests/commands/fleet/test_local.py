"""The local engine with real processes: bad models stop no other, and no kill loses anything."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from opcheck.commands.fleet.engine import Setup
from opcheck.commands.fleet.engines import local
from opcheck.commands.fleet.engines.local import Local
from opcheck.commands.fleet.store.reading import answers, runs
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Began, Ending, Job, Outcome
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
imports_torch = pytest.mark.slow

NETS = """
import os, socket, sys, time
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, act=None):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.act = act

    def forward(self, x):
        x = self.layer(x)
        if self.act: self.act()
        return torch.special.erfcx(x)

def good(): return Net(), torch.ones(1, 3)
def hangs(): return Net(lambda: time.sleep(600)), torch.ones(1, 3)
def crashes(): return Net(lambda: __import__("ctypes").string_at(0)), torch.ones(1, 3)
def is_killed(): return Net(lambda: os.kill(os.getpid(), 9)), torch.ones(1, 3)
def allocates(): return Net(lambda: [bytearray(2**28) for _ in range(99)]), torch.ones(1, 3)
def raises(): raise ValueError("no such thing")
def slow(): return Net(lambda: (hides(), says(), time.sleep(2))), torch.ones(1, 3)
def says():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as begun: begun.sendto(b"x", "begun")
def hides():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            code = "import time; time.sleep(60)"
            os.execve(sys.executable, [sys.executable, "-c", code, os.getcwd()], {})
        os._exit(0)
    os.wait()
"""
MODELS = """
- nets.py:good
- {source: nets.py:good, name: trained, train: true}
- {source: nets.py:hangs, timeout: 2}
- nets.py:crashes
- nets.py:is_killed
- {source: nets.py:allocates, memory: 1.5}
- nets.py:raises
- gone.pt2
"""
COMMAND = (
    sys.executable, "-m", "opcheck", "fleet", "models.yaml", "-t", "ascend-910b", "--workers", "1",
)  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", package)
    Path("nets.py").write_text(NETS)


def told() -> dict[str, tuple[Ending, Verdict | None]]:
    """Each model of the last run: how its scan ended, and its verdict."""
    with Store(Path("opcheck-fleet.db")) as store:
        found = answers(store, runs(store)[-1].id)
    return {one.model: (one.ending, one.verdict) for one in found}


def counted(table: str) -> int:
    with Store(Path("opcheck-fleet.db")) as store:
        count: int = store.connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        return count


def gone(position: int) -> Job:
    """A model that is no file, which is known without torch."""
    request = ScanRequest(ModelSpec(f"gone{position}.pt2"), (TargetSpec("ascend-910b"),))
    return Job(position, f"gone{position}", request, {"npu": ""})


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_every_job_is_done_once_and_then_the_workers_end(workers: int) -> None:
    before, begun = _workers(os.getpid()), list[Began]()
    found = list(Local(Setup(workers)).run(map(gone, range(5)), begun.append))
    assert sorted(done.position for done in found) == list(range(5))
    assert sorted(event.position for event in begun) == list(range(5))
    assert [done.outcome for done in sorted(found, key=lambda done: done.position)] == [
        Outcome(Ending.FAILED, f"gone{at}.pt2: no such file", "check the path of the model file")
        for at in range(5)
    ]
    assert len({done.worker for done in found}) <= workers
    assert _workers(os.getpid()) == before


@pytest.mark.slow
def test_as_many_workers_as_processors_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    setups: list[Setup] = []

    class Process(local._Process):
        def __init__(self, setup: Setup) -> None:
            setups.append(setup)
            super().__init__(setup)

    monkeypatch.setattr(local, "_Process", Process)
    monkeypatch.setattr(local, "processors", lambda: 3)
    assert len(list(Local(Setup()).run(map(gone, range(3)), lambda _: None))) == 3
    assert {setup.workers for setup in setups} == {3}


@pytest.mark.slow
def test_leaving_early_ends_the_workers() -> None:
    before = _workers(os.getpid())
    jobs = Local(Setup(2)).run(map(gone, range(5)), lambda _: None)
    next(jobs)
    jobs.close()  # type: ignore[attr-defined]  # a generator
    assert _workers(os.getpid()) == before


@imports_torch
def test_no_model_stops_another() -> None:
    Path("models.yaml").write_text(MODELS)
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert told() == {
        "nets.py:good": (Ending.SCANNED, Verdict.FALLBACK),
        "trained": (Ending.SCANNED, Verdict.FALLBACK),
        "nets.py:hangs": (Ending.TIMED_OUT, Verdict.UNKNOWN),
        "nets.py:crashes": (Ending.CRASHED, Verdict.UNKNOWN),
        "nets.py:is_killed": (Ending.CRASHED, Verdict.UNKNOWN),
        "nets.py:allocates": (Ending.OUT_OF_MEMORY, Verdict.UNKNOWN),
        "nets.py:raises": (Ending.FAILED, None),
        "gone.pt2": (Ending.FAILED, None),
    }
    lines = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert [line.partition("]")[0] for line in lines] == [f"[{n}/8" for n in range(1, 9)]
    again = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    assert [line.rpartition(" ")[2] for line in again.stderr.splitlines()] == ["known"] * 8


@pytest.fixture
def running() -> Iterator["subprocess.Popen[str]"]:
    """A run that has scanned one model and is at the next, which takes a while."""
    Path("models.yaml").write_text("- nets.py:good\n- nets.py:slow\n- gone.pt2\n")
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as begun,
        subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it,
    ):
        begun.bind("begun")
        begun.settimeout(90)
        begun.recv(1)
        yield it
        it.kill()
    deadline = time.monotonic() + 10
    while _hidden() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _hidden(), "what a model started lives on"


def _hidden() -> list[str]:
    """Processes that a model of this test started, whatever their parents and environment."""
    found, mark = [], os.fsencode(Path.cwd())
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes().split(b"\0")[-2:-1] == [mark]:
                found.append(path.parent.name)
    return found


def _workers(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for path in text for pid in path.read_text().split()]


def _below(parent: int) -> set[int]:
    found = {parent}
    for child in _workers(parent):
        found |= _below(child)
    return found


def _gone(pids: set[int]) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@imports_torch
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=str)
def test_a_run_that_is_ended_is_gone_on_with(
    running: "subprocess.Popen[str]", number: signal.Signals
) -> None:
    family = _below(running.pid)
    assert len(family) > 2
    os.kill(running.pid, number)
    assert running.wait() == (-9 if number is signal.SIGKILL else 130)
    assert _gone(family)
    assert told() == {"nets.py:good": (Ending.SCANNED, Verdict.FALLBACK)}
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    over = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert [line.split()[1] for line in over] == ["nets.py:slow", "gone.pt2"]
    assert counted("runs") == 1
    assert counted("models") == 3
    assert counted("results") == 2


@imports_torch
def test_a_worker_that_is_ended_loses_no_model(running: "subprocess.Popen[str]") -> None:
    (worker,) = _workers(running.pid)
    family = _below(worker)
    os.kill(worker, signal.SIGKILL)
    assert running.wait() == 0
    assert _gone(family)
    assert told() == {
        "nets.py:good": (Ending.SCANNED, Verdict.FALLBACK),
        "nets.py:slow": (Ending.SCANNED, Verdict.FALLBACK),
        "gone.pt2": (Ending.FAILED, None),
    }
    assert counted("models") == 3
