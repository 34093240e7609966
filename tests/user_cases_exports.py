"""Cases from public threads about models that are exported, for ONNX Runtime and OpenVINO."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.test_cases import X
from tests.user_cases import UserCase
from tests.user_cases_known import OLDER_EXPORTER

IMAGE = torch.ones(1, 3, 8, 8)


def _transformed(x: Tensor) -> Tensor:
    return torch.stft(x, 8, return_complex=True, window=torch.ones_like(x[0, :8]))


def _shrunk(x: Tensor) -> Tensor:
    return F.interpolate(x, scale_factor=0.7, mode="bilinear", antialias=True)


def _shrunk_to_size(x: Tensor) -> Tensor:
    return F.interpolate(x, size=5, mode="bilinear", antialias=True)


def _aligned(x: Tensor) -> Tensor:
    return F.interpolate(x, size=5, mode="bicubic", antialias=True, align_corners=True)


def _sampled(x: Tensor, grid: Tensor) -> Tensor:
    return F.grid_sample(x, grid, align_corners=False)


EXPORTS = (
    UserCase(
        "stft for OpenVINO", "OpenVINO has no conversion rule for `stft`",
        ("openvinotoolkit/openvino#26116",),
        _transformed, (X.view(1, 24),), "aten::stft", {"openvino-cpu": "no-converter"},
    ),
    UserCase(
        "rfft for OpenVINO", "OpenVINO converts no exported program with Fourier transforms",
        ("openvinotoolkit/openvino#36119",),
        torch.fft.rfft, (X,), "aten::fft_rfft", {"openvino-cpu": "no-converter"},
    ),
    UserCase(
        "antialiasing by a scale", "antialiased resizing by a scale gives other values in ONNX",
        ("microsoft/onnxscript#2916",),
        _shrunk, (IMAGE,), "aten::_upsample_bilinear2d_aa.vec",
        {"onnxruntime-cpu": "onnxruntime-antialiased-scale"},
        mended="the thread, and real exports of both",
    ),
    UserCase(
        "antialiasing with align_corners", "so does antialiased resizing with `align_corners`",
        ("microsoft/onnxscript#2916",),
        _aligned, (IMAGE,), "aten::_upsample_bicubic2d_aa.vec",
        {"onnxruntime-cpu": "onnxruntime-antialiased-scale"},
        mended="the thread, and real exports of both",
    ),
    UserCase(
        "antialiasing to a size", "antialiased resizing to a size is right since onnxscript#2916",
        ("pytorch/pytorch#183546", "pytorch/pytorch#157220", "pytorch/pytorch#148840"),
        _shrunk_to_size, (IMAGE,), "aten::_upsample_bilinear2d_aa.vec",
        {"onnxruntime-cpu": "decomposes"}, OLDER_EXPORTER,
    ),
    UserCase(
        "grid_sample of volumes", "`grid_sample` of a volume is not exported before opset 20",
        ("pytorch/pytorch#100790", "microsoft/onnxruntime#16581"),
        _sampled, (X.view(1, 1, 2, 3, 4), torch.zeros(1, 2, 2, 2, 3)), "aten::grid_sampler",
        {"onnxruntime-cpu": "registered", "openvino-cpu": "no-converter"}, OLDER_EXPORTER,
    ),
)  # fmt: skip
