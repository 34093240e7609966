"""A model whose process ends too early: one error, a report until then, and nothing left behind."""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from opcheck.app.main import run as opcheck
from opcheck.commands.emulate.answer import emulate
from opcheck.commands.gate.answer import gate
from opcheck.commands.gate.values import GateRequest, PartialGateError
from opcheck.commands.scan.answer import scan
from opcheck.errors import EmulationError, ExitCode, OpcheckError
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import to_json
from opcheck.model.emulation import (
    EmulationRequest,
    Event,
    Happened,
    PartialEmulationError,
    Refusal,
    Site,
)
from opcheck.model.report import KernelCount, PartialReportError, Reason
from opcheck.model.request import ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.model.work import CutShortError, DeviceWork, Recorded, WorkRequest
from opcheck.sandbox.parent.recovered import left_off, read_journal
from opcheck.sandbox.parent.run import run
from opcheck.views.document.report import from_json, report_document
from tests.in_time import in_time
from tests.views.emulations import EMULATIONS

NET = """
import ctypes, os, signal, sys, threading, time
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.act = act

    def forward(self, x):
        x = self.layer(x).relu()
        self.act()
        return x.sigmoid()

def crashes(): ctypes.string_at(0)
def ends(): os._exit(0)
def leaves(): sys.exit(0)
def interrupts(): raise KeyboardInterrupt
def aborts(): os.abort()
def is_alarmed(): signal.setitimer(signal.ITIMER_REAL, 0.1); time.sleep(60)
def ends_by_a_nameless_signal(): os.kill(os.getpid(), 40)
def allocates():
    kept = []
    while True: kept.append(bytearray(50_000_000))
def recurses():
    class Endless:
        def __repr__(self): return repr(self)
    sys.setrecursionlimit(10**9)
    repr(Endless())
def ignores_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    while True: time.sleep(0.1)
def closes_everything(): os.closerange(0, 200)
def forks():
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    time.sleep(60)
def leaves_a_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(60)
        os._exit(0)
    os.wait()
    os._exit(7)
def hides():
    # of its own session, without environment, whose parents have all ended
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)"], {})
        os._exit(0)
    os.wait()
    os._exit(8)

def closes_its_output(): os.close(1); os.close(2)
def prints(): print("x" * 10_000_000)
def starts_threads():
    for _ in range(4): threading.Thread(target=time.sleep, args=(60,)).start()

class Twice(Net):
    def forward(self, x):
        if "mlu" in str(x.device): self.act()
        return super().forward(x)

def net(act): return Net(act), torch.ones(1, 3)
"""

ENDS = {
    "crashes": "was ended by SIGSEGV",
    "ends": "ended the process with exit code 0",
    "leaves": "ends the process (SystemExit(0))",
    "interrupts": "ends the process",
    "aborts": "was ended by SIGABRT",
    "is_alarmed": "was ended by SIGALRM",
    "ends_by_a_nameless_signal": "was ended by signal 40",
    "allocates": "needs more memory than the 2.0 GiB that it may use",
    "recurses": "was ended by SIGSEGV",
    "ignores_signals": "no answer within",
    "closes_everything": "",
    "forks": "started more than 128 processes",
    "leaves_a_daemon": "ended the process with exit code 7",
    "hides": "ended the process with exit code 8",
}
RUNS = ("closes_its_output", "prints", "starts_threads")

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc are Linux's")
slow = pytest.mark.slow


@pytest.fixture
def act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.chdir(tmp_path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    names = "".join(f"def with_{n}(): return net({n})\n" for n in (*ENDS, *RUNS))
    Path("net.py").write_text(NET + names)
    return lambda name: f"net.py:with_{name}"


def cut(source: str, seconds: float = 60.0, **options: Any) -> PartialReportError:
    target = TargetSpec.parse("ascend-910b")
    request = ScanRequest(ModelSpec(source, timeout=seconds, memory=2.0, **options), (target,))
    with pytest.raises(PartialReportError) as caught:
        scan(request)
    return caught.value


def allowed(name: str, check: Callable[[float], None]) -> None:
    """Have a check hold in the time that an act may take: what never ends takes all of it."""
    if name == "ignores_signals":
        in_time(check)
    else:
        check(60.0)


def left() -> list[int]:
    """Processes that work in this test's folder beside the test itself."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            folder = Path(f"/proc/{name}/cwd").readlink()
        except OSError:
            continue
        if folder == Path.cwd() and int(name) != os.getpid():
            found.append(int(name))
    return found


@slow
@linux
@pytest.mark.parametrize("name", ENDS)
def test_what_was_traced_until_then_is_reported(act: Callable[[str], str], name: str) -> None:
    def check(seconds: float) -> None:
        error = cut(act(name), seconds)
        (gap,) = error.report.trace.gaps
        (target,) = error.report.targets
        assert ENDS[name] in error.message
        assert error.exit_code == ExitCode.MODEL
        assert gap.reason.startswith("the run ended here: ")
        assert gap.where.startswith("net.py:")
        assert [found.op for found in target.findings] == ["aten::linear", "aten::relu"]
        assert (target.summary.runs, error.report.trace.ended) == (None, gap)
        assert from_json(json.dumps(report_document(error.report))) == error.report
        assert (left(), os.listdir(tempfile.gettempdir())) == ([], [])

    allowed(name, check)


@slow
@linux
@pytest.mark.usefixtures("workers_are_started")
@pytest.mark.parametrize("name", ["crashes", "leaves_a_daemon"])
def test_nothing_is_left_of_a_worker_that_was_no_copy(act: Callable[[str], str], name: str) -> None:
    assert ENDS[name] in cut(act(name)).message
    assert (left(), os.listdir(tempfile.gettempdir())) == ([], [])


@slow
@linux
@pytest.mark.parametrize("name", RUNS)
def test_what_does_no_harm_is_no_error(act: Callable[[str], str], name: str) -> None:
    (result,) = run(WorkRequest(ModelSpec(act(name), timeout=60.0), ((DeviceWork("npu"),),)))
    assert (result.trace.calls, result.trace.gaps) == (3, ())
    assert (left(), os.listdir(tempfile.gettempdir())) == ([], [])


@slow
@linux
def test_the_command_writes_the_report_and_fails(
    act: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = opcheck(["scan", act("ends"), "--target", "ascend-910b"])
    written = capsys.readouterr()
    assert code == ExitCode.MODEL
    assert written.out.startswith("Partial: the run ended at net.py:")
    assert written.err.startswith("opcheck: error: the model's code ended the process")


@slow
@linux
@pytest.mark.parametrize(
    ("command", "begins"),
    [
        ("plan", "Partial: the run ended at net.py:"),
        ("gate", "Partial: the run ended at net.py:"),
        ("emulate", "✘ ended early: net.py:with_ends on an emulated ascend-910b"),
    ],
)
def test_other_commands_write_what_they_know_and_fail(
    act: Callable[[str], str], capsys: pytest.CaptureFixture[str], command: str, begins: str
) -> None:
    code = opcheck([command, act("ends"), "--target", "ascend-910b"])
    written = capsys.readouterr()
    assert code == ExitCode.MODEL
    assert written.out.startswith(begins)
    assert written.err.startswith("opcheck: error: the model's code ended the process")


@slow
@linux
@pytest.mark.parametrize("name", ["crashes", "ends", "ignores_signals"])
def test_what_an_emulated_device_was_asked_for_until_then_is_told(
    act: Callable[[str], str], name: str
) -> None:
    target = TargetSpec.parse("ascend-910b")

    def check(seconds: float) -> None:
        with pytest.raises(PartialEmulationError) as caught:
            emulate(EmulationRequest(ModelSpec(act(name), timeout=seconds, memory=2.0), target))
        found = caught.value.emulation
        assert ENDS[name] in found.error
        assert (found.finished, found.runs, found.model.source) == (False, False, act(name))
        assert {"aten::addmm", "aten::relu"} <= {kernel.op for kernel in found.kernels}
        assert "aten::sigmoid" not in {kernel.op for kernel in found.kernels}
        if name != "ends":  # of which nothing could tell where it stood
            assert found.error_site is not None
            assert found.error_site.file == "net.py"
        assert (left(), os.listdir(tempfile.gettempdir())) == ([], [])

    allowed(name, check)


@slow
@linux
def test_a_gate_passes_nothing_that_was_not_seen_to_its_end(act: Callable[[str], str]) -> None:
    Path("opcheck.yaml").write_text("allow-unknown: true\n")
    request = GateRequest(ScanRequest(ModelSpec(act("ends")), (TargetSpec.parse("ascend-910b"),)))
    with pytest.raises(PartialGateError) as caught:
        gate(request)
    (target,) = caught.value.result.targets
    assert (target.passed, caught.value.result.passed) == (True, False)
    assert caught.value.result.ended is not None


def test_an_emulated_run_is_added_up_from_what_of_its_journal_can_be_believed(
    tmp_path: Path,
) -> None:
    begun = replace(EMULATIONS["clean"], kernels=(), islands=0)
    site = Site("layer", "net.py", 7)
    reason = Reason("no-kernel", "no kernel")
    events = (
        Event(Happened.ASKED, "aten::mm"),
        Event(Happened.STAYED),
        Event(Happened.LACKED, "aten::foo"),
        Event(Happened.REFUSED, "aten::foo", Phase.FORWARD, reason, "RuntimeError: no", site=site),
        Event(Happened.ASKED, "aten::mm"),
        Event(Happened.STAYED),
    )
    journal = tmp_path / "0.jsonl"
    lines = [json.dumps(to_json(value)) for value in (begun, *events)]
    journal.write_text("\n".join((*lines, '{"Event": ["asked", "aten::mm", "no')))
    error = left_off(EmulationError(Sentence("it ended")), "net.py:9", journal)
    assert isinstance(error, PartialEmulationError)
    found = error.emulation
    assert (found.error, found.error_site) == ("it ended", Site("", "net.py", 9))
    assert found.refusals == (
        Refusal("aten::foo", reason, "RuntimeError: no", 1, Phase.FORWARD, (site,), (1,)),
    )
    assert found.kernels == (
        KernelCount("aten::foo", Verdict.UNSUPPORTED, 1, Phase.FORWARD),
        KernelCount("aten::mm", Verdict.NATIVE, 2, Phase.FORWARD),
    )
    assert found.islands == 1
    plain = EmulationError(Sentence("it ended"))
    for content in ("", "{", "[" * 100_000, lines[0], "\n".join(lines[1:])):
        journal.write_text(content)
        assert left_off(plain, "", journal) is plain
    assert left_off(plain, "", tmp_path / "none", unused=True) is plain
    stepped = (Event(Happened.STEPPED), Event(Happened.CALLED), Event(Happened.CALLED))
    journal.write_text("\n".join(json.dumps(to_json(value)) for value in (begun, *stepped)))
    assert left_off(plain, "", journal) is plain
    error = left_off(plain, "", journal, unused=True)
    assert isinstance(error, PartialEmulationError)
    assert (error.steps, error.forwards, error.emulation.kernels) == (1, 2, ())


@slow
@linux
def test_the_phases_until_then_are_reported(act: Callable[[str], str]) -> None:
    error = cut(act("ends"), step=TrainingSpec())
    findings = error.report.targets[0].findings
    assert {"aten::addmm", "aten::relu"} <= {finding.op for finding in findings}
    assert {finding.phase for finding in findings} == {Phase.FORWARD}
    assert error.report.trace.mode == "train"


@slow
@linux
def test_targets_that_were_not_come_to_are_unknown(act: Callable[[str], str]) -> None:
    targets = tuple(map(TargetSpec.parse, ("ascend-910b", "cambricon-mlu370", "intel-max")))
    with pytest.raises(PartialReportError) as caught:
        scan(ScanRequest(ModelSpec(act("ends"), timeout=60.0), targets))
    reports = caught.value.report.targets
    assert [report.target.partition("@")[0] for report in reports] == [
        str(target).partition("@")[0] for target in targets
    ]
    assert {report.summary.runs for report in reports} == {None}
    assert any(report.findings for report in reports)


@slow
def test_an_end_before_anything_was_traced_is_an_error_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("early.py").write_text("import os\ndef model(): os._exit(3)\n")
    with pytest.raises(OpcheckError) as caught:
        run(WorkRequest(ModelSpec("early.py:model"), ((DeviceWork("npu"),),)))
    assert not isinstance(caught.value, CutShortError)


@slow
def test_a_journal_that_was_tampered_with_is_not_believed(
    act: Callable[[str], str], tmp_path: Path
) -> None:
    (result,) = run(
        WorkRequest(ModelSpec(act("starts_threads"), timeout=60.0), ((DeviceWork("npu"),),))
    )
    trace = result.trace
    begun = replace(result, trace=replace(trace, nodes=(), uses=(), sequence=()))
    part = Recorded(trace.nodes, trace.uses, trace.sequence, trace.gaps)
    whole = "\n".join(json.dumps(to_json(value)) for value in (begun, part))
    odd = {
        "nothing": "",
        "no JSON": "{",
        "nested": "[" * 100_000,
        "another value": json.dumps({"Trace": []}),
        "points nowhere": whole.replace('"Use": [0', '"Use": [99', 1),
    }
    journal = tmp_path / "0.jsonl"
    journal.write_text(whole)
    assert read_journal(journal) == result
    for content in odd.values():
        journal.write_text(content)
        assert read_journal(journal) is None
    journal.write_text(f"{whole}\nhalf a li")
    assert read_journal(journal) is not None
