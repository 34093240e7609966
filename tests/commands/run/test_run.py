"""Scripts that run as they stand: from the file to the answer."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opcheck.commands.run import answer
from opcheck.errors import ExitCode, SourceError, TerminatedError, UsageError
from opcheck.model.plan import Tier
from opcheck.model.request import ModelSpec
from opcheck.model.script import (
    Ending,
    PartialRunError,
    ScriptRequest,
    ScriptRun,
    ScriptSpec,
    Write,
)
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Phase
from opcheck.pipeline.script_report import report_of_script
from opcheck.views.formats import command_view
from tests.app.stand_in import outcome
from tests.in_time import in_time

TRAIN = """\
import sys

import torch
from torch import nn

assert __name__ == "__main__"
device = "cuda:0" if torch.cuda.is_available() else "cpu"
torch.cuda.set_device(device)
model = nn.Sequential(nn.Linear(128, 128), nn.Dropout(0.1), nn.Linear(128, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.amp.GradScaler("cuda")
for step in range(int(sys.argv[1])):
    with torch.autocast("cuda", torch.float16):
        loss = model(torch.randn(8, 128, device=device)).square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
print("done", file=sys.stderr)
"""
OLD = "ascend-910a"
"""It has no bfloat16."""
REFUSED = """\
import torch

x = torch.ones(4, device="cuda")
try:
    x.to(torch.bfloat16)
except RuntimeError:
    print("caught")
print(x.sum())
"""


def request(script: ScriptSpec, target: str = "ascend-910b", **given: Any) -> ScriptRequest:
    limits = {name: given.pop(name) for name in ("timeout",) if name in given}
    return ScriptRequest(
        script, ModelSpec(script.name, **limits), TargetSpec.parse(target), **given
    )


def ran(folder: Path, text: str, *argv: str, **given: Any) -> ScriptRun:
    (folder / "train.py").write_text(text)
    return answer.run(request(ScriptSpec("train.py", argv=argv), **given))


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["ascend-910b", "cambricon-mlu590", "moorethreads-s5000"])
def test_a_training_script_for_cuda_is_trained_on_the_device(tmp_path: Path, target: str) -> None:
    found = ran(tmp_path, TRAIN, "2", target=target)
    assert (found.ending, found.steps, found.forwards) == (Ending.RETURNED, 2, 2)
    assert found.used
    asked = {kernel.phase for kernel in found.emulation.kernels}
    assert asked == {Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER}
    assert found.emulation.mode == "train"
    assert any(note.startswith("names a CUDA device") for note in found.emulation.notes)


PLUGIN = """\
import importlib.util
import os

import torch

try:
    import torch_mlu
except ImportError:
    torch_mlu = None
assert importlib.util.find_spec("torch_mlu") and torch_mlu.mlu.is_available()
assert os.environ["NEUWARE_HOME"] == "/usr/local/neuware"
many = [[torch.ones(4, device="mlu")] for _ in range(4)]
flag = torch.zeros(1, dtype=torch.int32, device="mlu")
assert torch.ops.torch_mlu.fused_adam(flag, *many, 0.1, 0.9, 0.99, 1e-8, 1, 1, 1, 0.0) is False
open("kept.txt", "w").close()
"""


@pytest.mark.slow
def test_the_target_s_own_plugin_and_toolkit_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # empty: what is read is kept
    found = ran(tmp_path, PLUGIN, target="cambricon-mlu590")
    assert found.ending is Ending.RETURNED, found.emulation.error
    assert "torch_mlu::fused_adam" in {kernel.op for kernel in found.emulation.kernels}
    assert found.runs
    assert [write.path for write in found.writes] == ["kept.txt"]


@pytest.mark.slow
def test_the_peak_of_memory_is_that_of_the_whole_run(tmp_path: Path) -> None:
    """A script may begin to count anew, and may be cut off."""
    text = """\
import torch

x = torch.ones(2**20, device="cuda")
y = x + 1
del x, y
torch.cuda.reset_peak_memory_stats()
torch.ones(4, device="cuda").neg_()
"""
    assert ran(tmp_path, text).emulation.memory_peak == 2**23
    with pytest.raises(PartialRunError) as raised:
        ran(tmp_path, f"{text}import os\nos._exit(1)\n")
    assert raised.value.run.emulation.memory_peak == 2**23


@pytest.mark.slow
def test_what_a_script_asks_for_is_what_a_scan_of_its_step_says(tmp_path: Path) -> None:
    """A scan traces a step, the device is asked for one: the optimizer's kernels are the same."""
    from opcheck.commands.scan import answer as scan_answer
    from opcheck.model.request import ScanRequest, TrainingSpec

    found = ran(tmp_path, TRAIN, "1")
    (tmp_path / "net.py").write_text(
        "from torch import nn, randn\n\n\ndef net():\n    return nn.Sequential(nn.Linear(128, 128),"
        " nn.Dropout(0.1), nn.Linear(128, 4)), randn(8, 128)\n"
    )
    step = TrainingSpec.parse(["scaler=true", "autocast=float16"])
    report = scan_answer.scan(
        ScanRequest(ModelSpec("net.py:net", step=step), (TargetSpec("ascend-910b"),))
    )
    kernels = report.targets[0].kernels
    assert kernels is not None
    steps = [one.op for one in kernels if one.phase is Phase.OPTIMIZER]
    names = {op for op in steps if op.startswith("aten::_foreach_")}
    assert len(names) > 4
    assert names <= {one.op for one in found.emulation.kernels if one.phase is Phase.OPTIMIZER}


COMPILED = """\
import torch
from torch import nn

net = torch.compile(nn.Sequential(nn.Linear(4, 4)).cuda())
net(torch.randn(2, 4, device='cuda')).sum().backward()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "runs", "code"),
    [
        ("ascend-910b@26.1.0+torch2.7", None, "compile-backend-not-proven"),
        ("ascend-910b@6.0.0", False, "compile-backend-missing"),
    ],
)
def test_what_is_compiled_is_no_plain_runs(
    tmp_path: Path, target: str, runs: bool | None, code: str
) -> None:
    found = ran(tmp_path, COMPILED, target=target)
    emulation = found.emulation
    assert (found.runs, emulation.gaps) == (runs, ())
    told = [(each.op, each.reason.code) for each in emulation.cautions]
    told += [(each.op, each.reason.code) for each in emulation.refusals]
    assert [of for op, of in told if op == "torch::compile"] == [code]


@pytest.mark.slow
def test_a_plan_tells_what_helps_where_code_cannot_be_compiled(tmp_path: Path) -> None:
    found = ran(tmp_path, COMPILED, target="ascend-910b@6.0.0", plan=True)
    (target,) = report_of_script(found).targets
    ways = {each.op: [way.rule for way in each.suggestions] for each in target.findings}
    assert ways["torch::compile"][0] == "compile-disabled"
    assert target.plan is not None
    assert [after.runs for after in target.plan.tiers if after.tier <= Tier.COMPAT] == [False, True]


@pytest.mark.slow
def test_a_script_is_ended_after_the_steps_that_were_asked_for(tmp_path: Path) -> None:
    found = ran(tmp_path, TRAIN, "1000000", steps=2)
    assert (found.ending, found.steps, found.runs) == (Ending.ENOUGH, 2, True)
    swallowing = "import torch\nm = torch.nn.Linear(2, 2).cuda()\nwhile True:\n    try:\n        "
    found = ran(tmp_path, swallowing + "m(torch.ones(2).cuda())\n    except Exception: ...\n",
                forwards=3)  # fmt: skip
    assert (found.ending, found.forwards) == (Ending.ENOUGH, 3)


@pytest.mark.slow
def test_a_script_that_never_uses_the_device_is_told_of(tmp_path: Path) -> None:
    found = ran(tmp_path, "import torch\nprint(torch.ones(2) + 1)\n")
    assert (found.ending, found.used, found.runs) == (Ending.RETURNED, False, None)
    (tmp_path / "cpu.py").write_text("import torch\ntorch.ones(2)\n")
    done = outcome(["run", "-t", "ascend-910b", "cpu.py"])
    assert done.exit_code == ExitCode.MODEL
    assert done.stdout.startswith("? never used the device: cpu.py on an emulated ascend-910b@")
    found = ran(tmp_path, TRAIN.replace("torch.cuda.set_device(device)", ""), "1", as_cuda=False)
    assert not found.used


@pytest.mark.slow
def test_a_script_s_own_failure_is_not_the_device_s(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef f(x):\n    return x @ torch.ones(5, device='cuda')\n\n\n"
    found = ran(tmp_path, text + "f(torch.ones(3, 4, device='cuda'))\n")
    assert (found.ending, found.status, found.runs) == (Ending.FAILED, 1, None)
    frames = [(frame.file, frame.line, frame.function) for frame in found.frames]
    assert frames == [("train.py", 8, "<module>"), ("train.py", 5, "f")]
    assert found.frames[-1].source == "return x @ torch.ones(5, device='cuda')"
    assert found.emulation.refusals == ()
    found = ran(tmp_path, "import sys\nsys.exit(7)\n")
    assert (found.ending, found.status) == (Ending.EXITED, 7)
    assert ran(tmp_path, "import sys\nsys.exit()\n").ending is Ending.RETURNED


@pytest.mark.slow
def test_a_traceback_is_that_of_the_script_alone(tmp_path: Path) -> None:
    """What opcheck met and answered in torch's own words is no part of it; the script's own is."""
    (tmp_path / "train.py").write_text(
        "import torch\n\ntorch.nn.Linear(3, 4).cuda()(torch.ones(2, 5, device='cuda'))\n"
    )
    said: list[str] = []
    answer.run(request(ScriptSpec("train.py")), output=said.append)
    own = [line for line in said if "torch/nn" not in line and not line.startswith("    ")]
    assert own == [
        "Traceback (most recent call last):",
        '  File "train.py", line 3, in <module>',
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)",
    ]
    (tmp_path / "train.py").write_text(
        "try:\n    {}['missing']\nexcept KeyError:\n    raise ValueError('no')\n"
    )
    said.clear()
    answer.run(request(ScriptSpec("train.py")), output=said.append)
    assert [line for line in said if line and not line.startswith("    ")] == [
        "Traceback (most recent call last):",
        '  File "train.py", line 2, in <module>',
        "KeyError: 'missing'",
        "During handling of the above exception, another exception occurred:",
        "Traceback (most recent call last):",
        '  File "train.py", line 4, in <module>',
        "ValueError: no",
    ]


@pytest.mark.slow
def test_a_warning_of_torch_stands_at_the_script_s_line(tmp_path: Path) -> None:
    """C++ gives it at the innermost line of Python, which is opcheck's."""
    (tmp_path / "train.py").write_text(
        "import warnings\nimport torch\n\nx = torch.ones(2, device='cuda', requires_grad=True)\n"
        "float(x.sum())\nwarnings.warn('mine')\n"
    )
    said: list[str] = []
    answer.run(request(ScriptSpec("train.py")), output=said.append)
    told = [line.partition("Warning: ")[0] for line in said if "Warning: " in line]
    assert told == ["train.py:5: User", "train.py:6: User"]


@pytest.mark.slow
def test_input_reads_the_end_of_a_file_and_a_note_names_the_line(tmp_path: Path) -> None:
    found = ran(tmp_path, "try:\n    input()\nexcept EOFError: ...\ninput('really? ')\n")
    assert (found.ending, found.emulation.error) == (
        Ending.FAILED, "EOFError: EOF when reading a line",
    )  # fmt: skip
    asked = [note for note in found.emulation.notes if note.startswith("asks for input at")]
    assert asked == [
        f"asks for input at train.py:{line}, and reads the end of a file: nobody can answer here"
        for line in (2, 4)
    ]


@pytest.mark.slow
def test_an_option_of_this_command_that_the_script_was_given_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--lr', type=float)\nparser.parse_args()\n"
    )

    def notes(*argv: str) -> list[str]:
        done = outcome(["run", "-t", "ascend-910b", "--format", "json", "train.py", *argv])
        assert done.exit_code == ExitCode.MODEL
        found = json.loads(done.stdout)
        assert (found["ending"], found["status"]) == ("exited", 2)
        every: list[str] = found["emulation"]["notes"]
        return [note for note in every if note.startswith("the script does not know")]

    assert notes("--lr", "1", "--steps=2", "--epochs", "3", "--plan") == [
        "the script does not know --steps, --plan, which opcheck run does: its own options stand "
        "before the script"
    ]
    assert notes("--epochs", "3") == []
    assert notes("--lr", "fast", "--steps", "2") == []


@pytest.mark.slow
def test_what_is_not_emulated_is_no_failure_of_the_script_s(tmp_path: Path) -> None:
    found = ran(tmp_path, "import torch\n\ntorch.eye(3).cuda().to_sparse()\n")
    assert (found.ending, found.status, found.runs) == (Ending.NOT_EMULATED, 1, None)
    assert [(frame.file, frame.line) for frame in found.frames] == [("train.py", 3)]
    assert found.emulation.error.endswith("nested tensor, which is not emulated")


@pytest.mark.slow
def test_what_the_device_refuses_is_told_with_its_line(tmp_path: Path) -> None:
    found = ran(tmp_path, REFUSED, target=OLD)
    (refused,) = found.emulation.refusals
    assert found.runs is False
    assert [(site.file, site.line) for site in refused.sites] == [("train.py", 5)]
    assert found.caught == ()
    stopped = ran(tmp_path, REFUSED, target=OLD, stop=True)
    assert [(site.file, site.line) for site in stopped.caught] == [("train.py", 5)]
    assert (stopped.ending, stopped.runs) == (Ending.RETURNED, False)
    uncaught = ran(
        tmp_path, REFUSED.replace("except RuntimeError", "except KeyError"), target=OLD, stop=True
    )
    assert (uncaught.ending, uncaught.caught) == (Ending.REFUSED, ())
    done = outcome(["run", "--stop", "-t", OLD, "train.py"])
    assert done.exit_code == ExitCode.GATE


IN_MODULES = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        if x.shape[0] > 2:
            raise ValueError("too many")
        return torch.special.i0(self.fc(x))


model = nn.Sequential(Block(), Block()).cuda()
model(torch.ones(2, 4, device="cuda"))
torch.special.i0(torch.ones(2, 4, device="cuda"))
model(torch.ones(3, 4, device="cuda"))
"""


@pytest.mark.slow
def test_a_call_is_told_with_the_module_that_makes_it(tmp_path: Path) -> None:
    found = ran(tmp_path, IN_MODULES)
    (calls,) = found.emulation.host_calls
    assert [(site.module, site.line) for site in calls.sites] == [("", 18), ("Sequential.*", 13)]
    error = found.emulation.error_site
    assert error is not None
    assert (error.module, error.line) == ("Sequential.*", 12)


@pytest.mark.slow
def test_a_plan_has_a_fix_for_what_the_device_does_not_take(tmp_path: Path) -> None:
    text = "import torch\ntorch.set_default_dtype(torch.float64)\n"
    text += "x = torch.ones(4, dtype=torch.float32, requires_grad=True, device='cuda')\n"
    found = ran(tmp_path, text + "torch.special.i0(x).sum().backward()\n", plan=True)
    assert found.plan is not None
    fixes = {one.op: [way.rule for way in one.suggestions] for one in found.plan.findings}
    assert fixes["aten::i0.out"] == ["i0-by-series"]
    assert fixes["aten::special_i1.out"] == ["i1-by-series"]
    (target,) = report_of_script(found).targets
    (told,) = [one for one in target.findings if one.op == "aten::i0.out"]
    (way,) = told.suggestions
    assert (way.rule, [told.uses[i].line for i in way.places]) == ("i0-by-series", [4])
    assert way.measured is not None
    assert way.unmeasured == "its gradients were not compared"
    page = command_view("run", "text").render(found)
    assert "    fix       i0-by-series" in page
    assert "\n  2 findings need a fix, each has one\n" in page
    assert target.plan is not None
    brought = {after.tier: after.operators for after in target.plan.tiers}
    assert brought[Tier.SWAP] == ("aten::i0.out", "aten::special_i1.out")
    assert "  1     native swap " in page
    assert json.loads(command_view("run", "json").render(found))["planned"] is True


WRITES = """\
import os
import pathlib
import sqlite3
import subprocess
import tempfile

import torch

os.makedirs("out", exist_ok=True)
torch.save({"w": torch.ones(4, device="cuda")}, "out/w.pt")
assert torch.load("out/w.pt", map_location="cuda")["w"].shape == (4,)
pathlib.Path("kept.txt").write_text("changed")
os.remove("taken.txt")
assert not os.path.exists("taken.txt")
with sqlite3.connect("log.db") as log:
    log.execute("create table t (x)")
subprocess.run(["sh", "-c", "echo x > by_program.txt"], check=True)
assert os.path.exists("by_program.txt")
with tempfile.NamedTemporaryFile() as file:
    file.write(b"x")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="overlays are Linux's")
def test_a_script_sees_what_it_writes_and_nobody_else_does(tmp_path: Path) -> None:
    for name in ("kept.txt", "taken.txt"):
        (tmp_path / name).write_text(name)
    found = ran(tmp_path, WRITES)
    if "this system has no mount namespaces" in " ".join(found.emulation.notes):
        pytest.skip("this system allows no overlays")
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
    assert [item.path for item in found.writes] == [
        "by_program.txt", "kept.txt", "log.db", "out/w.pt", "taken.txt",
    ]  # fmt: skip
    assert found.writes[1] == Write("kept.txt", len("changed"))
    assert found.writes[-1].nbytes is None
    assert sorted(os.listdir()) == ["kept.txt", "taken.txt", "train.py"]
    assert Path("kept.txt").read_text() == "kept.txt"
    through = ran(tmp_path, WRITES, write=True)
    assert (through.ending, through.writes) == (Ending.RETURNED, ())
    assert Path("kept.txt").read_text() == "changed"
    assert not Path("taken.txt").exists()


@pytest.mark.slow
def test_where_there_are_no_overlays_python_writes_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers_are_started: None
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    hook = "import opcheck.sandbox.limits.overlay as overlay\noverlay.mount = lambda *_: ()\n"
    (site / "sitecustomize.py").write_text(hook)
    monkeypatch.setenv("PYTHONPATH", f"{site}{os.pathsep}{Path(__file__).parents[3]}")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for name in ("kept.txt", "taken.txt"):
        (work / name).write_text(name)
    lines = [line for line in WRITES.splitlines(keepends=True) if "by_program" not in line]
    found = ran(work, "".join(lines))
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
    assert [(item.path, item.nbytes is None) for item in found.writes] == [
        ("kept.txt", False), ("log.db", False), ("out/w.pt", False), ("taken.txt", True),
    ]  # fmt: skip
    assert any("no mount namespaces" in note for note in found.emulation.notes)
    assert sorted(os.listdir()) == ["kept.txt", "taken.txt", "train.py"]
    assert Path("kept.txt").read_text() == "kept.txt"


@pytest.mark.slow
def test_in_other_folders_writes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers_are_started: None
) -> None:
    monkeypatch.setattr("opcheck.sandbox.parent.limits.top_of", lambda *_: ())
    found = ran(tmp_path, "import torch\ntorch.ones(2).cuda()\nopen('x', 'w')\n")
    assert (found.ending, os.listdir()) == (Ending.FAILED, ["train.py"])
    assert found.emulation.error.startswith("WriteRefusedError: ")
    assert "train.py:3 writes to x, which was refused" in found.emulation.notes


@pytest.mark.slow
def test_a_module_and_a_launcher_find_what_they_would(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "train.py").write_text(
        "import os\nimport sys\n\nimport torch\nimport torch.distributed as dist\n\n"
        "from . import __name__ as name\n\nassert name == 'pkg' and sys.argv[1:] == ['a']\n"
        "dist.init_process_group('nccl')\n"
        "assert (dist.get_rank(), dist.get_world_size()) == (0, 4)\n"
        "x = torch.ones(2).cuda(int(os.environ['LOCAL_RANK']))\ndist.all_reduce(x)\n"
    )
    words = ["torchrun", "--nproc-per-node", "4", "-m", "pkg.train", "a"]
    found = answer.run(request(ScriptSpec.parse(words)))
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
    assert "c10d::allreduce_" in {kernel.op for kernel in found.emulation.kernels}


@pytest.mark.slow
def test_a_script_that_takes_too_long_leaves_what_was_seen(tmp_path: Path) -> None:
    def check(seconds: float) -> None:
        with pytest.raises(PartialRunError) as caught:
            ran(tmp_path, text + "while True: ...\n", timeout=seconds)
        run = caught.value.run
        assert (run.ending, run.used) == (Ending.CUT, True)
        assert "aten::add.Tensor" in {kernel.op for kernel in run.emulation.kernels}

    text = "import torch\nx = torch.ones(2).cuda() + 1\n"
    in_time(check, 5.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "used", "why"),
    [
        (signal.SIGINT, True, "interrupted while running on an emulated ascend-910b@"),
        (signal.SIGTERM, True, "interrupted by SIGTERM while running on an emulated ascend-910b@"),
        (signal.SIGTERM, False, "interrupted by SIGTERM while running on an emulated ascend-910b@"),
    ],
)
def test_an_interrupt_leaves_what_was_seen(
    tmp_path: Path, sent: signal.Signals, used: bool, why: str
) -> None:
    """Schedulers of jobs send SIGTERM, and a script may not have come to the device by then."""
    (tmp_path / "train.py").write_text(
        "import torch\nmodel = torch.nn.Linear(2, 2)\n"
        "torch.optim.SGD(model.parameters()).step()\nmodel(torch.ones(2))\n"
        f"x = torch.ones(2){'.cuda()' * used} + 1\nprint('ready', flush=True)\nwhile True: ...\n"
    )
    command = [sys.executable, "-m", "opcheck", "run", "-t", "ascend-910b", "--format", "json"]
    with subprocess.Popen(
        [*command, "train.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        said = [process.stderr.readline()]
        while "ready" not in said[-1]:
            assert process.poll() is None, said
            said.append(process.stderr.readline())
        process.send_signal(sent)
        out, _ = process.communicate(timeout=60)
    found = json.loads(out)
    assert process.returncode == ExitCode.MODEL
    assert (found["ending"], found["used"], found["runs"]) == ("cut", used, None)
    assert (found["steps"], found["forwards"]) == (1, 1)
    assert found["emulation"]["error"]["text"].startswith(why)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop", "why"),
    [
        (TerminatedError(128 + signal.SIGTERM), "interrupted by SIGTERM while running on "),
        (KeyboardInterrupt(), "interrupted while running on "),
    ],
)
def test_an_end_by_a_signal_is_told_where_this_process_handles_it(
    tmp_path: Path, stop: BaseException, why: str
) -> None:
    (tmp_path / "train.py").write_text("print('ready', flush=True)\nwhile True: ...\n")

    def end(line: str) -> None:
        raise stop

    with pytest.raises(PartialRunError, match=f"^{why}") as it:
        answer.run(request(ScriptSpec("train.py")), output=end)
    page = command_view("run", "text").render(it.value.run)
    assert page.startswith("? ended early, before it used the device: train.py")


def test_what_cannot_be_run_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"cannot read nowhere\.py: No such file"):
        answer.run(request(ScriptSpec("nowhere.py")))
    with pytest.raises(UsageError):
        answer.run(request(ScriptSpec("train.py"), target="nobody"))
    done = outcome(["run", "-t", "ascend-910b"])
    assert done.exit_code == ExitCode.USAGE
    assert "Missing argument" in done.stderr
    done = outcome(["run", "-t", "ascend-910b", "--steps", "0", "train.py"])
    assert done.exit_code == ExitCode.USAGE
    assert "not a number above zero: '0'" in done.stderr
