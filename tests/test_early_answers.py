"""Targets are held against a trace when it comes, and say what they would say at the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.scan import answer
from opcheck.db.store import Database
from opcheck.device_types import Traced
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Gap
from opcheck.model.work import WorkResult
from opcheck.pipeline.reports import TargetReports, report_of
from opcheck.pipeline.traces import gathered
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model
from tests.trace.small_models import ready

NAMES = ("ascend-910b", "ascend-310p", "nvidia-a100")
NET = """
import torch

def net():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()), torch.randn(2, 4)
"""


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The targets in the order in which they were resolved."""
    found: list[str] = []

    def noted(trace: object, matrix: object, *given: object, **named: object) -> object:
        found.append(f"{matrix.target.vendor}-{matrix.target.chip}")  # type: ignore[attr-defined]
        return resolve(trace, matrix, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("opcheck.pipeline.reports.resolve", noted)
    yield found


def traced(device_type: str) -> WorkResult:
    model, args, _ = ready("attention")
    return WorkResult(trace_model(model, args, {}, device_type=device_type), "py", "")


def test_what_came_early_is_what_is_said_at_the_end(heard: list[str]) -> None:
    database = Database.open()
    matrices = [database.matrix(database.resolve(TargetSpec.parse(name))) for name in NAMES]
    npu, cuda = (traced(kind) for kind in ("npu", "cuda"))
    early = TargetReports(matrices)
    early.take(cuda)
    assert heard == ["nvidia-a100"]
    early.take(npu)
    scanned = gathered((npu, cuda))
    assert report_of("net", scanned, matrices, begun=early) == report_of("net", scanned, matrices)
    assert heard == ["nvidia-a100", *NAMES[:2], *NAMES]


def test_a_trace_that_was_left_out_for_another_says_nothing(heard: list[str]) -> None:
    database = Database.open()
    matrix = database.matrix(database.resolve(TargetSpec.parse(NAMES[0])))
    first = traced("npu")
    gap = Gap("net", "not followed")
    other = replace(first, trace=replace(first.trace, gaps=(gap,)))
    early = TargetReports([matrix])
    early.take(first)
    assert Traced(other.trace).holds_for(matrix.target)
    said = report_of("net", gathered((other,)), [matrix], begun=early)
    assert said == report_of("net", gathered((other,)), [matrix])
    assert said.targets[0].summary.runs is None


@pytest.mark.slow
def test_a_scan_holds_each_target_once(heard: list[str], tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    targets = tuple(map(TargetSpec.parse, NAMES))
    report = answer.scan(ScanRequest(ModelSpec(f"{tmp_path}/net.py:net"), targets))
    assert sorted(heard) == sorted(NAMES)
    assert [target.summary.runs for target in report.targets] == [True] * len(NAMES)
