"""A training step scanned, from the command's request to findings by phase."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import opcheck
from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError, TraceError, UsageError
from opcheck.model.report import Finding, TargetReport
from opcheck.model.request import ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))

def net():
    return Net(), (torch.ones(2, 8),)

def frozen():
    return Net().requires_grad_(False), (torch.ones(2, 8),)

def entropy(output):
    labels = torch.zeros(2, dtype=torch.int64, device=output.device)
    return nn.functional.cross_entropy(output, labels)

not_a_function = 5
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "net.py").write_text(NET)
    monkeypatch.chdir(tmp_path)
    return "net.py"


def scanned(source: str, *targets: str, step: tuple[str, ...] = ()) -> tuple[TargetReport, ...]:
    specs = tuple(TargetSpec.parse(target) for target in targets)
    request = ScanRequest(ModelSpec(source, step=TrainingSpec.parse(step)), specs)
    report = scan_answer.scan(request)
    assert report.trace.mode == "train"
    return report.targets


def found(report: TargetReport, base: str) -> dict[Phase, Finding]:
    return {f.phase: f for f in report.findings if f.op.partition("::")[2].split(".")[0] == base}


@pytest.mark.slow
def test_each_finding_has_its_phase_and_a_place_in_the_model(file: str) -> None:
    (report,) = scanned(f"{file}:net", "ascend-910b")
    assert {finding.phase for finding in report.findings} == set(Phase)
    (backward,) = found(report, "threshold_backward").values()
    assert [(use.file, use.line) for use in backward.uses] == [("net.py", 11)]
    assert report.kernels is not None
    assert {kernel.phase for kernel in report.kernels} == set(Phase)


@pytest.mark.slow
def test_an_optimizer_that_the_device_lacks_is_found(file: str) -> None:
    report, other = scanned(
        f"{file}:net", "ascend-910b", "nvidia-a100", step=("optimizer=adam:fused",)
    )
    adam = found(report, "_fused_adam_")[Phase.OPTIMIZER]
    assert (adam.verdict, found(other, "_fused_adam_")[Phase.OPTIMIZER].verdict) == (
        Verdict.FALLBACK, Verdict.NATIVE,
    )  # fmt: skip
    (plain,) = scanned(f"{file}:net", "ascend-910b", step=("optimizer=adam:plain",))
    assert found(plain, "_fused_adam_") == {}


@pytest.mark.slow
def test_the_loss_that_is_named_is_what_is_differentiated(file: str) -> None:
    (with_loss,) = scanned(f"{file}:net", "ascend-910b", step=(f"loss={file}:entropy",))
    (without,) = scanned(f"{file}:net", "ascend-910b")
    assert set(found(with_loss, "_log_softmax_backward_data")) == {Phase.BACKWARD}
    assert found(without, "_log_softmax_backward_data") == {}


@pytest.mark.parametrize(
    ("name", "message"),
    [("gone", "has no 'gone'"), ("not_a_function", "is int, want a function")],
)
def test_a_loss_that_is_not_there_is_an_error(file: str, name: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        scanned(f"{file}:net", "ascend-910b", step=(f"loss={file}:{name}",))


@pytest.mark.slow
def test_mixed_precision_is_seen_with_its_scaler_and_is_no_gap(file: str) -> None:
    step = ("autocast=float16", "scaler=true", "clip=1.0")
    request = ScanRequest(
        ModelSpec(f"{file}:net", step=TrainingSpec.parse(step)), (TargetSpec.parse("ascend-910b"),)
    )
    report = scan_answer.scan(request)
    assert report.trace.gaps == ()
    (target,) = report.targets
    halves = found(target, "addmm")[Phase.FORWARD].uses
    assert all("float16" in text for use in halves for text in use.inputs if "mat" in text)
    assert set(found(target, "_amp_foreach_non_finite_check_and_unscale_")) == {Phase.OPTIMIZER}
    assert set(found(target, "_amp_update_scale_")) == {Phase.OPTIMIZER}


def test_a_target_for_inference_alone_is_refused_by_name_and_left_out_of_all(file: str) -> None:
    with pytest.raises(UsageError, match=r"nvidia-tensorrt.* runs inference alone"):
        scanned(f"{file}:net", "nvidia-tensorrt")
    names = {report.target for report in scanned(f"{file}:net", "nvidia")}
    assert names
    assert not any(name.startswith("nvidia-tensorrt") for name in names)


@pytest.mark.slow
def test_a_model_with_nothing_to_train_is_an_error(file: str) -> None:
    with pytest.raises(TraceError, match="no parameter that requires a gradient"):
        scanned(f"{file}:frozen", "ascend-910b")


@pytest.mark.slow
def test_targets_of_one_type_whose_gradients_differ_have_a_trace_each(file: str) -> None:
    newest, old = scanned(f"{file}:net", "ascend-910b", "ascend-910b@5.0.0")
    apart, alone = (
        scanned(f"{file}:net", "ascend-910b"),
        scanned(f"{file}:net", "ascend-910b@5.0.0"),
    )
    assert [f.id for f in newest.findings] == [f.id for f in apart[0].findings]
    assert [f.id for f in old.findings] == [f.id for f in alone[0].findings]


class Doubled(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).sin()


@pytest.mark.slow
def test_a_live_module_is_scanned_in_training_and_left_as_it_is() -> None:
    module = Doubled(3, 3).eval()
    report = opcheck.scan(
        module, torch.ones(2, 3), targets=["ascend-910b"], loss=lambda output: output.square().sum()
    )
    assert report.trace.mode == "train"
    (target,) = report.targets
    assert set(found(target, "cos")) == {Phase.BACKWARD}
    assert Phase.FORWARD in found(target, "pow")
    assert not module.training
    assert module.weight.grad is None
    assert type(module.weight) is nn.Parameter


def test_a_source_takes_no_function_as_its_loss(file: str) -> None:
    with pytest.raises(UsageError, match="takes no function as its loss"):
        opcheck.scan(f"{file}:net", targets=["ascend-910b"], train=True, loss=torch.sum)


class Drops(nn.Module):
    """A layer, and a tenth of its result dropped, by the operator itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return torch.native_dropout(self.layer(x), 0.1, True)[0]


@pytest.mark.slow
def test_dropout_of_a_layer_passes_by_the_kernel_that_tpus_have_of_it() -> None:
    layer, target = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.1)), "google-tpu-v5e@r2.9"
    for module, code in ((layer, "chosen-by-device"), (Drops(), "tpu-native-dropout")):
        report = opcheck.scan(module.train(), torch.ones(4, 6), targets=[target], train=True)
        codes = {f.op: f.reason.code for f in report.targets[0].findings}
        assert codes["aten::native_dropout"] == code


@pytest.mark.slow
def test_a_scaler_takes_the_step_whatever_the_size_of_the_model(tmp_path: Path) -> None:
    """Small parameters keep their values, and with them whether a gradient is finite."""
    found = []
    for size in (4, 512):
        (tmp_path / f"net{size}.py").write_text(
            f"import torch\n\n\ndef net():\n    return torch.nn.Linear({size}, {size}), "
            f"torch.randn(2, {size})\n"
        )
        step = TrainingSpec.parse(["scaler=true", "optimizer=sgd"])
        spec = ModelSpec(f"{tmp_path}/net{size}.py:net", step=step)
        report = scan_answer.scan(ScanRequest(spec, (TargetSpec("ascend-910b"),)))
        found.append({f.op for f in report.targets[0].findings if f.phase is Phase.OPTIMIZER})
    assert "aten::_foreach_add_.List" in found[0]
    assert found[0] - found[1] <= {"aten::_local_scalar_dense"}
