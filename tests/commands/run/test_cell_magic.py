"""``%%opcheck``: a cell of a notebook on an emulated device."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import opcheck
from opcheck.errors import UsageError
from opcheck.model.script import Ending, ScriptRun


class FakeShell:
    """What is used of IPython."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.history_manager = SimpleNamespace(
            input_hist_parsed=["", "%load_ext opcheck"], input_hist_raw=["", "%load_ext opcheck"]
        )
        self.magics: dict[str, Callable[..., ScriptRun]] = {}

    def transform_cell(self, cell: str) -> str:
        return cell.replace("%time ", "")

    def register_magic_function(self, func: Any, kind: str, name: str) -> None:
        assert kind == "line_cell"
        self.magics[name] = func

    def opcheck(self, line: str, cell: str | None = None) -> ScriptRun:
        typed = f"%opcheck {line}" if cell is None else f"%%opcheck {line}\n{cell}"
        self.history_manager.input_hist_parsed.append(cell or line)
        self.history_manager.input_hist_raw.append(typed)
        return self.magics["opcheck"](line, cell)


@pytest.fixture
def shell() -> FakeShell:
    made = FakeShell()
    opcheck.load_ipython_extension(made)
    return made


@pytest.mark.slow
def test_a_cell_runs_on_the_device_in_the_namespace_of_the_notebook(
    shell: FakeShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["rows"] = 3
    first = shell.opcheck(
        "-t ascend-910a",
        "import torch\nmodel = torch.nn.Linear(4, 2).cuda()\n"
        "optimizer = torch.optim.AdamW(model.parameters())\n",
    )
    assert (first.ending, first.runs, str(first.script)) == (Ending.RETURNED, True, "In[2]")
    second = shell.opcheck(
        "--target=ascend-910a",
        "%time loss = model(torch.ones(rows, 4, device='cuda')).sum()\nloss.backward()\n"
        "optimizer.step()\nlow = loss.bfloat16()\nlow.shape\n",
    )
    assert (second.steps, second.forwards, second.runs) == (1, 1, False)
    (refused,) = second.emulation.refusals
    assert [(site.file, site.line) for site in refused.sites] == [("In[3]", 5)]
    assert shell.user_ns["low"].shape == ()
    assert capsys.readouterr().out == "torch.Size([])\n"


@pytest.mark.slow
def test_a_line_runs_what_follows_the_options(
    shell: FakeShell, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    shell.user_ns["torch"] = torch
    code = "torch.ones(2, device='cuda') + 1"
    assert shell.opcheck(f"-t ascend-910a --values {code}").used
    assert capsys.readouterr().out == "tensor([2., 2.], device='npu:0')\n"
    unused = shell.opcheck("-t ascend-910a --no-as-cuda torch.ones(2) + 1")
    assert (unused.used, unused.runs) == (False, None)


@pytest.mark.slow
def test_a_cell_that_fails_shows_its_line(
    shell: FakeShell, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import torch\nx = torch.ones(2, device='cuda')\n%time x.bfloat16()\n"
    found = shell.opcheck("-t ascend-910a --stop", code)
    assert found.ending is Ending.REFUSED
    assert [(frame.file, frame.line, frame.source) for frame in found.frames] == [
        ("In[2]", 4, "%time x.bfloat16()")
    ]
    shown = capsys.readouterr().err
    assert 'File "In[2]", line 4, in <module>' in shown
    assert "opcheck/emulate" not in shown


@pytest.mark.slow
def test_a_cell_awaits_where_no_loop_runs(shell: FakeShell) -> None:
    code = "import asyncio\nawait asyncio.sleep(0)\nx = 1\n"
    assert shell.opcheck("-t ascend-910a", code).ending is Ending.RETURNED

    async def inside() -> ScriptRun:
        return shell.opcheck("-t ascend-910a", code)

    found = asyncio.run(inside())
    assert found.ending is Ending.FAILED
    assert found.emulation.error == "SyntaxError: 'await' outside function (In[3], line 3)"


@pytest.mark.slow
def test_a_cell_is_compared_by_running_the_session_anew(
    shell: FakeShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.py").write_text("START = 1_700_000_000\n")
    typed = shell.history_manager.input_hist_raw
    typed += [
        "raise ValueError('as in the session')",
        "import torch\nfrom times import START\ntorch.manual_seed(0)",
        "class Elapsed(torch.nn.Module):\n    def forward(self, x):\n        return x - x[0]",
    ]
    shell.history_manager.input_hist_parsed += typed[2:]
    found = shell.opcheck(
        "-t ascend-910b --compare",
        "times = START + torch.arange(4, dtype=torch.float64).cuda() / 8\nElapsed()(times)\n",
    )
    assert (found.ending, str(found.script), found.runs) == (Ending.RETURNED, "In[5]", True)
    assert found.comparison is not None
    assert found.comparison.first is not None
    first = found.comparison.first
    assert (first.moment.module, first.file, first.line) == ("Elapsed", "In[5]", 3)
    assert first.absolute == 0.375
    assert "times" not in shell.user_ns


@pytest.mark.parametrize(
    ("line", "cell"),
    [
        ("", "x"),
        ("x", None),
        ("-t ascend-910a x", "y"),
        ("-t", "x"),
        ("--fast -t ascend-910a", "x"),
        ("-t ascend-910a --fast x", None),
    ],
)
def test_options_that_are_not_understood_are_refused(
    shell: FakeShell, line: str, cell: str | None
) -> None:
    with pytest.raises(UsageError, match=r"cannot read the options of %opcheck: ") as caught:
        shell.opcheck(line, cell)
    assert caught.value.__notes__ == [
        "write it as: %%opcheck -t ascend-910b [--values | --compare] [--stop] [--no-as-cuda]"
    ]


@pytest.mark.parametrize("name", ["nobody", "ascend@@"])
def test_an_unknown_target_is_refused(shell: FakeShell, name: str) -> None:
    with pytest.raises(UsageError):
        shell.opcheck(f"-t {name}", "x")


@pytest.mark.slow
def test_ipython_shows_what_a_cell_came_to(capsys: pytest.CaptureFixture[str]) -> None:
    interactive: Any = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell()
    for cell in (
        "%load_ext opcheck",
        "%%opcheck -t ascend-910a\nimport torch\n%time y = torch.ones(2, device='cuda')",
    ):
        assert shell.run_cell(cell, store_history=True).success
    assert "✔ runs: In[2] on an emulated ascend-910a@" in capsys.readouterr().out
