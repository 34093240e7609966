"""Moore Threads' device: no host fallback, kernels for whole composites, lazy copies."""

from pathlib import Path

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

import opcheck
from opcheck.emulate.run import emulate_model
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import ModelInfo
from opcheck.model.request import ModelSpec, TrainingSpec
from opcheck.model.target import TargetSpec
from tests.emulate.matrices import matrix_of


def under_npu(target: str) -> SupportMatrix:
    """A matrix for the device name that this process has; a process can have only one."""
    matrix = matrix_of(target)
    return replace(matrix, target=replace(matrix.target, device_type="npu"))


class Mixed(nn.Module):
    """Attention, spectra, lazy conjugates, recurrence, and what some releases lack or refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.GroupNorm(2, 8)])
        self.scale = nn.RMSNorm(8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        for norm in self.norms:
            y = norm(y)
        y = self.scale(y.flatten(2).transpose(1, 2))
        y, _ = self.lstm(y)
        y = F.scaled_dot_product_attention(y[None], y[None], y[None])[0]
        y = y / y.std(-1, keepdim=True) + torch.cumprod(y.sigmoid(), -1)
        spectrum = torch.fft.rfft(y)
        power = torch.view_as_real(spectrum * spectrum.conj())
        mean = y.detach().double().mul(2).sum().to("cpu", non_blocking=True)
        return power.sum() + F.avg_pool1d(y, 2).sum() + mean.to(y)


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
    ["moorethreads-s5000", "moorethreads-s4000@2.0.0", "moorethreads-s80@1.2.1"],
)
def test_the_scan_predicts_what_the_device_is_asked_for(target: str, train: bool) -> None:
    agreement = emulated(target, train=train).agreement
    assert agreement is not None
    assert agreement.disagreements == ()
    assert agreement.native >= 20


@pytest.mark.slow
def test_what_releases_lack_and_compute_on_the_host() -> None:
    found = {
        release: emulated(f"moorethreads-s4000@{release}", train=False)
        for release in ("1.2.1", "1.3.0", "1.3.2", "2.7.1")
    }
    refused = {
        release: {refusal.op for refusal in ran.refusals if refusal.reason.code == "no-kernel"}
        for release, ran in found.items()
    }
    assert refused == {
        "1.2.1": {
            "aten::_fft_r2c", "aten::_thnn_fused_lstm_cell", "aten::cumprod.out",
            "aten::std.correction",
        },
        "1.3.0": {"aten::_fft_r2c", "aten::_thnn_fused_lstm_cell", "aten::std.correction"},
        "1.3.2": {"aten::_fft_r2c", "aten::_thnn_fused_lstm_cell"},
        "2.7.1": set(),
    }  # fmt: skip
    product = next(r for r in found["1.3.2"].refusals if r.op == "aten::mul.Tensor")
    assert product.reason.code == "dtype-not-supported"
    assert "complex64" in product.reason.text
    assert {call.op for call in found["2.7.1"].host_calls} == {"aten::fft_rfft", "aten::mul.Tensor"}


@pytest.mark.slow
def test_a_missing_operator_raises_pytorchs_words_where_it_is_called() -> None:
    with opcheck.emulate(under_npu("moorethreads-s4000@1.3.0")) as device:
        x = torch.randn(4, 8).to(device)
        with pytest.raises(NotImplementedError) as caught:
            x.std(unbiased=False)
    assert str(caught.value) == (
        "Could not run 'aten::std.correction' with arguments from the 'npu' backend."
    )
    assert Path(caught.traceback[0].path) == Path(__file__)


@pytest.mark.slow
def test_lazy_tensors_are_copied_as_they_are() -> None:
    """Neither ``clone`` nor ``copy_`` is the device's own: ``_copy_from`` takes the conjugate."""
    z = torch.complex(torch.arange(4.0), torch.ones(4))
    with opcheck.emulate(under_npu("moorethreads-s5000")) as device:
        turned = z.to(device).conj()
        assert torch.equal(turned.cpu(), z.conj())
        assert torch.equal((turned * turned).cpu(), z.conj() * z.conj())
        assert torch.equal(turned.imag.neg().clone().cpu(), z.imag)
