"""Workers that are copies of one process: each is what it would be had it loaded PyTorch itself."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opcheck.model.emulation import EmulationRequest
from opcheck.model.request import ModelSpec
from opcheck.model.target import TargetSpec
from opcheck.model.work import DeviceWork, WorkRequest, WorkResult
from opcheck.sandbox.parent.preloaded import (
    Template,
    _started,
    current,
    loaded_anew,
    loaded_once,
)
from opcheck.sandbox.parent.process import environment
from opcheck.sandbox.parent.run import emulate, run
from opcheck.sandbox.parent.work import Work

pytestmark = [
    pytest.mark.slow,  # some tests start a process that imports torch
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are not copied"),
]

NET = """
import os, sys, time
from pathlib import Path
import torch

def told():
    print("leads", os.getsid(0) == os.getpid() == os.getpgid(0))
    print("files", len(os.listdir("/proc/self/fd")))
    print("folder", os.getcwd())
    print("main", Path(sys.argv[0]).name, Path(sys.modules["__main__"].__file__).name)
    print("path", [p for p in sys.path if p in ("", os.getcwd())])
    print("said", os.environ.get("SAID"))
    print("columns", os.environ.get("COLUMNS"))
    print("offline", os.environ["HF_HUB_OFFLINE"])
    print("threads", torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS"))
    return torch.nn.Linear(3, 4)

class Sums(torch.nn.Module):
    def forward(self, x):
        y = torch.addmm(x, x, x)
        print("compiler", "torch._dynamo" in sys.modules)
        return y

def sums(): return Sums(), torch.ones(2, 2)

def hangs():
    while True: time.sleep(0.1)
"""
ASKED = WorkRequest(ModelSpec("net.py:told"), ((DeviceWork("npu"),),))


@pytest.fixture(autouse=True)
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET)


def heard() -> dict[str, str]:
    """What a worker says of itself."""
    said: list[str] = []
    run(ASKED, output=said.append)
    return {name: rest for name, _, rest in (line.partition(" ") for line in said)}


def test_a_copy_is_as_a_worker_that_was_started() -> None:
    copied = heard()
    with loaded_anew():
        started = heard()
    assert copied == started
    assert copied["leads"] == "True"


def test_a_worker_has_the_environment_of_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "SAID"):  # one that PyTorch does not read, and one that it may
        before = heard()
        monkeypatch.setenv(name, "77")
        assert heard() == {**before, name.lower(): "77"}


def test_two_environments_have_a_process_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the user's code and files have, of which a fleet has both."""
    heard()
    first = _process()
    monkeypatch.setenv("SAID", "7")
    for _ in range(2):  # for what is asked for once, none is started
        heard()
    second = _process()
    monkeypatch.delenv("SAID")
    heard()
    assert _process() is first is not second
    assert (first.poll(), second.poll()) == (None, None)


def test_copies_that_compute_have_the_threads_that_the_user_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = EmulationRequest(ModelSpec("net.py:told"), TargetSpec("ascend-910b"), values=True)
    most = len(os.sched_getaffinity(0))
    for given, threads in (("2", f"{min(2, most)} 2"), (None, f"{most} None")):
        if given is None:
            monkeypatch.delenv("OMP_NUM_THREADS")
        else:
            monkeypatch.setenv("OMP_NUM_THREADS", given)
        said: list[str] = []
        emulate(asked, output=said.append)
        assert f"threads {threads}" in said
        assert heard()["threads"] == "1 1"


def test_one_process_is_copied_until_it_ends() -> None:
    with loaded_anew(), loaded_once():
        found = heard()
        process = _process()
        assert (heard(), _process(), process.poll()) == (found, process, None)
    assert process.poll() == 0


def test_a_copy_leaves_the_compiler_out() -> None:
    """Shapes of ``addmm`` would load it, and the collector sees nothing of what a copy shares."""
    said: list[str] = []
    request = WorkRequest(ModelSpec("net.py:sums"), ((DeviceWork("npu"),), (DeviceWork("mlu"),)))
    with loaded_anew(), loaded_once():
        run(request, output=said.append)
    assert set(said) == {"compiler False"}


def test_without_the_process_a_worker_loads_pytorch_itself() -> None:
    found = heard()
    _process().kill()
    _process().wait()
    assert heard() == found


def test_inside_another_there_is_only_one() -> None:
    outer = current()
    with loaded_once():
        assert current() is outer
    assert current() is outer is not None


def test_a_copy_that_is_killed_is_told() -> None:
    with Work(WorkRequest(ModelSpec("net.py:hangs"), ((DeviceWork("npu"),),)), WorkResult) as work:
        os.kill(work._process.popen.pid, signal.SIGKILL)
        assert work._process.popen.wait() == -signal.SIGKILL


def test_all_end_with_the_process_that_asked() -> None:
    script = (
        "from opcheck.sandbox.parent.run import run\n"
        "from opcheck.sandbox.parent.preloaded import loaded_once\n"
        "from opcheck.model.request import ModelSpec\n"
        "from opcheck.model.work import DeviceWork, WorkRequest\n"
        "with loaded_once():\n"
        "    run(WorkRequest(ModelSpec('net.py:hangs'), ((DeviceWork('npu'),),)), progress=print)\n"
    )
    command = [sys.executable, "-u", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "loading net.py:hangs\n"
        started = _below(parent.pid)
        assert len(started) == 3  # the one to copy, the worker, and what waits for that
        parent.kill()
    limit = time.monotonic() + 60
    while any(map(_runs, started)) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not any(map(_runs, started))


def test_one_that_still_loads_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    slow = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)\n"
    (tmp_path / "loads_slowly.py").write_text(slow)
    found = {**environment(ASKED), "PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}"}
    process, requests = _started(found, ("loads_slowly",))
    limit = time.monotonic() + 120
    while not begun.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    requests.close()  # as the system does for a process that is killed
    assert process.wait(60) == 0


def test_what_waits_for_a_copy_ends_without_a_word_once_nobody_reads_it() -> None:
    """An exception would have all of PyTorch taken apart first, which takes most of a second."""
    script = (
        "import os\n"
        "from opcheck.sandbox.child.preloaded import _keep\n"
        "request, (reader, told) = os.memfd_create('request'), os.pipe()\n"
        "os.close(reader)\n"
        "_keep((request, told))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=False, timeout=60)
    assert ended.returncode == 0


def test_another_temporary_folder_needs_no_other_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, process = heard(), _process()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert (heard(), _process()) == (found, process)


def test_a_process_that_has_confined_itself_can_end_its_copies(tmp_path: Path) -> None:
    script = (
        "import os\n"
        "from opcheck.model.limits import Filter, Profile\n"
        "from opcheck.model.request import ModelSpec\n"
        "from opcheck.model.work import DeviceWork, WorkRequest, WorkResult\n"
        "from opcheck.sandbox.limits.confine import confine\n"
        "from opcheck.sandbox.parent.preloaded import current, loaded_once\n"
        "from opcheck.sandbox.parent.process import environment\n"
        "from opcheck.sandbox.parent.work import Work\n"
        "asked = WorkRequest(ModelSpec('net.py:hangs'), ((DeviceWork('npu'),),))\n"
        "with loaded_once():\n"
        "    current().load(environment(asked))\n"
        f"    confine(Profile({str(tmp_path)!r}, filter=Filter(programs=True)))\n"
        "    with Work(asked, WorkResult) as work:\n"
        "        copy = work._process.popen\n"
        "    print(type(copy).__name__, copy.wait())\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == (f"Copy {-signal.SIGKILL}\n", "")


def test_libraries_that_write_when_they_are_imported_write_nothing_of_the_users(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    template = Template(("ultralytics", "matplotlib"))
    template.load({**environment(ASKED), "HOME": str(home)})
    template.close()
    assert list(home.iterdir()) == []


def _process() -> "subprocess.Popen[bytes]":
    """What is copied now."""
    template = current()
    assert template is not None
    *_, (process, _) = template._running.values()
    return process


def _below(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [found for child in map(int, children) for found in (child, *_below(child))]


def _runs(pid: int) -> bool:
    """Whether it has not ended, though nothing may have waited for it yet."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
