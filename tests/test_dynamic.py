"""Sizes that vary, from the command's option to what a report says of each target."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import opcheck
from opcheck.app.main import run
from opcheck.commands.plan import answer as plan_answer
from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import ExitCode, UsageError
from opcheck.model.dynamic import SiteKind, Taking, dynamic_inputs
from opcheck.model.report import Report
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 8)

    def forward(self, ids, *, scale=1.0):
        x = self.words(ids) * scale
        if ids.shape[1] > 100:
            x = x[:, :100]
        kept = x[x.sum(-1) > 0]
        if kept.sum().item() > 1:
            kept = kept.relu()
        return kept

def net():
    return Net(), {"ids": torch.zeros(1, 16, dtype=torch.int64)}
"""
BRANCH, MASK, READ = 12, 14, 15


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.py").write_text(NET)
    monkeypatch.chdir(tmp_path)


def scanned(*dynamic: str, targets: tuple[str, ...] = ("google-tpu-v4",)) -> Report:
    specs = tuple(TargetSpec.parse(target) for target in targets)
    return scan_answer.scan(
        ScanRequest(ModelSpec("net.py:net", dynamic=dynamic_inputs(dynamic)), specs)
    )


def lines(report: Report, kind: SiteKind) -> set[int]:
    (target,) = report.targets
    return {taken.site.line for taken in target.dynamic if taken.site.kind is kind}


@pytest.mark.slow
def test_what_depends_on_data_is_told_unasked() -> None:
    report = scanned()
    assert lines(report, SiteKind.DATA_SIZE) == {MASK}
    assert lines(report, SiteKind.DATA_READ) == {READ}
    assert {taken.site.kind for taken in report.targets[0].dynamic} == {
        SiteKind.DATA_SIZE,
        SiteKind.DATA_READ,
    }


@pytest.mark.slow
def test_what_is_marked_is_tried_for_each_device_type() -> None:
    report = scanned("ids:1", targets=("google-tpu-v4", "nvidia-tensorrt", "ascend-910b"))
    ways = {}
    for target in report.targets:
        (branch,) = (t for t in target.dynamic if t.site.kind is SiteKind.SHAPE_BRANCH)
        assert (branch.site.file, branch.site.line) == ("net.py", BRANCH)
        assert "101 > 100 is True with ids:1 = 101" in branch.site.text
        ways[target.vendor] = branch.how
    assert ways == {
        "google": Taking.RECOMPILES,
        "nvidia-tensorrt": Taking.NOT_ALLOWED,
        "ascend": Taking.FINE,
    }
    assert any(note.startswith("sizes tried: ids:1 = 16;") for note in report.trace.notes)


@pytest.mark.slow
def test_the_trace_itself_is_the_same() -> None:
    plain, marked = scanned(), scanned("ids:1")
    assert plain.trace.calls == marked.trace.calls
    assert plain.targets[0].findings == marked.targets[0].findings


@pytest.mark.slow
def test_a_plan_has_them_too() -> None:
    spec = TargetSpec.parse("ascend-910b")
    request = ScanRequest(ModelSpec("net.py:net", dynamic=dynamic_inputs(["ids:1"])), (spec,))
    (target,) = plan_answer.plan(request).targets
    assert SiteKind.SHAPE_BRANCH in {taken.site.kind for taken in target.dynamic}


def command(*arguments: str) -> int:
    return run(["scan", "net.py:net", "-t", "google-tpu-v4", *arguments])


@pytest.mark.slow
def test_the_command_writes_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--dynamic", "ids:1", "--format", "json") == ExitCode.PASS
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    found = {(one["kind"], one["line"], one["how"]) for one in document["targets"][0]["dynamic"]}
    assert ("shape-branch", BRANCH, "recompiles") in found
    assert ("data-dependent-size", MASK, "recompiles") in found


@pytest.mark.parametrize("marked", ["words:1", "ids:7", "ids", "ids:x", "ids:1:2"])
def test_what_cannot_be_marked_is_a_usage_error(
    marked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("--dynamic", marked) == ExitCode.USAGE
    told = capsys.readouterr()
    assert told.out == ""
    assert "--dynamic" in told.err
    assert "Traceback" not in told.err


class Padded(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        missing = -x.shape[1] % 8
        return nn.functional.pad(x, (0, missing)) if missing else x.relu()


@pytest.mark.slow
def test_live_modules_are_tried_as_well() -> None:
    report = opcheck.scan(Padded(), torch.zeros(1, 16), targets=["ascend-910b"], dynamic=["x:1"])
    (branch,) = (t for t in report.targets[0].dynamic if t.site.kind is SiteKind.SHAPE_BRANCH)
    assert "x:1 = 17" in branch.site.text
    with pytest.raises(UsageError, match="no tensor named 'y'"):
        opcheck.scan(Padded(), torch.zeros(1, 16), targets=["ascend-910b"], dynamic=["y:1"])
