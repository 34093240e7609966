"""Scripts whose numbers are compared with a run on the CPU: from the file to the answer."""

import json
from pathlib import Path

import pytest

from opcheck.commands.run import answer
from opcheck.errors import ExitCode
from opcheck.model.comparison import Comparison, Kind, Moment, Recast, Why
from opcheck.model.script import Ending, PartialRunError, ScriptRun, ScriptSpec
from tests.app.stand_in import outcome
from tests.commands.run.test_run import TRAIN, _in_a_project, ran, request
from tests.in_time import in_time

__all__ = ["_in_a_project"]

PROGRAMS = Path(__file__).parents[2] / "scripts" / "programs"

LOST = """\
import torch
from torch import nn


class Take(nn.Module):
    def forward(self, x):
        return x - 1e9


class Rest(nn.Module):
    def __init__(self):
        super().__init__()
        self.keep, self.take = nn.Identity(), Take()

    def forward(self, x):
        return {"rest": self.take(self.keep(x))}


torch.manual_seed(0)
linear = nn.Linear(4, 4).double().cuda()
linear(torch.ones(2, 4).double().cuda())
rest = Rest()
for step in range(2):
    found = rest(torch.full((3,), 1e9 + 0.5 * step, dtype=torch.float64).cuda())
"""
"""In float32, 1e9 + 0.5 is 1e9."""
NAMED = """\
import torch
from torch import nn

on_cpu = torch.cuda.get_device_name() == "CPU"


class Twist(nn.Module):
    def forward(self, x):
        return x + (0.25 if on_cpu else 0.5)


linear, twist = nn.Linear(4, 4).cuda(), Twist()
optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)
for step in range(3):
    x = linear(torch.randn(2, 4, device="cuda"))
    if step == 1:
        x = twist(x)
        x = x if on_cpu else nn.Identity()(x)
    x.sum().backward()
    optimizer.step()
"""
MADE_FIRST = """\
import torch
from torch import nn

torch.manual_seed(0)
net, x = nn.Linear(4, 4), torch.ones(2, 4).cuda()
optimizer = torch.optim.AdamW(net.parameters())
net.to("cuda")

net(x).sum().backward()
optimizer.step()
net(x)
"""
"""Plugins before torch 2.3 give such a module new parameters, which the optimizer knows not."""
DRAWN = """\
import random

import numpy
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.LSTM(8, 4, 2, dropout=0.5)).cuda()
torch.cuda.manual_seed(5)
own = torch.Generator("cuda").manual_seed(1)
for step in range(2):
    x = torch.randn(3, 4).cuda() + torch.rand(3, 4, device="cuda", generator=own)
    x = torch.bernoulli(torch.full_like(x, 0.5)) + x.uniform_() + random.random()
    out, _ = net(x * numpy.random.rand())
    q = torch.randn(1, 2, 3, 4, device="cuda", requires_grad=True)
    p = 0.3 * step
    out = nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=p).sum() + out.sum()
    out.backward()
    net[0](torch.randn(4, device="cuda"))
"""


def comparison(found: ScriptRun) -> Comparison:
    assert found.outputs is None
    assert found.emulation.values
    assert found.comparison is not None
    return found.comparison


@pytest.mark.slow
@pytest.mark.parametrize("target", ["ascend-910b", "cambricon-mlu590", "moorethreads-s5000"])
def test_a_training_step_in_half_precision_agrees(tmp_path: Path, target: str) -> None:
    lines: list[str] = []
    (tmp_path / "train.py").write_text(TRAIN)
    script = ScriptSpec("train.py", argv=("2",))
    found = answer.run(request(script, target, compare=True), output=lines.append)
    assert (found.ending, found.steps) == (Ending.RETURNED, 2)
    # of each step the output, the scaled loss and four parameters
    assert comparison(found) == Comparison(12, 0, 0, (), seeded=False)
    assert [line for line in lines if line == "done"] == ["done"]


@pytest.mark.slow
def test_numbers_that_the_device_s_float32_cannot_hold_part_where_they_are_lost(
    tmp_path: Path,
) -> None:
    found = comparison(ran(tmp_path, LOST, compare=True))
    (parting,) = found.partings
    assert (parting.why, parting.moment) == (Why.VALUES, Moment(Kind.OUTPUT, "Rest", 2))
    assert (parting.path, parting.file, parting.line) == (".rest", "train.py", 24)
    assert (parting.absolute, parting.relative) == (0.5, 1.0)
    (within,) = parting.within
    assert (within.moment.module, within.line, within.absolute) == ("Rest.take", 16, 0.5)
    assert parting.dtypes == ("float64", "float32")
    assert (found.compared, found.apart, found.seeded) == (3, 1, True)
    cast = ("float64", "float32")
    assert found.recast == Recast(Moment(Kind.OUTPUT, "Linear", 1), "", "train.py", 21, cast, 3)
    same = comparison(ran(tmp_path, LOST.replace("1e9", "1e3"), compare=True))
    assert (same.partings, same.recast) == ((), found.recast)


@pytest.mark.slow
def test_a_module_that_is_otherwise_on_the_device_is_where_the_runs_part(tmp_path: Path) -> None:
    found = comparison(ran(tmp_path, NAMED, compare=True))
    told = [(one.why, one.moment, one.line) for one in found.partings]
    assert told == [
        (Why.VALUES, Moment(Kind.OUTPUT, "Twist", 1), 17),
        (Why.DEVICE_ONLY, Moment(Kind.OUTPUT, "Identity", 1), 18),
        (Why.VALUES, Moment(Kind.LOSS, "", 2), 19),
    ]
    assert found.partings[0].absolute == pytest.approx(0.25)
    assert (found.compared, found.apart, found.alone) == (13, 2, 1)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["ascend-910b", "moorethreads-s5000"])
def test_both_runs_draw_the_same_random_numbers(tmp_path: Path, target: str) -> None:
    found = comparison(ran(tmp_path, DRAWN, target=target, compare=True))
    assert (found.partings, found.seeded) == ((), False)
    assert found.compared == 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "partings"),
    [
        ("cambricon-mlu590", []),
        ("cambricon-mlu590@r1.22_pt2.1.0", [(Why.CPU_ONLY, 10), (Why.VALUES, 11)]),
    ],
)
def test_an_optimizer_that_keeps_the_parameters_of_the_host_is_where_the_runs_part(
    tmp_path: Path, target: str, partings: list[tuple[Why, int]]
) -> None:
    found = comparison(ran(tmp_path, MADE_FIRST, target=target, compare=True))
    assert [(one.why, one.line) for one in found.partings] == partings


@pytest.mark.slow
def test_two_networks_against_each_other_agree(tmp_path: Path) -> None:
    text = (PROGRAMS / "gan.py").read_text()
    found = comparison(ran(tmp_path, text, "--niter", "1", compare=True))
    assert (found.compared > 10, found.partings) == (True, ())


@pytest.mark.slow
def test_what_the_run_on_the_cpu_writes_is_gone_and_what_this_one_writes_may_stay(
    tmp_path: Path,
) -> None:
    text = (
        "import pathlib, torch\npath = pathlib.Path('log')\n"
        "assert not path.exists()\npath.write_text(torch.cuda.get_device_name())\n"
        "torch.nn.Linear(1, 1).cuda()(torch.ones(1).cuda())\n"
    )
    found = ran(tmp_path, text, compare=True)
    assert (found.ending, comparison(found).compared) == (Ending.RETURNED, 1)
    assert [item.path for item in found.writes] == ["log"]
    assert not (tmp_path / "log").exists()
    assert ran(tmp_path, text, compare=True, write=True).ending is Ending.RETURNED
    assert (tmp_path / "log").read_text() == "Ascend 910B"


@pytest.mark.slow
def test_a_run_that_ends_early_is_compared_as_far_as_it_came(tmp_path: Path) -> None:
    text = (
        "import torch\nnet = torch.nn.Linear(1, 1).cuda()\nnet(torch.ones(1).cuda())\n"
        "assert (torch.cuda.get_device_name() == 'CPU') is {}, 'other'\nnet(torch.ones(1).cuda())\n"
    )
    on_device = comparison(ran(tmp_path, text.format("False"), compare=True))
    assert on_device == Comparison(
        1, 0, 1, (), seeded=False, cpu_error="AssertionError: other"
    )  # fmt: skip
    failed = ran(tmp_path, text.format("True"), compare=True)
    assert failed.ending is Ending.FAILED
    assert comparison(failed) == Comparison(1, 0, 1, (), seeded=False)


@pytest.mark.slow
def test_a_run_on_the_cpu_that_takes_too_long_leaves_the_device_s(tmp_path: Path) -> None:
    text = "import torch\nx = torch.ones(1).cuda() + 1\nwhile {}: ...\n"
    on_cpu = "torch.cuda.get_device_name() == 'CPU'"

    def check(seconds: float) -> None:
        found = ran(tmp_path, text.format(on_cpu), compare=True, timeout=seconds)
        assert found.ending is Ending.RETURNED
        assert comparison(found).cpu_error.startswith(f"no answer within {seconds:g} s")
        with pytest.raises(PartialRunError) as caught:
            ran(tmp_path, text.format(f"not ({on_cpu})"), compare=True, timeout=seconds)
        assert caught.value.run.comparison == Comparison(0, 0, 0, (), seeded=False)

    in_time(check, 5.0)


@pytest.mark.slow
def test_an_interrupt_of_the_run_on_the_cpu_ends_all(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(NAMED)
    heard: list[str] = []

    def interrupt(text: str) -> None:
        heard.append(text)
        if text == "computing on the host, to compare with":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer.run(request(ScriptSpec("train.py"), compare=True), progress=interrupt)
    assert heard == ["loading train.py", "computing on the host, to compare with"]


def test_shapes_alone_cannot_be_compared(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    done = outcome(["run", "-t", "ascend-910b", "--compare", "--shapes", "train.py"])
    assert done.exit_code == ExitCode.USAGE
    assert "--shapes computes nothing that --compare could compare" in done.stderr
    assert "leave --shapes out: --compare computes with values" in done.stderr


@pytest.mark.slow
def test_the_command_line_says_where_the_numbers_part(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOST)
    formats = ["--format", "text", "--format", "json=run.json"]
    done = outcome(["run", "-t", "ascend-910b", "--compare", *formats, "train.py"])
    assert done.exit_code == ExitCode.PASS
    assert "train.py:24 · rest of the output of Rest, call 2" in done.stdout
    document = json.loads((tmp_path / "run.json").read_text())
    assert document["comparison"]["partings"][0]["line"] == 24
    assert outcome(["gate", "run.json"]).exit_code in (ExitCode.PASS, ExitCode.GATE)
    assert outcome(["convert", "--format", "csv", "run.json"]).exit_code == ExitCode.PASS
