"""Overlays and ages where users meet them: a scan, an emulated run, an explanation."""

from pathlib import Path

import pytest

import opcheck
from opcheck.commands.emulate import answer as emulate_answer
from opcheck.commands.explain import answer as explain_answer
from opcheck.commands.scan import answer as scan_answer
from opcheck.commands.targets import answer as targets_answer
from opcheck.errors import DatabaseError
from opcheck.model.emulation import EmulationRequest
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict
from tests.db.overlays import OVERLAY, acme, written

MODEL = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.lgamma(x)


def build():
    return Net()
"""
TARGET = TargetSpec("ascend-910b")


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "net.py").write_text(MODEL)
    return f"{tmp_path / 'net.py'}:build"


@pytest.fixture
def overlay(tmp_path: Path) -> str:
    return str(written(acme(tmp_path / "over"), team=OVERLAY))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "layered", "verdict", "origins"),
    [
        ("float32", False, Verdict.FALLBACK, {""}),
        ("float32", True, Verdict.NATIVE, {"team.yaml"}),
        ("float64", True, Verdict.UNSUPPORTED, {"team.yaml"}),
    ],
)
def test_a_scan_holds_to_overlays(
    dtype: str, layered: bool, verdict: Verdict, origins: set[str], source: str, overlay: str
) -> None:
    databases = (overlay,) if layered else ()
    request = ScanRequest(ModelSpec(source, (f"x=2x3:{dtype}",)), (TARGET,), databases=databases)
    (target,) = scan_answer.scan(request).targets
    (finding,) = [f for f in target.findings if f.op == "aten::lgamma"]
    assert finding.verdict is verdict
    assert {Path(fact.origin).name for fact in finding.evidence} == origins


@pytest.mark.slow
@pytest.mark.parametrize("layered", [False, True])
def test_a_scan_of_a_live_module_holds_to_overlays(layered: bool, overlay: str) -> None:
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch is loaded here
        def forward(self, x: object) -> object:
            return torch.lgamma(x)

    folders = (overlay,) if layered else ()
    report = opcheck.scan(Net(), torch.ones(2), targets=["ascend-910b"], databases=folders)
    (found,) = report.targets[0].findings
    assert found.verdict is (Verdict.NATIVE if layered else Verdict.FALLBACK)


@pytest.mark.slow
@pytest.mark.parametrize("layered", [False, True])
def test_an_emulated_device_holds_to_overlays(layered: bool, source: str, overlay: str) -> None:
    databases = (overlay,) if layered else ()
    request = EmulationRequest(
        ModelSpec(source, ("x=2x3",), memory=4.0), TARGET, check=True, databases=databases
    )
    found = emulate_answer.emulate(request)
    assert found.agreement is not None
    assert found.agreement.disagreements == ()
    assert bool(found.host_calls) is not layered


@pytest.mark.parametrize("layered", [False, True])
def test_an_emulated_device_of_python_s_holds_to_overlays(layered: bool, overlay: str) -> None:
    torch = pytest.importorskip("torch")
    emulator = opcheck.emulate("ascend-910b", databases=(overlay,) if layered else ())
    with emulator as device:
        torch.lgamma(torch.ones(2, device=device))
    assert bool(emulator.host_calls) is not layered


def test_a_vendor_of_an_overlay_is_emulated_under_its_own_name(overlay: str) -> None:
    torch = pytest.importorskip("torch")
    with opcheck.emulate("acme-one", databases=[Path(overlay)]) as device:
        assert torch.npu.get_device_name() == "Acme One"
        with pytest.raises(NotImplementedError, match=r"aten::empty\.memory_format"):
            torch.empty(2, device=device)


def test_folders_without_a_database_are_refused_before_anything_opens(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="holds nothing that opcheck reads"):
        opcheck.emulate("ascend-910b", databases=[tmp_path])


@pytest.mark.slow
def test_an_overlay_of_a_vendor_is_a_target(overlay: str) -> None:
    added = {row.target.name for row in targets_answer.targets((overlay,))}
    assert added - {row.target.name for row in targets_answer.targets()} == {"acme-one"}
    (found,) = explain_answer.explain("aten::abs", (TargetSpec("acme-one"),), (overlay,))
    assert found.verdict is Verdict.NATIVE
    (neg,) = explain_answer.explain("aten::neg", (TargetSpec("acme-one"),), (overlay,))
    assert neg.verdict is Verdict.UNSUPPORTED


@pytest.mark.slow
def test_an_explanation_tells_every_layer(overlay: str) -> None:
    (found,) = explain_answer.explain("aten::lgamma", (TARGET,), (overlay,))
    assert [said.says for said in found.statements] == [
        "registers no kernel",
        "registers a kernel",
        "adds dtype-not-supported",
    ]
    (plain,) = explain_answer.explain("aten::lgamma", (TARGET,))
    assert plain.statements == ()


@pytest.mark.slow
def test_data_that_is_too_old_is_refused_before_the_model_is_loaded(source: str) -> None:
    with pytest.raises(DatabaseError, match="too old for the policy of 0 days"):
        scan_answer.scan(ScanRequest(ModelSpec("no/such/model.pt2"), (TARGET,), max_age=0))
    request = ScanRequest(ModelSpec(source, ("x=2x3",)), (TARGET,), max_age=10**8)
    assert scan_answer.scan(request).targets
