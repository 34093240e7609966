"""Notebooks that run as they stand."""

import os
from pathlib import Path

import pytest

from opcheck.commands.run import answer
from opcheck.errors import ExitCode, SourceError
from opcheck.model.script import Ending, ScriptSpec
from tests.app.stand_in import outcome
from tests.commands.run.test_run import request
from tests.notebooks import notebook

CELLS = (
    "%matplotlib inline\nimport sys\n\nimport torch\n\nimport helper\n\n"
    "assert sys.argv[1:2] == ['-f']",
    "model = torch.nn.Linear(8, 2).cuda()\noptimizer = torch.optim.AdamW(model.parameters())\n"
    "assert __name__ == '__main__' and sys.modules['__main__'].model is model",
    "async def step():\n    model(torch.ones(4, 8, device='cuda')).sum().backward()\n"
    "    optimizer.step()\n\nawait step()",
    "%%time\nfor _ in range(2):\n    %time await step()",
    "import os\nassert os.path.exists('helper.py')\nhelper.lowered(torch.ones(2, device='cuda'))",
)


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nb").mkdir()
    (tmp_path / "nb" / "helper.py").write_text(
        "import torch\n\n\ndef lowered(x):\n    return x.to(torch.bfloat16)\n"
    )


@pytest.mark.slow
def test_the_cells_of_a_notebook_run_in_its_folder_in_one_namespace(tmp_path: Path) -> None:
    notebook(tmp_path / "nb" / "train.ipynb", *CELLS)
    found = answer.run(request(ScriptSpec("nb/train.ipynb"), target="ascend-910a"))
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
    assert (found.steps, found.forwards, found.runs) == (3, 3, False)
    assert "nb/train.ipynb#In[1]:1: %matplotlib inline is left out" in found.emulation.notes
    assert os.listdir() == ["nb"]
    ended = answer.run(request(ScriptSpec("nb/train.ipynb"), steps=2))
    assert (ended.ending, ended.steps, ended.runs) == (Ending.ENOUGH, 2, True)


@pytest.mark.slow
def test_places_name_the_cell_and_its_line(tmp_path: Path) -> None:
    notebook(
        tmp_path / "a.ipynb",
        "import sys\n\nimport torch\n\nassert sys.argv == ['a.ipynb', '--lr', '1']",
        "def low(x):\n    return x.to(torch.bfloat16)",
        "low(torch.ones(4, device='cuda'))",
    )
    found = answer.run(
        request(ScriptSpec("a.ipynb", argv=("--lr", "1")), target="ascend-910a", stop=True)
    )
    assert found.ending is Ending.REFUSED
    assert [(frame.file, frame.line, frame.source) for frame in found.frames] == [
        ("a.ipynb#In[3]", 1, "low(torch.ones(4, device='cuda'))"),
        ("a.ipynb#In[2]", 2, "return x.to(torch.bfloat16)"),
    ]
    (refused,) = found.emulation.refusals
    assert [(site.file, site.line) for site in refused.sites] == [("a.ipynb#In[2]", 2)]


@pytest.mark.slow
def test_what_is_left_out_that_may_use_the_device_leaves_the_answer_open(tmp_path: Path) -> None:
    notebook(tmp_path / "a.ipynb", "import torch\ntorch.ones(2).cuda()", "!python train.py")
    found = answer.run(request(ScriptSpec("a.ipynb")))
    assert (found.ending, found.runs) == (Ending.RETURNED, None)
    notebook(tmp_path / "a.ipynb", "import torch\n1/0", tags=["raises-exception"])
    assert answer.run(request(ScriptSpec("a.ipynb"))).ending is Ending.RETURNED


def test_what_is_no_notebook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{}")
    with pytest.raises(SourceError, match=r"a\.ipynb is not a notebook"):
        answer.run(request(ScriptSpec("a.ipynb")))
    notebook(tmp_path / "r.ipynb", "x <- 1", language="R")
    done = outcome(["run", "-t", "ascend-910b", "r.ipynb"])
    assert done.exit_code == ExitCode.MODEL
    assert "r.ipynb is a notebook in R, not in Python" in done.stderr
