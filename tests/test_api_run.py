"""The library as a program uses it: ``opcheck.run``."""

from pathlib import Path

import pytest

import opcheck
from opcheck.errors import SourceError, UsageError
from opcheck.model.script import Ending, PartialRunError
from tests.in_time import in_time
from tests.notebooks import notebook

TRAIN = """\
import sys

import torch

model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(int(sys.argv[1])):
    model(torch.ones(3, 4, device="cuda")).sum().backward()
    optimizer.step()
print("done")
"""


@pytest.mark.slow
def test_a_script_is_run_as_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    lines: list[str] = []
    found = opcheck.run(path, ["2"], "ascend-910b", output=lines.append)
    assert (found.ending, found.steps, found.runs) == (Ending.RETURNED, 2, True)
    assert [line.strip() for line in lines] == ["done"]
    assert opcheck.run(str(path), ["9"], steps=1).ending is Ending.ENOUGH
    failed = opcheck.run(path, ["x"])
    path.write_text("import os\n\nassert os.environ['WORLD_SIZE'] == '4'\n")
    assert opcheck.run(path, ranks=4).ending is Ending.RETURNED
    assert (failed.ending, failed.runs) == (Ending.FAILED, None)
    assert failed.emulation.error.startswith("ValueError: invalid literal")


@pytest.mark.slow
def test_a_script_is_compared_with_a_run_on_the_cpu(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    lines: list[str] = []
    found = opcheck.run(path, ["2"], compare=True, output=lines.append)
    assert found.emulation.values
    assert found.comparison is not None
    assert (found.comparison.compared, found.comparison.partings) == (8, ())
    assert [line.strip() for line in lines] == ["done"]


@pytest.mark.slow
def test_fixes_are_looked_for_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\ntorch.special.i0(torch.ones(4, device='cuda'))\n")
    assert opcheck.run(path).plan is None
    plan = opcheck.run(path, plan=True).plan
    assert plan is not None
    assert [way.rule for one in plan.findings for way in one.suggestions] == ["i0-by-series"]
    assert plan.summary.tiers[0].operators == ("aten::i0.out",)


@pytest.mark.slow
def test_a_notebook_is_run_as_well(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "import torch", "torch.ones(2).cuda().bfloat16()")
    found = opcheck.run(path, target="ascend-910a")
    assert found.runs is False
    assert found.emulation.refusals[0].sites[0].file.endswith("a.ipynb#In[2]")


@pytest.mark.slow
def test_what_takes_too_long_raises_with_what_was_seen(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\nx = torch.ones(2).cuda() + 1\nwhile True: ...\n")

    def check(seconds: float) -> None:
        with pytest.raises(PartialRunError) as caught:
            opcheck.run(path, timeout=seconds)
        assert (caught.value.run.ending, caught.value.run.used) == (Ending.CUT, True)

    in_time(check, 5.0)


def test_what_cannot_be_run_is_refused_at_once() -> None:
    with pytest.raises(SourceError, match=r"cannot read nowhere\.py: No such file"):
        opcheck.run("nowhere.py")
    with pytest.raises(UsageError, match="unknown target"):
        opcheck.run("nowhere.py", target="nobody")
    with pytest.raises(UsageError, match="not a target"):
        opcheck.run("nowhere.py", target="not a target?")
    with pytest.raises(UsageError, match="not one of none, fake: 'real'"):
        opcheck.run("nowhere.py", data="real")
    with pytest.raises(UsageError, match="not a number above zero: 0"):
        opcheck.run("nowhere.py", steps=0)
