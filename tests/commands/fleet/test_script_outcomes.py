"""What comes of a script on a target: of a run made by hand, and of real ones by both engines."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.app.main import run as command
from opcheck.commands.fleet.answers.queries import (
    query_of,
)
from opcheck.commands.fleet.answers.report import report_of_model
from opcheck.commands.fleet.scripts import script_outcome
from opcheck.commands.fleet.values import Ending, Job, Outcome
from opcheck.commands.run import answer
from opcheck.errors import EmulationError, ExitCode, Stop, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Caution, Emulation, HostCalls, Refusal, Site
from opcheck.model.report import SCRIPT, KernelCount, ModelInfo, Reason
from opcheck.model.script import Basis, PartialRunError, ScriptRequest, ScriptRun, ScriptSpec
from opcheck.model.script import Ending as Ended
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from tests.commands.fleet.made import script_on, target

A = target("ascend-910b@26.1.0+torch2.12")
STORE = Path("fleet.db")
PACKAGE = str(Path(__file__).parents[3])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", PACKAGE)


SITE = Site("Net.layer", "train.py", 7)
WHY = Reason("no-kernel", Sentence("{vendor} has none for {op}", vendor="ascend", op="aten::sort"))
SHAPE = Reason("rank", Sentence("{argument} is {actual}", argument="dims", actual="9"))


def ran(ending: Ended = Ended.RETURNED, **of_device: object) -> ScriptRun:
    """A run on the first target, on which two overloads were called."""
    kernels = (
        KernelCount("aten::mm", Verdict.NATIVE, 4, Phase.FORWARD),
        KernelCount("aten::sort", Verdict.UNSUPPORTED, 2, Phase.FORWARD),
    )
    emulation = Emulation(
        opcheck_version="0.1.0", torch_version="2.13.0", target=A.target,
        database_digest=A.database_digest, model=ModelInfo("train.py", SCRIPT, "feed"),
        mode="inference", values=False, finished=ending is Ended.RETURNED, error="",
        error_site=None, refusals=(), host_calls=(), cautions=(), islands=1, kernels=kernels,
    )  # fmt: skip
    return ScriptRun(
        ScriptSpec("train.py"), replace(emulation, **of_device), ending,
        basis=Basis("npu"), files={"helper.py": "beef"},
    )  # fmt: skip


def outcome(monkeypatch: pytest.MonkeyPatch, found: ScriptRun | Exception) -> Outcome:
    """What is made of a run, or of an error."""

    def run(request: ScriptRequest, *, beside: int) -> ScriptRun:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(answer, "run", run)
    entry = script_on(A)
    assert entry.script is not None
    job = Job(0, "nano", entry.request, {"npu": ""}, (), entry.script)
    return script_outcome(job, entry.script, beside=1)


def test_what_is_in_the_way_of_a_script_is_told_as_of_a_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusal = Refusal("aten::sort", WHY, "RuntimeError: no", 1, Phase.FORWARD, (SITE,))
    again = replace(refusal, phase=Phase.BACKWARD)
    left = HostCalls("aten::mm", SHAPE, 3, 64, Phase.FORWARD, (SITE,))
    nobody = Caution("aten::mm", SHAPE, 1, Phase.FORWARD, (), Verdict.UNKNOWN)
    found = outcome(
        monkeypatch, ran(refusals=(refusal, again), host_calls=(left,), cautions=(nobody,))
    )
    (one,) = found.targets
    assert (found.ending, found.kind, found.calls, found.operators) == (
        Ending.SCANNED, SCRIPT, 6, 2,
    )  # fmt: skip
    assert (one.verdict, one.runs, one.support_rate) == (Verdict.UNSUPPORTED, False, 0.0)
    told = [(b.op, b.cause, b.code, b.verdict, b.text, b.calls, b.file) for b in one.blockers]
    assert told == [
        ("aten::sort", "kernel", "no-kernel", Verdict.UNSUPPORTED,
         "ascend has none for aten::sort", 2, "train.py"),
        ("aten::mm", "unknown", "rank", Verdict.UNKNOWN, "dims is …", 1, ""),
        ("aten::mm", "condition", "rank", Verdict.FALLBACK, "dims is …", 3, "train.py"),
    ]  # fmt: skip
    assert found.files == {"helper.py": "beef"}


def test_a_script_that_failed_or_never_used_the_device_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    idle = outcome(monkeypatch, ran(kernels=()))
    assert (idle.ending, idle.reason, idle.targets) == (
        Ending.FAILED, "never used the device", (),
    )  # fmt: skip
    assert idle.hint == "see it alone: opcheck run -t TARGET train.py"
    site = Site("", "train.py", 3)
    bad = outcome(monkeypatch, ran(Ended.FAILED, error="ValueError: no", error_site=site))
    assert (bad.ending, bad.reason, bad.targets) == (
        Ending.FAILED, "the script failed: ValueError: no (at train.py:3)", (),
    )  # fmt: skip
    refusal = Refusal("aten::sort", WHY, "RuntimeError: no", 1, Phase.FORWARD, (SITE,))
    both = outcome(monkeypatch, ran(Ended.FAILED, error="ValueError: no", refusals=(refusal,)))
    assert (both.ending, [one.runs for one in both.targets]) == (Ending.FAILED, [False])


@pytest.mark.parametrize(
    ("stop", "ending"),
    [
        (Stop.TIME, Ending.TIMED_OUT),
        (Stop.MEMORY, Ending.OUT_OF_MEMORY),
        (Stop.KILLED, Ending.CRASHED),
        (None, Ending.FAILED),
    ],
)
def test_a_limit_that_ends_a_script_is_its_ending(
    stop: Stop | None, ending: Ending, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = EmulationError(Sentence("it ended"), Sentence("do so"))
    error.stop = stop
    found = outcome(monkeypatch, PartialRunError(error, ran(Ended.CUT)))
    assert (found.ending, found.reason, found.hint, found.targets) == (
        ending, "it ended", "do so", (),
    )  # fmt: skip
    before = outcome(monkeypatch, error)
    assert (before.ending, before.reason, before.traces) == (ending, "it ended", ())


TRAIN = """
import os, sys, torch
from helper import Net

device = "cpu" if "--cpu" in sys.argv else "cuda"
net = Net().to(device)
optimizer = torch.optim.AdamW(net.parameters())
for step in range(5):
    x = torch.randn(8, 16, device=device)
    net(x).square().mean().backward()
    optimizer.step()
    if "--bad" in sys.argv and x.device.type == "musa":
        raise ValueError("no such thing")
"""
HELPER = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        return torch.special.erfcx(self.layer(x))
"""
SCRIPTS = """
defaults: {steps: 2}
models:
- {script: train.py, name: good}
- {script: train.py --bad, name: bad}
- {script: train.py --cpu, name: idle}
"""
COMMAND = ["fleet", "models.yaml", "-t", "ascend-910b", "-t", "moorethreads-s4000", "-q",
           "--store", "fleet.db", "--workers", "1"]  # fmt: skip


def written() -> None:
    for name, content in (("train.py", TRAIN), ("helper.py", HELPER), ("models.yaml", SCRIPTS)):
        Path(name).write_text(content)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the local engine has run the scripts."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setenv("PYTHONPATH", PACKAGE)
        written()
        assert command(COMMAND) == ExitCode.PASS
    return folder


@pytest.mark.slow
def test_real_scripts_are_answered_by_the_local_engine(
    alone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(alone, ".", dirs_exist_ok=True)
    told = [(one.model, one.ending, one.verdict, one.reason) for one in query_of(STORE).answers]
    never = ("idle", Ending.FAILED, None, "never used the device")
    assert told == [
        ("good", Ending.SCANNED, Verdict.FALLBACK, ""),
        ("good", Ending.SCANNED, Verdict.NATIVE, ""),
        ("bad", Ending.SCANNED, Verdict.FALLBACK, ""),
        ("bad", Ending.FAILED, None,
         "the script failed: ValueError: no such thing (at train.py:13)"),
        never, never,
    ]  # fmt: skip
    capsys.readouterr()
    report = report_of_model(STORE, "good").report
    assert [one.summary.runs for one in report.targets] == [True, True]
    assert report.model.source == "train.py"
    assert command(["fleet", "report", "fleet.db", "good", "-t", "ascend*"]) == ExitCode.PASS
    assert "aten::special_erfcx.out" in capsys.readouterr().out
    with pytest.raises(UsageError, match="idle has no report: never used the device"):
        report_of_model(STORE, "idle")
    before = os.stat("fleet.db").st_size
    Path("helper.py").write_text(HELPER.replace("erfcx", "expm1"))
    assert command(COMMAND) == ExitCode.PASS
    assert os.stat("fleet.db").st_size > before
    assert query_of(STORE).answers[0].verdict is Verdict.NATIVE


@pytest.mark.slow
def test_a_cluster_gives_the_answers_of_the_local_engine(alone: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    from tests.commands.fleet.cluster import small_cluster

    written()
    with small_cluster(1) as cluster:
        engine = ["--engine", "ray", "--address", cluster.address]
        assert command([*COMMAND, *engine]) == ExitCode.PASS
    assert query_of(STORE).answers == query_of(alone / STORE).answers
