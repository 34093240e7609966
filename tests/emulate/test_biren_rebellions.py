"""Devices of Biren, Enflame and Rebellions: kernels of PyTorch's own, and float16 beside a host."""

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.emulate.run import emulate_model
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import ModelInfo
from opcheck.model.request import ModelSpec
from opcheck.model.target import TargetSpec
from tests.emulate.matrices import matrix_of


def under_npu(target: str) -> SupportMatrix:
    """A matrix for the device name that this process has; a process can have only one."""
    matrix = matrix_of(target)
    return replace(matrix, target=replace(matrix.target, device_type="npu"))


class Mixed(nn.Module):
    """Elementwise work, a product and sums, a spectrum, and what one of them hands to the host."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(32, 32), nn.LayerNorm(32)

    def forward(self, x: Tensor) -> Tensor:
        y = F.silu(self.linear(x)) * x + x.pow(2) - x.rsqrt()
        y = F.softmax(self.norm(y), -1).clamp(0, 1)
        z = torch.where(y > 0.5, y, -y)
        return (z.mean() + torch.relu(z).sum() + torch.cat([y, z]).max()).sigmoid()


def emulated(target: str, dtype: torch.dtype) -> Emulation:
    matrix = under_npu(target)
    request = EmulationRequest(ModelSpec("tests"), TargetSpec(target), check=True)
    return emulate_model(
        Mixed().to(dtype), (torch.rand(4, 32).to(dtype),), {}, request=request,
        target=matrix.target, matrix=matrix, model=ModelInfo("tests", "live", ""),
        progress=lambda _: None,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize(
    "target", ["biren-br2xx", "biren-br2xx@1.0.0.20600", "enflame-s60", "rebellions-atom"]
)
def test_the_scan_predicts_what_the_device_is_asked_for(target: str, dtype: torch.dtype) -> None:
    agreement = emulated(target, dtype).agreement
    assert agreement is not None
    assert agreement.disagreements == ()
    assert agreement.native > 5


@pytest.mark.slow
def test_what_goes_to_the_host() -> None:
    found = {
        (target, dtype): {seen.op for seen in emulated(target, dtype).host_calls}
        for target in ("biren-br2xx", "rebellions-atom")
        for dtype in (torch.float16, torch.float32)
    }
    assert found["biren-br2xx", torch.float16] == found["biren-br2xx", torch.float32] == set()
    half, wide = (found["rebellions-atom", d] for d in (torch.float16, torch.float32))
    assert half == {
        "aten::addcmul.out", "aten::cat.out", "aten::native_batch_norm", "aten::relu",
        "aten::sum.IntList_out", "aten::where.self",
    }  # fmt: skip
    assert wide - half == {
        "aten::_softmax.out", "aten::add.out", "aten::clamp.out", "aten::gt.Scalar_out",
        "aten::linear", "aten::max", "aten::mean.out", "aten::mul.out", "aten::neg.out",
        "aten::pow.Tensor_Scalar_out", "aten::rsqrt.out", "aten::sigmoid.out", "aten::silu.out",
        "aten::sub.out",
    }  # fmt: skip
