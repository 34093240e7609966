"""A model compared with every target at once, or all of a vendor's, best first."""

from pathlib import Path

import pytest

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.store import Database
from opcheck.model.report import Report
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetKind, TargetSpec
from opcheck.resolve.findings import best_first
from opcheck.views.formats import Page, report_view
from tests.views.test_json import VALIDATOR, document

MODEL = """
import torch

class Spectrum(torch.nn.Module):
    def forward(self, x):
        return torch.special.i0(torch.fft.rfft2(x).real)

net = Spectrum()
"""


def scanned(folder: Path, *targets: str) -> Report:
    file = folder / "spectrum.py"
    file.write_text(MODEL, encoding="utf-8")
    specs = tuple(map(TargetSpec.parse, targets))
    return scan_answer.scan(ScanRequest(ModelSpec(f"{file}:net", ("8x8",)), specs))


@pytest.mark.slow
def test_all_targets_come_best_first_in_every_format(tmp_path: Path) -> None:
    report = scanned(tmp_path, "all")
    newest = {str(target) for target in Database.open().of_kind(*TargetKind)}
    assert {target.target for target in report.targets} == newest
    assert report.targets == best_first(report.targets)
    assert len({target.summary.support_rate for target in report.targets}) > 1
    VALIDATOR.validate(document(report))
    names = [target["target"] for target in document(report)["targets"]]
    assert names == [target.target for target in report.targets]
    for width in (80, 120):
        text = report_view("text").render(report, Page(width))
        places = [text.index(f"  {name.partition('@')[0]}") for name in names]
        assert places == sorted(places)
    devices = {str(target) for target in Database.open().targets()}
    assert scanned(tmp_path).targets == tuple(t for t in report.targets if t.target in devices)


@pytest.mark.slow
def test_a_target_fares_among_all_as_it_does_alone(tmp_path: Path) -> None:
    together = {target.target: target for target in scanned(tmp_path, "all").targets}
    for name in ("ascend-910b", "nvidia-a100", "cambricon-mlu590", "google-tpu-v4"):
        (alone,) = scanned(tmp_path, name).targets
        assert together[alone.target].findings == alone.findings
        assert together[alone.target].summary == alone.summary


@pytest.mark.slow
def test_targets_named_one_by_one_stay_as_named(tmp_path: Path) -> None:
    names = ("ascend-910b@5.0.0+torch2.1", "ascend-910b@6.0.0+torch2.1")
    for order in (names, names[::-1]):
        assert tuple(target.target for target in scanned(tmp_path, *order).targets) == order
