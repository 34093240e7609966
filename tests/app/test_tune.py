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


@pytest.mark.parametrize(
    ("target", "asked", "product"),
    [
        ("Ascend910B4", "ascend-910b", "Ascend910B4"),
        ("昇腾910B3", "ascend-910b", "Ascend910B3"),
        ("910B1@26.1.0", "ascend-910b@26.1.0", "Ascend910B1"),
        ("M4 Max", "apple-m4", "M4 Max"),
        ("m3", "apple-m3", "M3"),
        ("Trillium", "google-tpu-v6e", ""),
        ("910B", "ascend-910b", ""),
        ("A100 80GB", "nvidia-a100", ""),
        ("ascend-910b", "ascend-910b", ""),
        ("mlu580", "cambricon-mlu580", ""),
    ],
)
def test_a_target_that_is_named_as_it_is_sold_is_judged_as_that(
    target: str, asked: str, product: str
) -> None:
    """Where a name is of several products, the fastest is taken, as ever."""
    rooms = StandIn()
    assert run(["tune", "advised", "-t", target], rooms) == ExitCode.PASS
    request, chosen = rooms.asked
    assert isinstance(request, ScanRequest)
    assert (request.targets, chosen) == ((TargetSpec.parse(asked),), product)


def test_a_product_that_is_named_is_taken_whatever_the_target_is_called() -> None:
    rooms = StandIn()
    line = ["tune", "advised", "-t", "Ascend910B4", "--product", "910B2"]
    assert run(line, rooms) == ExitCode.PASS
    assert rooms.asked[1] == "910B2"


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
