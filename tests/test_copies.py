"""A model is loaded once and its process copied; whatever a copy does is one clear error."""

import itertools
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from opcheck.errors import OpcheckError, TraceError
from opcheck.model.request import ModelSpec
from opcheck.model.work import DeviceWork, WorkRequest, WorkResult
from opcheck.sandbox.parent.run import run
from opcheck.sandbox.parent.work import Work
from tests.in_time import in_time

pytestmark = [
    pytest.mark.slow,  # each test starts a process that imports torch
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are not copied"),
]

NET = """
import os, random, socket, sys, threading, time
from pathlib import Path
import torch
from torch import nn

if os.path.exists("loads"):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log: log.sendto(b"x", "loads")
random.seed(7)

class Net(nn.Module):
    def __init__(self, on="", act=None):
        super().__init__()
        self.on, self.act = on, act

    def forward(self, x):
        if x.device.type == self.on: self.act()
        return {"mlu": x.cos, "musa": x.tan}.get(x.device.type, x.sin)()

def hangs():
    while True: time.sleep(0.1)

def allocates():
    kept = []
    while True: kept.append(bytearray(50_000_000))

def speaks():
    print(f"printed {os.getpid()}")
    print("warned", file=sys.stderr)

def speaks_and_crashes():
    speaks()
    sys.stdout.flush()
    crashes()

def leaves(): sys.exit(3)
def ends(): os._exit(0)
def crashes(): __import__("ctypes").string_at(0)
def is_killed(): os.kill(os.getpid(), 9)
def forks():
    if os.fork() == 0: time.sleep(60)
    os._exit(1)
def waits(): time.sleep(2)

class Random(nn.Module):
    def forward(self, x): return x * random.randrange(10**9)

def net(**options): return Net(**options), torch.ones(1, 3)
def good(): return net()
def rolls(): return Random(), torch.ones(1, 3)
def threaded():
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return net()
"""
ACTS = (
    *("hangs", "allocates", "speaks", "speaks_and_crashes", "waits"),
    *("leaves", "ends", "crashes", "is_killed", "forks"),
)
DEVICES = ("npu", "cuda", "mlu", "musa")


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    makers = "".join(
        f"def {act}_on_{device}(): return net(on='{device}', act={act})\n"
        for act in ACTS
        for device in DEVICES
    )
    Path("net.py").write_text(NET + makers)
    return "net.py"


@pytest.fixture
def loads(net: str) -> Iterator[Callable[[], int]]:
    """How often the file was run by now: each run sends a word to a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind("loads")
        log.setblocking(False)

        def count() -> int:
            for number in itertools.count():
                try:
                    log.recv(1)
                except BlockingIOError:
                    return number
            raise AssertionError

        yield count


def asked(source: str, **limits: Any) -> WorkRequest:
    """For all devices, of which one process can do the first two."""
    apart = tuple((DeviceWork(name),) for name in DEVICES[2:])
    return WorkRequest(
        ModelSpec(source, **limits), ((DeviceWork("npu"), DeviceWork("cuda")), *apart)
    )


def failure(source: str, **limits: Any) -> OpcheckError:
    with pytest.raises(OpcheckError) as caught:
        run(asked(source, **limits))
    return caught.value


def operators(results: tuple[WorkResult, ...]) -> list[tuple[str, str]]:
    return [(r.trace.device_type, str(r.trace.nodes[0].op)) for r in results]


TRACED = [
    ("npu", "aten::sin"),
    ("cuda", "aten::sin"),
    ("mlu", "aten::cos"),
    ("musa", "aten::tan"),
]


def test_a_model_is_loaded_once_and_traced_for_every_device(
    net: str, loads: Callable[[], int]
) -> None:
    results = run(asked(f"{net}:good"))
    assert operators(results) == TRACED
    assert loads() == 1


def test_where_a_thread_runs_the_model_is_loaded_again_for_another_vendor(
    net: str, loads: Callable[[], int]
) -> None:
    results = run(asked(f"{net}:threaded"))
    assert operators(results) == TRACED
    assert loads() == 3


def test_a_copy_traces_as_a_process_of_its_own_does(net: str) -> None:
    npu, _, mlu, musa = run(asked(f"{net}:rolls"))
    alone = [
        run(WorkRequest(ModelSpec(f"{net}:rolls"), ((DeviceWork(name),),)))[0]
        for name in ("npu", "mlu", "musa")
    ]
    assert [npu, mlu, musa] == alone


def test_only_the_first_copy_is_heard(net: str) -> None:
    for device, heard in (("musa", 2), ("mlu", 0)):
        said: list[str] = []
        run(asked(f"{net}:speaks_on_{device}"), output=said.append)
        assert len(said) == heard


def test_stages_are_told_as_they_come(net: str) -> None:
    told: list[tuple[str, float]] = []
    run(asked(f"{net}:waits_on_musa"), progress=lambda text: told.append((text, time.monotonic())))
    recording = [when for text, when in told if text == "recording the operators"]
    assert len(recording) == len(DEVICES)
    assert recording[1] - recording[0] > 1


@pytest.mark.parametrize("device", ["npu", "musa"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ends", "the model's code ended the process with exit code 0 while"),
        ("forks", "the model's code ended the process with exit code 1 while"),
        ("crashes", "the model's process was ended by SIGSEGV while"),
        ("is_killed", "the model's process was ended by SIGKILL while"),
        ("leaves", "the model's code ends the process (SystemExit(3)) while"),
    ],
)
def test_what_a_copy_does_is_one_error(net: str, name: str, message: str, device: str) -> None:
    error = failure(f"{net}:{name}_on_{device}")
    line = next(n for n, line in enumerate(NET.splitlines(), 1) if f"def {name}()" in line)
    where = f" (at net.py:{line})" if name == "crashes" else ""
    assert (isinstance(error, TraceError), error.message) == (
        True,
        f"{message} recording the operators{where}",
    )
    assert error.hint


@pytest.mark.parametrize("device", ["npu", "musa"])
def test_a_crash_comes_with_its_last_words(net: str, device: str) -> None:
    hint = failure(f"{net}:speaks_and_crashes_on_{device}").hint
    assert hint.startswith(("native code crashed; its last output: warned",
                            "native code crashed; its last output: printed"))  # fmt: skip


@pytest.mark.parametrize("device", ["npu", "cuda"])
def test_time_runs_out_in_a_copy(net: str, device: str) -> None:
    line = next(n for n, line in enumerate(NET.splitlines(), 1) if "while True: time" in line)

    def check(seconds: float) -> None:
        started = time.monotonic()
        error = failure(f"{net}:hangs_on_{device}", timeout=seconds)
        message = f"no answer within {seconds:g} s while recording the operators (at net.py:{line})"
        assert (isinstance(error, TraceError), error.message) == (True, message)
        assert time.monotonic() - started < seconds + 25

    in_time(check)


@pytest.mark.parametrize("device", ["npu", "mlu"])
def test_memory_runs_out_in_a_copy(net: str, device: str) -> None:
    error = failure(f"{net}:allocates_on_{device}", memory=1)
    message = (
        "the model's code needs more memory than the 1.0 GiB that it may use while "
        "recording the operators"
    )
    assert (isinstance(error, TraceError), error.message) == (True, message)
    assert "--memory" in error.hint


def test_nothing_is_left_of_copies(net: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(Path.cwd()))
    before = set(Path.cwd().iterdir())
    groups: list[int] = []

    def check(seconds: float) -> None:
        with (
            Work(asked(f"{net}:hangs_on_npu", timeout=seconds), WorkResult) as work,
            pytest.raises(TraceError),
        ):
            groups.append(work._process.popen.pid)
            work.results()

    in_time(check)
    group = groups[-1]
    deadline = time.monotonic() + 5
    while _members(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _members(group) == []
    assert {path.name for path in set(Path.cwd().iterdir()) - before} == set()


def _members(group: int) -> list[int]:
    """Processes of a group that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, its_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(its_group) == group and state != "Z" and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found
