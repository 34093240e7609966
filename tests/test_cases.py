"""What users met on Ascend, each as a small model: the scan must say so, with the right reason."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import opcheck
from opcheck.model.verdict import Verdict

NEW, A2_OLD, OLD_CHIP = "ascend-910b", "ascend-910b@5.0.0", "ascend-910a"
NATIVE, DECOMPOSED = Verdict.NATIVE, Verdict.DECOMPOSED
FALLBACK, UNSUPPORTED = Verdict.FALLBACK, Verdict.UNSUPPORTED


class Call(nn.Module):
    """A model of one call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


IMAGE = torch.ones(2, 3, 8, 8)
IDS = torch.arange(4)
ROTATIONS = torch.ones(4, 4, dtype=torch.complex64)


def doubled_angles(x: Tensor) -> Tensor:
    angles = torch.arange(4, dtype=torch.float64, device=x.device)
    return angles.cos().repeat_interleave(2)


@pytest.mark.parametrize(
    ("function", "inputs", "target", "op", "verdict", "code"),
    [
        # generate() of transformers on torch_npu 2.1: a fallback, then an AICPU exception
        (lambda x: torch.isin(x, x[:2]), (IDS,), A2_OLD, "isin.Tensor_Tensor", FALLBACK,
         "host-fallback"),
        (lambda x: torch.isin(x, x[:2]), (IDS,), NEW, "isin.Tensor_Tensor", NATIVE, "registered"),
        # rotary embeddings kept as complex numbers
        (lambda x, i: x.gather(0, i), (ROTATIONS, torch.zeros(2, 4, dtype=torch.int64)), NEW,
         "gather", UNSUPPORTED, "dtype-not-supported"),
        (lambda x, i: x[i], (ROTATIONS, IDS), NEW, "index.Tensor", UNSUPPORTED,
         "dtype-not-supported"),
        (lambda x: x * x, (ROTATIONS.to(torch.complex128),), NEW, "mul.Tensor", NATIVE,
         "runs-on-aicpu"),
        (lambda x: torch.polar(x, x), (IMAGE,), OLD_CHIP, "polar", UNSUPPORTED,
         "complex-needs-jit-compile-off"),
        # angles in float64 (diffusers)
        (doubled_angles, (IMAGE,), NEW, "repeat_interleave.self_int", UNSUPPORTED,
         "dtype-not-supported"),
        (lambda x: x.double(), (IMAGE,), NEW, "to.dtype", DECOMPOSED, "float64-becomes-float32"),
        # half precision of the newer chips on the older ones
        (lambda x: x + x, (IMAGE.bfloat16(),), OLD_CHIP, "add.Tensor", UNSUPPORTED,
         "dtype-not-supported"),
        (lambda x: x + x, (IMAGE.bfloat16(),), NEW, "add.Tensor", NATIVE, "registered"),
        # kernels that are listed and compute on the host
        (lambda x: functional.interpolate(x, scale_factor=2, mode="bicubic", antialias=True),
         (IMAGE,), OLD_CHIP, "_upsample_bicubic2d_aa.vec", FALLBACK, "computed-on-host"),
        (lambda x: x.logit(), (IMAGE,), OLD_CHIP, "logit", FALLBACK, "computed-on-host"),
        (lambda x: x.logit(), (IMAGE,), NEW, "logit", NATIVE, "registered"),
        (lambda x: x.std(0), (IMAGE,), NEW, "std.dim", DECOMPOSED, "may-run-on-host"),
        # spectra
        (lambda x: torch.fft.rfft(x), (IMAGE,), A2_OLD, "fft_rfft", FALLBACK, "host-fallback"),
        (lambda x: torch.stft(x.flatten(), 8, return_complex=True), (IMAGE,), OLD_CHIP, "stft",
         UNSUPPORTED, "complex-needs-jit-compile-off"),
        # what other devices lack and Ascend has
        (lambda x: functional.adaptive_avg_pool2d(x, 3), (IMAGE,), NEW, "adaptive_avg_pool2d",
         NATIVE, "registered"),
        (lambda x: torch.einsum("bchw,bdhw->bcd", x, x), (IMAGE,), NEW, "einsum", DECOMPOSED,
         "decomposes"),
        (lambda x: torch.roll(x, 1, 0), (IMAGE,), NEW, "roll", NATIVE, "registered"),
    ],
)  # fmt: skip
def test_case(
    function: Callable[..., Any],
    inputs: tuple[Tensor, ...],
    target: str,
    op: str,
    verdict: Verdict,
    code: str,
) -> None:
    report = opcheck.scan(Call(function), inputs, targets=[target]).targets[0]
    found = {f.op: (f.verdict, f.reason.code) for f in report.findings}
    assert found[f"aten::{op}"] == (verdict, code)


def test_mask_index_is_sized_for_every_element() -> None:
    report = opcheck.scan(Call(lambda x: x[x > 0] * 2), (torch.ones(70, 70),), targets=[NEW])
    product = next(f for f in report.targets[0].findings if f.op == "aten::mul.Tensor")
    assert product.uses[0].inputs[0] == "self: float32[4900]"
