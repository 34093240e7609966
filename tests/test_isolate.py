"""Whatever the user's code does to its process, the caller gets a result or one clear error."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from opcheck.errors import EmulationError, OpcheckError, SourceError, UsageError
from opcheck.model.emulation import EmulationRequest, PartialEmulationError
from opcheck.model.jobs import Job
from opcheck.model.request import ModelSpec, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.model.work import CutShortError, DeviceWork, WorkRequest, WorkResult
from opcheck.sandbox.parent.process import environment, total_memory
from opcheck.sandbox.parent.run import check, emulate, run
from opcheck.sandbox.parent.work import Work
from tests.in_time import in_time

pytestmark = pytest.mark.slow  # some tests start a process that imports torch

NET = """
import os, sys, time
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
        return x

def hangs():
    while True: time.sleep(0.1)

def allocates():
    kept = []
    while True: kept.append(bytearray(50_000_000))

def leaves(): sys.exit(3)
def ends(): os._exit(0)
def crashes(): __import__("ctypes").string_at(0)
def is_killed(): os.kill(os.getpid(), 9)
def forks():
    if os.fork() == 0: time.sleep(60)
    os._exit(1)
def fails(): raise ValueError("no such thing")
def asks(): input()
def good(): return Net()
def speaks():
    print("printed")
    print("warned", file=sys.stderr)
    os.write(1, b'{"result": {}}\\n')
    return Net()
def compiles():
    torch.arange(12.0, device="meta").add(1)
    def tell(): print("compiler", "torch._dynamo" in sys.modules)
    tell()
    return Net(tell)
def floods():
    for _ in range(5000): os.write(1, b"x" * 4096)
    return Net()
def hangs_later(): return Net(hangs), torch.ones(1, 3)
def allocates_later(): return Net(allocates), torch.ones(1, 3)
def raises(): raise KeyError("lost")
def raises_later(): return Net(raises), torch.ones(1, 3)
def large(): torch.ones(2**30)
def large_later(): return Net(large), torch.ones(1, 3)
def crashes_late():
    time.sleep(max(0, float(os.environ["CRASH_AT"]) - time.monotonic()))
    crashes()
def leaves_later(): return Net(leaves), torch.ones(1, 3)
"""


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(NET.splitlines(), 1) if text in line)


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET)
    return "net.py"


@pytest.fixture(params=["copied", "started"])
def either(request: pytest.FixtureRequest) -> None:
    """A worker that is a copy, and one that loads PyTorch itself."""
    if request.param == "started":
        request.getfixturevalue("workers_are_started")


def request(source: str, **options: Any) -> WorkRequest:
    return WorkRequest(ModelSpec(source, **options), ((DeviceWork("npu"),),))


def failure(source: str, **limits: Any) -> OpcheckError:
    with pytest.raises(OpcheckError) as caught:
        run(request(source, **limits))
    return caught.value


def test_a_model_is_loaded_and_traced(net: str) -> None:
    said: list[str] = []
    (result,) = run(request(f"{net}:good"), progress=said.append)
    assert (result.kind, result.trace.device_type) == ("python", "npu")
    assert [str(result.trace.nodes[use.node].op) for use in result.trace.uses] == ["aten::linear"]
    assert result.notes == ("no inputs given: 1x3:float32, as layer (Linear) wants",)
    assert said[:2] == ["loading net.py:good", "tracing"]


def test_the_users_inputs_arrive(net: str) -> None:
    (result,) = run(request(f"{net}:good", inputs=("x=7x3",)))
    (_, first), *_ = result.trace.nodes[result.trace.uses[0].node].tensors()
    assert first.shape == (7, 3)


@pytest.mark.usefixtures("either")
def test_what_the_model_prints_is_no_message(net: str) -> None:
    said: list[str] = []
    (result,) = run(request(f"{net}:speaks"), output=said.append)
    assert result.trace.calls == 1
    assert sorted(said) == ["printed", "warned", '{"result": {}}']


@pytest.mark.usefixtures("workers_are_started")
def test_the_compiler_is_not_loaded(net: str) -> None:
    said: list[str] = []
    run(request(f"{net}:compiles"), output=said.append)
    assert set(said) == {"compiler False"}


def test_a_line_without_an_end_is_heard_in_pieces(net: str) -> None:
    said: list[str] = []
    run(request(f"{net}:floods"), output=said.append)
    assert sum(map(len, said)) == 5000 * 4096
    assert max(map(len, said)) <= 4096


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("fails", SourceError,
         "fails() of net.py raised ValueError: no such thing (at net.py:{fails})"),
        ("asks", SourceError,
         "asks() of net.py raised EOFError: EOF when reading a line (at net.py:{asks})"),
        ("leaves", SourceError,
         "leaves() of net.py ends the process: SystemExit(3) (at net.py:{leaves})"),
        ("ends", SourceError,
         "the model's code ended the process with exit code 0 while loading net.py:ends"),
        ("forks", SourceError,
         "the model's code ended the process with exit code 1 while loading net.py:forks"),
        ("crashes", SourceError, "the model's process was ended by SIGSEGV while loading "
         "net.py:crashes (at net.py:{crashes})"),
        ("is_killed", SourceError,
         "the model's process was ended by SIGKILL while loading net.py:is_killed"),
        ("leaves_later", CutShortError,
         "the model's code ends the process (SystemExit(3)) while recording the operators"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("either")
def test_what_the_code_does_is_one_error(
    net: str, name: str, kind: type[OpcheckError], message: str
) -> None:
    error = failure(f"{net}:{name}")
    lines = {key: line_of(f"def {key}()") for key in ("fails", "asks", "leaves", "crashes")}
    assert (type(error), error.message) == (kind, message.format(**lines))
    assert error.hint


@pytest.mark.parametrize(
    ("name", "kind", "doing"),
    [
        ("hangs", SourceError, "loading net.py:hangs"),
        ("hangs_later", CutShortError, "recording the operators"),
    ],
)
def test_time_runs_out(net: str, name: str, kind: type[OpcheckError], doing: str) -> None:
    where = f"(at net.py:{line_of('time.sleep(0.1)')})"

    def check(seconds: float) -> None:
        started = time.monotonic()
        error = failure(f"{net}:{name}", timeout=seconds)
        message = f"no answer within {seconds:g} s while {doing} {where}"
        assert (type(error), error.message) == (kind, message)
        assert time.monotonic() - started < seconds + 4

    in_time(check)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits what is allocated")
@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(
    ("name", "kind", "doing"),
    [
        ("allocates", SourceError, "loading net.py:allocates"),
        ("allocates_later", CutShortError, "recording the operators"),
    ],
)
def test_memory_runs_out(net: str, name: str, kind: type[OpcheckError], doing: str) -> None:
    error = failure(f"{net}:{name}", memory=1)
    message = f"the model's code needs more memory than the 1.0 GiB that it may use while {doing}"
    assert (type(error), error.message) == (kind, message)
    assert "--memory" in error.hint


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows processes as files")
@pytest.mark.usefixtures("either")
def test_leaving_early_ends_the_process(net: str) -> None:
    with Work(request(f"{net}:hangs"), WorkResult) as work:
        process = Path(f"/proc/{work._process.popen.pid}")
        assert process.exists()
    assert not process.exists()


@pytest.mark.usefixtures("no_process")
def test_bad_requests_start_no_process(net: str) -> None:
    with pytest.raises(UsageError):
        check(request(f"{net}:good", inputs=("x=1,3",)))
    with pytest.raises(SourceError):
        run(request("absent.py:good"))
    with pytest.raises(UsageError):
        run(request("what"))


def test_the_parent_never_imports_torch(net: str) -> None:
    code = (
        "import sys\n"
        "from opcheck.sandbox.parent.run import run\n"
        "from opcheck.model.request import ModelSpec\n"
        "from opcheck.model.work import DeviceWork, WorkRequest\n"
        "(result,) = run(WorkRequest(ModelSpec(sys.argv[1]), ((DeviceWork('npu'),),)))\n"
        "calls = result.trace.calls\n"
        "print(calls, 'torch' in sys.modules)\n"
    )
    command = [sys.executable, "-c", code, f"{net}:good"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1 False\n", "")


def test_memory_of_the_machine_is_known() -> None:
    assert total_memory() > 2**28


ASKED = EmulationRequest(ModelSpec("net.py:good"), TargetSpec("ascend-910b"))


@pytest.mark.parametrize(
    ("asked", "threads"),
    [
        (request("net.py:good"), "1"),
        (ASKED, "1"),
        (replace(ASKED, model=replace(ASKED.model, step=TrainingSpec())), "1"),
        (replace(ASKED, values=True), "3"),
    ],
    ids=["scan", "shapes", "training", "values"],
)
def test_only_computing_takes_the_threads_that_the_user_gives(
    asked: WorkRequest | EmulationRequest, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert environment(asked)["OMP_NUM_THREADS"] == threads


def test_what_helps_when_memory_runs_out_depends_on_what_is_done() -> None:
    hints = [Job(a, 1, None, "").memory_hint for a in (ASKED, replace(ASKED, values=True))]
    assert hints == [
        "raise --memory, or do not load weights: they are not needed",
        "raise --memory, give smaller inputs, or leave --values out",
    ]


def test_a_model_runs_on_an_emulated_device(net: str) -> None:
    told: list[str] = []
    found = emulate(ASKED, progress=told.append)
    assert (found.model.source, found.mode, found.runs) == ("net.py:good", "inference", True)
    assert ("aten::addmm", 1) in [(kernel.op, kernel.count) for kernel in found.kernels]
    assert "no inputs given: 1x3:float32, as layer (Linear) wants" in found.notes
    assert told[0] == "loading net.py:good"
    assert told[1].startswith("running on an emulated ascend-910b@")


def test_what_ends_the_run_is_told_with_its_line(net: str) -> None:
    found = emulate(replace(ASKED, model=replace(ASKED.model, source="net.py:raises_later")))
    line = line_of('raise KeyError("lost")')
    assert not found.finished
    assert found.error == "KeyError: 'lost'"
    assert found.error_site is not None
    assert (found.error_site.file, found.error_site.line) == ("net.py", line)
    assert found.error_source == 'def raises(): raise KeyError("lost")'


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("fails", SourceError, "fails() of net.py raised ValueError: no such thing"),
        (
            "leaves_later",
            PartialEmulationError,
            "the model's code ends the process (SystemExit(3)) while",
        ),
        ("hangs_later", PartialEmulationError, "no answer within {seconds:g} s while"),
    ],
)
def test_what_the_code_does_to_an_emulation_is_one_error(
    net: str, name: str, kind: type[OpcheckError], message: str
) -> None:
    def check(seconds: float) -> None:
        with pytest.raises(OpcheckError) as caught:
            model = replace(ASKED.model, source=f"{net}:{name}", timeout=seconds)
            emulate(replace(ASKED, model=model))
        assert type(caught.value) is kind
        assert caught.value.message.startswith(message.format(seconds=seconds))
        assert caught.value.hint or name == "fails"

    in_time(check)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits what is allocated")
@pytest.mark.parametrize("values", [False, True])
def test_tensors_that_do_not_fit_are_told_as_such(net: str, values: bool) -> None:
    with pytest.raises(EmulationError, match=r"needs more memory than the 1\.0 GiB") as caught:
        emulate(
            replace(
                ASKED,
                values=values,
                model=replace(ASKED.model, source=f"{net}:large_later", memory=1.0),
            )
        )
    assert ("leave --values out" in caught.value.hint) is values


def test_a_crash_while_time_runs_out_is_told_as_that(
    net: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRASH_AT", str(time.monotonic() + 5.85))
    assert failure(f"{net}:crashes_late", timeout=6).message.startswith("no answer within 6 s")


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a process of its parent's end"
)
def test_a_worker_ends_with_the_one_that_started_it(net: str) -> None:
    script = (
        "from opcheck.sandbox.parent.run import run\n"
        "from opcheck.model.request import ModelSpec\n"
        "from opcheck.model.work import DeviceWork, WorkRequest\n"
        f"run(WorkRequest(ModelSpec({net + ':hangs'!r}), ((DeviceWork('npu'),),)))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=Path.cwd()) as parent:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        limit = time.monotonic() + 60
        while not children.read_text() and time.monotonic() < limit:
            time.sleep(0.05)
        (child,) = children.read_text().split()
        time.sleep(1)
        parent.kill()
    while Path(f"/proc/{child}").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


SLOW = """
import time
import torch

class Slow(torch.nn.Module):
    def forward(self, x):
        for _ in range(12):
            x = x + 1
            time.sleep(0.05)
        return x
"""


def test_how_many_calls_there_are_so_far_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    run(request("slow.py:Slow", inputs=("2x3",)), progress=told.append)
    counts = [re.fullmatch(r"recording the operators, (\d+) calls so far", text) for text in told]
    numbers = [int(found[1]) for found in counts if found]
    assert numbers
    assert numbers == sorted(set(numbers))
    assert 0 < numbers[0] <= numbers[-1] <= 12
