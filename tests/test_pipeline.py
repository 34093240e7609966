"""The order of the rooms: a saved graph needs no torch, and says what a run with torch says."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from opcheck.commands.emulate import answer as emulate_answer
from opcheck.commands.explain import answer as explain_answer
from opcheck.commands.scan import answer as scan_answer
from opcheck.commands.targets import answer as targets_answer
from opcheck.db.store import Database
from opcheck.errors import OpcheckError, SourceError, UsageError
from opcheck.model.emulation import EmulationRequest
from opcheck.model.report import Report
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetKind, TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.views.formats import report_view
from tests.lang.told import in_chinese
from tests.source.pt2_files import export
from tests.trace.small_models import ready

TARGETS = ("ascend-910b", "ascend-910a", "ascend-910b@6.0.0")
_WITHOUT_TORCH = """
import json, sys
from opcheck.commands.scan import answer
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetKind, TargetSpec
from opcheck.views.formats import report_view
targets = tuple(map(TargetSpec.parse, sys.argv[2:]))
report = answer.scan(ScanRequest(ModelSpec(sys.argv[1]), targets))
print(json.dumps(["torch" in sys.modules, report_view("json").render(report)]))
"""


@pytest.fixture
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    model, args, _ = ready(request.param)
    return export(tmp_path / f"{request.param}.pt2", model, args)


def verdicts(document: Any) -> list[Counter[tuple[str, str]]]:
    """By target: how many calls of each operator have each verdict."""
    found = []
    for target in document["targets"]:
        counts: Counter[tuple[str, str]] = Counter()
        for finding in target["findings"]:
            counts[finding["op"], finding["verdict"]] += finding["count"]
        found.append(counts)
    return found


@pytest.mark.since("2.13")
@pytest.mark.slow
@pytest.mark.parametrize("saved", ["attention", "encoder-layer"], indirect=True)
def test_a_saved_graph_is_settled_without_torch_as_a_run_settles_it(saved: Path) -> None:
    command = [sys.executable, "-c", _WITHOUT_TORCH, str(saved), *TARGETS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded, text = json.loads(done.stdout)
    from_tables = json.loads(text)
    assert not loaded
    assert from_tables["trace"]["notes"] == [
        "read from the saved graph and tables; torch was not loaded"
    ]

    run = json.loads(report_view("json").render(_scanned(saved, exact=True)))
    assert verdicts(from_tables) == verdicts(run)
    assert [t["summary"]["runs"] for t in from_tables["targets"]] == [
        t["summary"]["runs"] for t in run["targets"]
    ]
    assert [t["kernels"] for t in from_tables["targets"]] == [None] * len(TARGETS)
    assert all(t["kernels"] for t in run["targets"])


class _Heads(torch.nn.Module):
    """What most classifiers and language models end with."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = torch.nn.Embedding(50, 16)
        self.drop = torch.nn.Dropout()
        self.words = torch.nn.Linear(16, 50, bias=False)
        self.pool = torch.nn.AdaptiveAvgPool2d(1)
        self.label = torch.nn.Linear(3, 5)

    def forward(self, ids: torch.Tensor, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.words(self.drop(self.rows(ids))), self.label(self.pool(image).flatten(1))


def _coded(target: Any) -> set[tuple[str, str, str, int]]:
    return {
        (one["op"], one["verdict"], one["reason"]["code"], one["count"])
        for one in target["findings"]
    }


@pytest.mark.since("2.13")
@pytest.mark.slow
def test_what_arguments_decide_is_answered_without_torch_as_with_it(tmp_path: Path) -> None:
    targets = ("nvidia-h100", "amd-mi300x", "apple-mps", "intel-max")
    inputs = (torch.zeros(2, 7, dtype=torch.int64), torch.zeros(2, 3, 8, 8))
    saved = export(tmp_path / "heads.pt2", _Heads().eval(), inputs)
    command = [sys.executable, "-c", _WITHOUT_TORCH, str(saved), *targets]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded, text = json.loads(done.stdout)
    assert not loaded
    run = json.loads(report_view("json").render(_scanned(saved, exact=True, targets=targets)))
    for found, wanted in zip(json.loads(text)["targets"], run["targets"], strict=True):
        codes = {
            (f["op"], f["verdict"], f["reason"]["code"], f["count"]) for f in wanted["findings"]
        }
        assert {
            (f["op"], f["verdict"], f["reason"]["code"], f["count"]) for f in found["findings"]
        } == codes
        assert ("aten::dropout", "decomposed", "no-device-work", 1) in codes


@pytest.mark.slow
@pytest.mark.parametrize("saved", ["conv"], indirect=True)
def test_a_saved_graph_that_tables_leave_open_is_run_and_the_report_says_so(saved: Path) -> None:
    notes = _scanned(saved, exact=False).trace.notes
    assert notes == ("torch was loaded: tables alone do not settle every call of the saved graph",)
    assert in_chinese(notes) == ["已加载 torch：仅凭表格无法判定所存图中的每次调用"]


def _scanned(path: Path, *, exact: bool, targets: tuple[str, ...] = TARGETS) -> Report:
    specs = tuple(map(TargetSpec.parse, targets))
    return scan_answer.scan(ScanRequest(ModelSpec(str(path)), specs, exact))


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize(
    ("source", "target", "inputs", "kind"),
    [
        ("torchvision:resnet18", "ascend-9", (), UsageError),
        ("torchvision:resnet18", "ascend-910b@0.1", (), UsageError),
        ("absent.py:net", "ascend-910b", (), SourceError),
        ("torchvision:resnet18", "ascend-910b", ("x=1,3",), UsageError),
    ],
)
def test_an_emulation_that_cannot_be_starts_no_process(
    source: str, target: str, inputs: tuple[str, ...], kind: type[OpcheckError]
) -> None:
    with pytest.raises(kind):
        emulate_answer.emulate(
            EmulationRequest(ModelSpec(source, inputs), TargetSpec.parse(target))
        )


@pytest.mark.slow
def test_targets_are_every_chip_at_its_newest_release() -> None:
    rows = targets_answer.targets()
    database = Database.open()
    assert tuple(row.target for row in rows) == database.of_kind(*TargetKind)
    for row in rows:
        assert row.releases[0] == row.target.sdk
        assert row.torch_versions[0] == row.target.torch
        assert row.registered == len(database.matrix(row.target).entries) > 100


@pytest.mark.slow
def test_an_operator_is_explained_on_each_target() -> None:
    specs = tuple(map(TargetSpec.parse, ("ascend-910b", "ascend-910b@5.0.0")))
    found = explain_answer.explain("aten::polar", specs)
    assert [(e.op, e.target.sdk, e.verdict) for e in found if e.op == "aten::polar"] == [
        ("aten::polar", found[0].target.sdk, Verdict.NATIVE),
        ("aten::polar", "5.0.0", Verdict.FALLBACK),
    ]
    assert "6.0.0" in found[0].registered_in
    assert "5.0.0" not in found[0].registered_in


def test_an_unknown_operator_names_near_ones() -> None:
    with pytest.raises(UsageError) as caught:
        explain_answer.explain("aten::polarr", (TargetSpec.parse("ascend-910b"),))
    assert caught.value.message == "unknown operator 'aten::polarr'"
    assert "aten::polar" in caught.value.hint
