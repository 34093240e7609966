"""The report of one model of a run: what a scan of it says, from its stored trace."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from opcheck.app.main import run
from opcheck.commands.fleet.answers import report as report_files
from opcheck.commands.fleet.answers.report import report_of_model
from opcheck.commands.fleet.traces import casts_text, stored
from opcheck.commands.fleet.values import Ending, RunTarget
from opcheck.commands.scan.live import scan_module
from opcheck.errors import ExitCode, OpcheckError, UsageError
from opcheck.model.report import Report
from opcheck.model.target import TargetSpec
from opcheck.model.work import WorkResult
from opcheck.pipeline.database import matrices_of, open_database
from tests.commands.fleet.made import failed, filled, result, scanned

if TYPE_CHECKING:
    from torch import nn

SPECS = (TargetSpec("ascend-910a"), TargetSpec("ascend-910b"))


def net() -> "nn.Module":
    """A model of two calls, of which one is not taken everywhere."""
    from torch import Tensor, fft, nn

    class Net(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            found: Tensor = fft.rfft(nn.functional.gelu(x))
            return found

    return Net()


@pytest.fixture(scope="module")
def alone() -> Report:
    """A scan of the model by itself."""
    import torch

    return scan_module(net(), (torch.ones(4, 8),), SPECS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with that model, one of almost its name, and one that failed."""
    import torch

    from opcheck.trace import trace_model

    matrices = matrices_of(open_database(), SPECS)
    casts = dict(set.intersection(*(set(matrix.casts.items()) for matrix in matrices)))
    trace = trace_model(net(), (torch.ones(4, 8),), {}, device_type="npu", casts=casts)
    kept = stored([WorkResult(trace, "module", "")], {"npu": casts_text(casts)})
    targets = [
        RunTarget(
            str(m.target), m.target.vendor, m.target.chip, m.target.sdk, m.target.torch, "npu",
            m.database_digest, m.database_date, casts_text(casts),
        )
        for m in matrices
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("fleet") / "fleet.db"
    one = replace(scanned(*map(result, targets)), traces=kept)
    outcomes = {"net/x": one, "net-x": one, "gone": failed(Ending.FAILED, "it is gone")}
    filled(path, outcomes, targets)
    older = [replace(target, database_digest="0123456789abcdef") for target in targets]
    filled(path, {"net/x": replace(one, targets=tuple(map(result, older)))}, older, digest="old")
    return path


@pytest.mark.slow
def test_a_stored_trace_gives_the_report_of_a_scan(store: Path, alone: Report) -> None:
    found = report_of_model(store, "net/x", "1")
    assert not found.newer
    assert [target.target for target in found.report.targets] == [
        target.target for target in alone.targets
    ]
    for mine, scanned_alone in zip(found.report.targets, alone.targets, strict=True):
        assert mine.summary == scanned_alone.summary
        assert [(f.op, f.verdict, f.reason, f.count) for f in mine.findings] == [
            (f.op, f.verdict, f.reason, f.count) for f in scanned_alone.findings
        ]


def test_targets_are_chosen_and_newer_data_is_told(store: Path) -> None:
    found = report_of_model(store, "net/x", targets=("*910b",))
    assert [target.target for target in found.report.targets] == list(found.newer)
    assert len(found.newer) == 1


@pytest.mark.parametrize(
    ("name", "said", "hint"),
    [
        ("net", "run 1 has no model 'net'", "there is net/x, net-x"),
        ("other", "run 1 has no model 'other'", "opcheck fleet query lists them"),
        ("gone", "gone has no report: it is gone", "look there"),
    ],
)
def test_what_has_no_report_is_refused(store: Path, name: str, said: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        report_of_model(store, name, "1")
    assert (refused.value.message, refused.value.hint) == (said, hint)


def test_the_page_leads_to_reports_beside_it(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "all reports"
    line = ["fleet", "page", str(store), "--run", "1", "-o", str(page), "--reports", str(folder)]
    assert run(line) == ExitCode.PASS
    assert sorted(file.name for file in folder.iterdir()) == ["net-x-2.html", "net-x.html"]
    text = page.read_text("ascii")
    assert '"all%20reports/net-x.html"' in text
    assert '"all%20reports/net-x-2.html"' in text
    assert run([*line[:5], "--reports", str(folder)]) == ExitCode.USAGE
    assert "--reports wants a page in a file" in capsys.readouterr().err


@pytest.mark.slow
def test_reports_are_written_side_by_side_as_one_by_one(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_files, "WORTH", 1)
    written = []
    for processes in (1, 2):
        monkeypatch.setattr(report_files, "processors", lambda count=processes: count)
        page, folder = tmp_path / f"{processes}.html", tmp_path / str(processes)
        line = ["--lang", "zh", "fleet", "page", str(store), "--run", "1", "-o", str(page)]
        assert run([*line, "--reports", str(folder)]) == ExitCode.PASS
        written.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert written[0] == written[1]
    assert len(written[0]) == 2
    assert all(b'lang="zh' in text for text in written[0].values())


@pytest.mark.slow
def test_a_writer_that_is_ended_is_told(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_files, "WORTH", 1)
    monkeypatch.setattr(report_files, "processors", lambda: 2)
    with pytest.raises(OpcheckError, match="a process that writes reports was ended"):
        list(report_files.write_reports(store, "1", tmp_path, _is_ended))


def _is_ended(path: Path, report: Report) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_report_is_written_in_any_format(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["fleet", "report", str(store), "net/x", "--format"]
    assert run([*line, "csv"]) == ExitCode.PASS
    found = capsys.readouterr()
    assert found.out.startswith("target,vendor,chip")
    assert "newer data" in found.err
