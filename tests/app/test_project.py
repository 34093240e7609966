"""opcheck init, scan and gate on a folder, as somebody types them in a project."""

import json
from pathlib import Path

import pytest

from opcheck.errors import ExitCode
from opcheck.settings.policy_file import read_policy
from opcheck.version import __version__
from opcheck.views.document.parts import as_text
from opcheck.views.project.document import project_document
from tests.app.stand_in import run
from tests.source.finding.projects import HOSTILE, written
from tests.views.projects import PROJECTS

NET = """
import torch
from torch import nn


class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("angles", torch.zeros(8, dtype=torch.float64))

    def forward(self, x):
        return x * torch.polar(torch.ones_like(self.angles), self.angles).real.float()


def good():
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU())


def turned():
    return Turned(), (torch.zeros(2, 8),)


def broken() -> nn.Module:
    raise RuntimeError("no such weights")
"""
TRAIN = """
import torch

model = torch.nn.Linear(2, 2).to("cuda")
model(torch.ones(1, 2, device="cuda")).sum().backward()
torch.optim.SGD(model.parameters(), 0.1).step()
"""
ASCEND = ("-t", "ascend-910b")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of its own."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def kept(name: str, sample: str) -> None:
    Path(name).write_text(as_text(project_document(PROJECTS[sample])), encoding="utf-8")


def test_init_lists_what_is_found_with_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    Path("net.py").write_text(NET)
    assert run(["init", *ASCEND]) == ExitCode.PASS
    assert capsys.readouterr() == ("wrote opcheck.yaml\n  3 sources listed\n", "")
    text = Path("opcheck.yaml").read_text()
    assert text.endswith("""# These were found by reading the files.
sources:
  # a function that returns nn.Sequential
  - "net.py:good"
  # a function that returns Turned; inputs: it returns them with the model
  - "net.py:turned"
  # a function that returns nn.Module
  - "net.py:broken"
""")
    assert [one.given for one in read_policy(Path("opcheck.yaml")).sources] == [
        "net.py:good", "net.py:turned", "net.py:broken",
    ]  # fmt: skip


def test_init_of_a_project_of_every_kind_is_a_policy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "whole"
    folder.mkdir()
    written(folder)
    assert run(["init", "whole"]) == ExitCode.PASS
    told = capsys.readouterr().out.splitlines()
    assert told[:4] == [
        "wrote whole/opcheck.yaml",
        "  14 sources listed",
        "  1 without known inputs, as comments",
        "  5 that need arguments, as comments",
    ]
    policy = read_policy(folder / "opcheck.yaml")
    assert len(policy.sources) == 14
    text = (folder / "opcheck.yaml").read_text()
    assert '#  - {source: "models/net.py:Pair", input: ["left=SHAPE:DTYPE"' in text
    assert not Path("was-run").exists()
    assert run(["init", "whole"]) == ExitCode.USAGE
    assert run(["init", "whole", "--force"]) == ExitCode.PASS
    assert (folder / "opcheck.yaml").read_text() == text
    assert run(["init", "nowhere"]) == ExitCode.USAGE
    assert "nowhere is not a folder" in capsys.readouterr().err


def test_force_leaves_a_pyproject_alone() -> None:
    Path("pyproject.toml").write_text("[tool.opcheck]\nmax-age = 90\n")
    assert run(["init", "--force"]) == ExitCode.USAGE


def test_a_folder_with_nothing_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", ".", *ASCEND]) == ExitCode.MODEL
    assert capsys.readouterr().err.splitlines() == [
        "opcheck: error: .: there is nothing to check in this folder",
        "  hint: list sources in opcheck.yaml, as path/to/file.py:build; opcheck init writes one",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scan", ".", "--inputs", "a.py:b"],
         ". is a folder with several sources, and --inputs is of one"),
        (["gate", ".", "--train"], ". is a folder with several sources, and --train is of one"),
        (["scan", "net.py:good", "--only", "x"],
         "--only is for a folder with several sources, and net.py:good is one"),
        (["scan", ".", "--only", "else*"], ". has no source else*"),
        (["gate", ".", "--write-baseline", "b.json"],
         "a baseline is written of one source, and a folder has several"),
        (["gate", ".", "--against", "net.py"], "net.py is not JSON"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_of_a_folder_is_told(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("net.py").write_text(NET)
    assert run(arguments) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith(f"opcheck: error: {said}")


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("sources: [{source: a, script: b}]", "expected a source, or a mapping with the key"),
        ("sources: [{name: x}]", "expected a source, or a mapping with the key"),
        ("sources: ['']", "expected a source, or a mapping with the key"),
        ("sources:\n  - {source: net.py:good, wrong: 1}", "opcheck.yaml:2: unknown field 'wrong'"),
        ("sources:\n  - {source: net.py:good, trust: true}",
         "opcheck.yaml:2: a manifest cannot say that its models are trusted"),
    ],
)  # fmt: skip
def test_a_list_that_is_wrong_is_told_with_its_line(
    listed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("net.py").write_text(NET)
    Path("opcheck.yaml").write_text(f"{listed}\n")
    assert run(["scan", ".", *ASCEND]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_what_a_scan_kept_is_judged_without_its_models(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for sample, code in (("whole", 0), ("mixed", 10)):
        kept("kept.json", sample)
        assert run(["gate", "kept.json"]) == code
    assert run(["gate", "kept.json", "--against", "kept.json"]) == ExitCode.MODEL
    assert "1 pass" not in capsys.readouterr().err
    kept("whole.json", "whole")
    assert run(["gate", "whole.json", "-t", "ascend-910b"]) == ExitCode.PASS
    assert run(["gate", "whole.json", "-t", "cambricon"]) == ExitCode.USAGE
    assert run(["gate", "whole.json", "--max-age", "0"]) == ExitCode.DATABASE


def test_a_script_asks_for_targets(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.py").write_text(TRAIN)
    assert run(["scan", "."]) == ExitCode.MODEL
    out = capsys.readouterr().out
    assert "train.py: a script is run once for each target, and none is named" in out
    assert "name them with -t, or in the policy" in out


@pytest.mark.slow
def test_a_project_is_checked_source_by_source(capsys: pytest.CaptureFixture[str]) -> None:
    Path("net.py").write_text(NET)
    Path("train.py").write_text(TRAIN)
    assert run(["scan", ".", *ASCEND]) == ExitCode.PASS
    assert (
        capsys.readouterr().out
        == """\
.: 2 of 4 sources run on every target; 1 not checked
  found by reading its files; opcheck init lists them for you to change

net.py:good
  ✔ ascend-910b@26.1.0+torch2.12 decomposed
net.py:turned
  ✘ ascend-910b@26.1.0+torch2.12 unsupported · 1 operator unsupported,
    aten::polar at net.py:12
train.py
  ✔ ascend-910b@26.1.0+torch2.12 native

Not checked · no answer on these sources
  net.py:broken: broken() of net.py raised RuntimeError: no such weights (at
  net.py:24)
    the same code must build the model in plain Python

opcheck VERSION
""".replace("VERSION", __version__)
    )
    assert run(["init", *ASCEND]) == ExitCode.PASS
    assert run(["gate", ".", "--only", "net.py:good", "--only", "train.py"]) == ExitCode.PASS
    arguments = ["--report", "base.json", "--plan", "--format", "json=gate.json"]
    assert run(["gate", ".", *arguments, "--format", "markdown=c.md"]) == ExitCode.GATE
    assert json.loads(Path("gate.json").read_text())["exit_code"] == ExitCode.GATE
    assert "polar" in Path("c.md").read_text()
    assert run(["gate", ".", "--against", "base.json", "--only", "net.py:turned"]) == 0
    assert run(["gate", ".", "--only", "net.py:broken"]) == ExitCode.MODEL


@pytest.mark.slow
def test_a_saved_graph_and_a_script_that_fails_are_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import torch

    Path("sub").mkdir()
    graph = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    torch.export.save(graph, "sub/linear.pt2")
    Path("sub/train.py").write_text(f"{TRAIN}\nraise ValueError('out of data')\n")
    Path("sub/idle.py").write_text("import torch\ntorch.ones(1, requires_grad=True).backward()\n")
    Path("sub/hostile.py").write_text(HOSTILE)
    assert run(["scan", "sub", *ASCEND]) == ExitCode.PASS
    out = capsys.readouterr().out
    assert out.splitlines()[:4] == [
        "sub: 1 of 4 sources run on every target; 3 not checked",
        "  found by reading its files; opcheck init lists them for you to change",
        "",
        "linear.pt2",
    ]
    assert "train.py: the script failed: ValueError: out of data" in out
    assert "idle.py: never used the device" in out
    assert "hostile.py:evil: sub/hostile.py writes to was-run" in " ".join(out.split())
    assert not [*Path().rglob("was-run")]
