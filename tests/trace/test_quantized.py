"""Tensors with a quantizer end a trace in a gap, and not the process."""

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import opcheck

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
