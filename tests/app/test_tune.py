"""``opcheck tune`` on the command line."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from opcheck.errors import ExitCode
from opcheck.model.request import ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.views.formats import Page, command_view
from tests.app.stand_in import StandIn, run
from tests.views.test_json import schema
from tests.views.tunings import TUNINGS

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.1), nn.Linear(64, 10))

    def forward(self, x):
        return self.layers(x)

def build():
    return Net()
"""


def test_tune_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "tune advised -t ascend-910b --product 910B4 --input x=1x3:int64 --step optimizer=sgd "
        "--db a --schemas b.yaml --max-age 5 --timeout 6 --memory 7 --trust"
    )
    assert run(line.split(), rooms) == ExitCode.PASS
    asked = ScanRequest(
        ModelSpec(
            "advised",
            ("x=1x3:int64",),
            step=TrainingSpec(optimizer="sgd"),
            schemas=("b.yaml",),
            trust=True,
            timeout=6.0,
            memory=7.0,
        ),
        (TargetSpec("ascend-910b"),),
        False,
        databases=("a",),
        max_age=5,
    )
    assert rooms.asked == [asked, "910B4"]


@pytest.mark.parametrize("name", ["text", "json"])
def test_stdout_is_the_answer_and_nothing_else(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["tune", "advised", "-t", "x", "--format", name], StandIn()) == ExitCode.PASS
    out = capsys.readouterr().out
    assert out == command_view("tune", name).render(TUNINGS["advised"], Page(100))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tune net.py:build", "tune is for targets that are named"),
        ("tune net.py:build -t all", "tune is for 8 targets at most, and these are"),
        ("tune net.py:build -t no-such-chip", "unknown target"),
        ("tune net.py:build -t nvidia-a100 --product A200", "'A200' is no product of NVIDIA A100"),
        ("tune net.py:build -t nvidia-a100 --product A100", "'A100' is more than one product"),
        (
            "tune net.py:build -t nvidia-a100 -t ascend-910b --product A100",
            "--product is of one target's chip",
        ),
    ],
)
def test_what_is_not_understood_is_said_before_a_model_is_loaded(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == ExitCode.USAGE
    found = capsys.readouterr()
    assert message in " ".join(found.err.split())
    assert not found.out


@pytest.mark.slow  # a process that imports torch
def test_a_model_is_tuned_for_two_chips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET, "utf-8")
    given = "-t nvidia-a100 -t ascend-910b --input x=2x64 --format json"
    line = ["tune", "net.py:build", *given.split()]
    assert run(line) == ExitCode.PASS
    first = capsys.readouterr().out
    found = json.loads(first)
    Draft202012Validator(schema("tune")).validate(found)
    assert [target["flops"] for target in found["targets"]] == [2 * 2 * 64 * (64 + 10)] * 2
    weights = 4 * (64 * 64 + 64 + 64 * 10 + 10)
    for target in found["targets"]:
        memory = target["memory"]
        assert (memory["weights"], memory["inputs"], memory["batch"]) == (weights, 2 * 64 * 4, 2)
        (mode, *_) = [one for one in target["advice"] if one["code"] == "training-mode"]
        assert (mode["where"], mode["needed"]) == (["layers.1 (Dropout)"], True)
    assert run(line) == ExitCode.PASS
    assert capsys.readouterr().out == first
