"""Models that import a vendor's own plugin, which is not installed: from the file to the report."""

from pathlib import Path

import pytest

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.model.report import Report
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec

MODEL = """\
import torch
import torch_npu
from torch import nn
from torch_npu.contrib import transfer_to_npu

torch_npu.npu.set_compile_mode(jit_compile=False)
assert not torch.npu.is_available()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(8))

    def forward(self, x):
        x = torch_npu.npu_rms_norm(x, self.gamma)[0]
        return torch.relu(x) if torch.npu.is_available() else torch.tanh(x)


class Moving(Net):
    def forward(self, x):
        return super().forward(x.npu())


def net():
    return Net(), torch.randn(2, 4, 8)


def moving():
    return Moving(), torch.randn(2, 4, 8)


def moved():
    return Net().npu(), torch.randn(2, 4, 8)


def there():
    return Net(), torch.randn(2, 4, 8, device="npu")
"""


def scanned(tmp_path: Path, entry: str, *targets: str) -> Report:
    (tmp_path / "net.py").write_text(MODEL)
    asked = tuple(TargetSpec.parse(target) for target in targets)
    return scan_answer.scan(ScanRequest(ModelSpec(f"{tmp_path}/net.py:{entry}"), asked))


@pytest.mark.slow
def test_the_vendor_s_own_operators_run_there_and_nowhere_else(tmp_path: Path) -> None:
    report = scanned(tmp_path, "net", "ascend-910b", "cambricon-mlu370", "nvidia-a100")
    found = [
        {finding.op: finding.verdict.value for finding in target.findings}
        for target in report.targets
    ]
    assert found == [
        {"aten::relu": "native", "npu::npu_rms_norm": "native"},
        {"aten::tanh": "native", "npu::npu_rms_norm": "unsupported"},
        {"aten::tanh": "native", "npu::npu_rms_norm": "unsupported"},
    ]
    assert report.trace.gaps == ()
    said = "torch_npu is not installed here; what is known of it is taken from the database"
    assert said in report.trace.notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "gaps"),
    [
        ("ascend-910b", []),
        ("cambricon-mlu370", ["names the device 'npu'; traced as if it said 'mlu'"]),
        ("nvidia-a100", ["names the device 'npu'; traced as if it said 'cuda'"]),
    ],
)
def test_a_device_of_another_vendor_is_told_of_as_cuda_is(
    target: str, gaps: list[str], tmp_path: Path
) -> None:
    report = scanned(tmp_path, "moving", target)
    assert [gap.reason for gap in report.trace.gaps] == gaps


@pytest.mark.parametrize("entry", ["moved", "there"])
def test_a_model_on_a_device_that_is_not_here_is_to_be_built_on_the_cpu(
    entry: str, tmp_path: Path
) -> None:
    with pytest.raises(SourceError) as raised:
        scanned(tmp_path, entry, "ascend-910b")
    assert raised.value.hint == "build the model on the CPU: leave out .npu() and device='npu'"
