"""Cambricon's device: composites of its own at the Autograd key, refusals and cautions."""

import subprocess

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.emulate.run import emulate_model
from opcheck.emulate.session import Emulator
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import ModelInfo
from opcheck.model.request import ModelSpec, TrainingSpec
from opcheck.model.target import TargetSpec
from tests.emulate.matrices import matrix_of
from tests.preloaded import python


def under_npu(target: str) -> SupportMatrix:
    """A matrix for the device name that this process has; a process can have only one."""
    matrix = matrix_of(target)
    return replace(matrix, target=replace(matrix.target, device_type="npu"))


class Mixed(nn.Module):
    """Overridden composites, out= kernels that resize, and uses that some chip refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norms = nn.ModuleList([nn.BatchNorm2d(4), nn.GroupNorm(2, 4)])
        self.lstm = nn.LSTM(4, 8, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        for norm in self.norms:
            y = norm(y)
        grid = torch.zeros(1, 6, 6, 2, device=x.device)
        y = y + F.grid_sample(y, grid, padding_mode="border", align_corners=False)
        ids = torch.arange(6, device=x.device)
        y = y.repeat(1, 1, 2, 1).masked_fill((ids.maximum(ids) == 3)[None, None, None], 0)
        torch.nanmedian(y.detach(), dim=1)
        torch.complex(y, y).exp()
        torch.cdist(y[0, 0], y[0, 1], p=1.0)
        y.detach().to(torch.bfloat16).mul(2)
        out, _ = self.lstm(y.flatten(2).transpose(1, 2))
        heads = out[None]
        mixed = F.scaled_dot_product_attention(heads, heads, heads)
        return F.log_softmax(mixed @ heads.transpose(-1, -2), -1).sum()


def emulated(target: str, *, train: bool) -> Emulation:
    matrix = under_npu(target)
    request = EmulationRequest(
        ModelSpec("tests", step=TrainingSpec() if train else None), TargetSpec(target), check=True
    )
    model = ModelInfo("tests", "live", "")
    return emulate_model(
        Mixed(), (torch.randn(1, 3, 8, 8),), {}, request=request, target=matrix.target,
        matrix=matrix, model=model, progress=lambda _: None,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("train", [False, True], ids=["inference", "train"])
@pytest.mark.parametrize(
    "target",
    ["cambricon-mlu370", "cambricon-mlu590", "cambricon-mlu590@r1.22_pt2.1.0"],
)
def test_the_scan_predicts_what_the_device_is_asked_for(target: str, train: bool) -> None:
    agreement = emulated(target, train=train).agreement
    assert agreement is not None
    assert agreement.disagreements == ()
    assert agreement.native > 20
    assert agreement.missing > 0


@pytest.mark.slow
def test_what_the_chips_refuse_and_narrow() -> None:
    refused, cautioned = {}, {}
    for chip in ("mlu370", "mlu590"):
        ran = emulated(f"cambricon-{chip}", train=False)
        refused[chip] = {found.op for found in ran.refusals}
        cautioned[chip] = {(found.op, found.reason.code) for found in ran.cautions}
    assert refused["mlu590"] == {"aten::exp", "aten::grid_sampler_2d"}
    assert refused["mlu370"] - refused["mlu590"] == {
        "aten::copy_", "aten::empty_strided", "aten::mul.Tensor"
    }  # fmt: skip
    narrowed = ("aten::maximum", "int64-narrowed-to-int32")
    assert cautioned["mlu590"] == {narrowed, ("aten::_convolution", "float32-computed-as-tf32")}
    attention = ("aten::scaled_dot_product_attention", "attention-not-fused")
    assert cautioned["mlu370"] - cautioned["mlu590"] == {attention}


TIED = """
import torch, opcheck
from torch import nn

class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.embed(ids))

for target in ("cambricon-mlu590", "cambricon-mlu370", "cambricon-mlu590@r1.22_pt2.1.0"):
    with opcheck.emulate(target):
        model = Tied()
        weight = model.embed.weight
        model.to("mlu")(torch.tensor([1, 2]).to("mlu")).sum().backward()
        print(
            model.head.weight is model.embed.weight, model.embed.weight is weight,
            model.embed.weight.grad.device, torch.mlu.get_device_name(),
            torch.mlu.is_bf16_supported(),
        )
"""


@pytest.mark.slow
def test_tied_parameters_stay_tied_where_the_vendor_says_that_tensors_may_move() -> None:
    """It does from torch 2.3 on; without, PyTorch gives the device parameters of their own."""
    ran = subprocess.run([*python("torch"), "-c", TIED], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "True True mlu:0 MLU590 True",
        "True True mlu:0 MLU370 False",
        "False False mlu:0 MLU590 True",
    ]


@pytest.mark.parametrize("kind", [nn.BatchNorm2d, nn.InstanceNorm2d])
def test_a_backward_leaves_the_statistics_of_a_norm_as_the_forward_did(
    kind: type[nn.BatchNorm2d | nn.InstanceNorm2d],
) -> None:
    host, norm = (kind(3, affine=True, track_running_stats=True) for _ in range(2))
    x, weight = torch.randn(2, 4, 3, 5, 5, generator=torch.Generator().manual_seed(0))
    with Emulator(under_npu("cambricon-mlu590"), stop=False) as device:
        norm.to(device)
        for net, place in ((host, torch.device("cpu")), (norm, device)):
            for _ in range(2):
                (net(x.to(place)) * weight.to(place)).sum().backward()
        found = {name: value.cpu() for name, value in norm.state_dict().items()}
        assert norm.weight.grad is not None
        torch.testing.assert_close(norm.weight.grad.cpu(), host.weight.grad)
    torch.testing.assert_close(found, dict(host.state_dict()))
