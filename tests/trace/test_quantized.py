"""Tensors with a quantizer end a trace in a gap, and not the process."""

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import opcheck
from opcheck.model.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("ignore")
ROWS = torch.ones(2, 8)


def linear() -> nn.Module:
    return nn.Sequential(
        torch.ao.nn.quantized.Quantize(0.1, 0, torch.quint8),
        torch.ao.nn.quantized.Linear(8, 4),
        torch.ao.nn.quantized.DeQuantize(),
    )


class ByChannel(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        scales, zeros = torch.ones(2), torch.zeros(2, dtype=torch.int64)
        return torch.quantize_per_channel(x, scales, zeros, 0, torch.qint8).dequantize()


@pytest.mark.parametrize("make", [linear, ByChannel])
def test_a_quantized_tensor_is_a_gap(make: Callable[[], nn.Module]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = opcheck.scan(make(), ROWS, targets=["nvidia-a100"])
    (target,) = report.targets
    assert any("quantized tensors are not followed" in gap.reason for gap in report.trace.gaps)
    assert not target.summary.runs


class Rounded(nn.Module):
    """Rounds a tensor to eight bits, and goes on with what that gives."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize()


class Empty(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        made = torch._empty_affine_quantized(
            (2, 8), scale=0.1, zero_point=0, dtype=torch.qint8, device=x.device
        )
        return made.dequantize() + x


def test_what_rounds_a_plain_tensor_is_asked_for() -> None:
    targets = ("apple-mps@2.9.1", "google-tpu-v5e@r2.9", "nvidia-a100@2.9.1")
    report = opcheck.scan(Rounded(), ROWS, targets=targets)
    mps, tpu, cuda = (each.findings for each in report.targets)
    assert [(f.op, f.verdict) for f in cuda] == [("aten::quantize_per_tensor", Verdict.NATIVE)]
    assert [(f.op, f.reason.code) for f in mps] == [("aten::quantize_per_tensor", "no-kernel")]
    (finding,) = tpu
    assert finding.verdict is Verdict.UNSUPPORTED
    assert "a fallback cannot bring its quantized result back" in finding.reason.text
    assert not any(target.summary.runs for target in report.targets)


def test_kernels_with_a_key_of_their_own_are_not_told() -> None:
    report = opcheck.scan(Empty(), ROWS, targets=["nvidia-a100"])
    assert [f.op for f in report.targets[0].findings] == []
    assert any("quantized tensors are not followed" in gap.reason for gap in report.trace.gaps)
