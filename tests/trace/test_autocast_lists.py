"""Under autocast a scan casts what the vendor's own lists name, as the vendor's device does."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

import opcheck
from opcheck.device_types import works
from opcheck.trace import trace_model
from opcheck.trace.torch_internals.autocast_casts import UPSTREAM
from tests.emulate.matrices import matrix_of

RESIZE = "aten::upsample_bilinear2d"


class Resized(nn.Module):
    """torch_npu leaves a resize in half, where PyTorch's own lists for CUDA do not."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, torch.float16):
            return F.interpolate(self.conv(x), scale_factor=2.0, mode="bilinear")


X = torch.ones(1, 3, 4, 4)


def resized(target: str) -> str:
    """The dtype that the resize is given in a scan for a target."""
    (work,) = works([matrix_of(target)])
    trace = trace_model(
        Resized(), (X,), {}, device_type=work.device_type, casts=work.casts, autocast=work.autocast
    )
    (resize,) = (node for node in trace.nodes if str(node.op) == RESIZE)
    return resize.tensors()[0][1].dtype


@pytest.mark.parametrize(
    ("target", "dtype"), [("ascend-910b", "float16"), ("nvidia-a100", "float32")]
)
def test_a_vendors_own_lists_say_what_is_cast(target: str, dtype: str) -> None:
    assert resized(target) == dtype


@pytest.mark.slow
def test_the_device_casts_the_same() -> None:
    with opcheck.emulate("ascend-910b", stop=False) as device:
        result = Resized().to(device)(X.to(device))
    assert str(result.dtype) == f"torch.{resized('ascend-910b')}"


def test_targets_of_one_type_share_the_lists_that_they_have_in_common() -> None:
    npu, mlu = matrix_of("ascend-910b"), matrix_of("cambricon-mlu590")
    first, second = works([npu, matrix_of("ascend-310p"), mlu])
    assert (first.device_type, dict(first.autocast)) == ("npu", dict(npu.autocast))
    assert (second.device_type, dict(second.autocast)) == ("mlu", dict(mlu.autocast))
    assert "aten::upsample_bilinear2d" in UPSTREAM["fp32"]
    assert "aten::upsample_bilinear2d" not in npu.autocast["fp32"]
    (of_cuda,) = works([matrix_of("nvidia-a100")])
    assert not of_cuda.autocast
