"""What users of libraries met on a Mac: images, metrics, processes, equations, splines, series."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Kornia or torchvision transforms v2 on MPS or XPU tensors: warp, rotate, equalize, "
    "gaussian_blur error or wrong result",
    "torchmetrics metric fails on mps or xpu or npu device: bincount, histogram, searchsorted, "
    "float64",
    "GPyTorch or BoTorch or Pyro or NumPyro Gaussian process on Apple mps: cholesky, float64 not "
    "supported",
    "TabPFN or pytorch-tabular or TabNet on mps or xpu device fails operator",
    "torchdiffeq neural ODE or PINN second derivative on mps or xpu: double backward fails",
    "Mamba selective scan or RWKV in pure PyTorch on mps or npu or xpu: cumsum, associative scan, "
    "error",
    "KAN or spline network torch.linalg.lstsq on mps or xpu or rocm not implemented",
    "EasyOCR or docTR or TrOCR or Surya OCR on Apple mps or Ascend npu error operator",
    "spiking neural network snnTorch spikingjelly on mps or xpu or npu error",
    "MPS workaround in a library: complex tensors repeat, polar, view_as_complex, conj or angle "
    "fail, use real numbers instead",
    "qr, slogdet, inverse or lu on Apple mps not implemented in physics or quantum or robotics "
    "library",
    "pytorch-forecasting, darts, GluonTS or neuralforecast training on Apple M1 mps RuntimeError "
    "operator",
)
APPLE = "apple-mps"
FALLBACK = {"PYTORCH_ENABLE_MPS_FALLBACK": "1"}
SQUARE = torch.eye(4) * 2
ANGLES = torch.ones(1, 4, 8, dtype=torch.complex64)
LINEAR = ("aten::linear", "aten::linear_backward", "aten::mm", "aten::addmm")


def _brighter(picture: Tensor) -> Tensor:
    image = picture.permute(2, 0, 1).unsqueeze(0)
    return (image + torch.zeros(1, 1, 1, 1, device=picture.device)).clamp(0.0, 1.0)


def _selective(u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    delta = F.softplus(delta)
    decay = torch.exp(torch.einsum("bdl,dn->bdln", delta, a))
    fed = torch.einsum("bdl,bnl,bdl->bdln", delta, b, u)
    state = torch.zeros_like(fed[:, :, 0])
    seen = []
    for step in range(u.shape[2]):
        state = decay[:, :, step] * state + fed[:, :, step]
        seen.append(torch.einsum("bdn,bn->bd", state, c[:, :, step]))
    return torch.stack(seen, dim=2)


class _Solution(nn.Module):
    """A network whose loss is made of its derivative by its input."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x: Tensor) -> Tensor:
        with torch.enable_grad():
            at = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(self.layers(at).sum(), at, create_graph=True)
            return slope.square().mean()


class _Matched(nn.Module):
    """Three layers whose gradients by two batches are to be the same."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        with torch.enable_grad():
            weights = tuple(self.parameters())
            one = torch.autograd.grad(self.layers(x).square().sum(), weights, create_graph=True)
            two = torch.autograd.grad(self.layers(y).square().sum(), weights, create_graph=True)
            return torch.stack(
                [(a - b).square().sum() for a, b in zip(one, two, strict=True)]
            ).sum()


class _FastLearner(nn.Module):
    """A step of learning inside of the loss, as MAML does."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(10, 5), nn.Linear(5, 1)

    def _scored(self, x: Tensor, *weights: Tensor) -> Tensor:
        hidden = F.linear(x, weights[0], weights[1]).relu()
        return F.linear(hidden, weights[2], weights[3]).square().mean()

    def forward(self, x: Tensor) -> Tensor:
        with torch.enable_grad():
            weights = tuple(self.parameters())
            slopes = torch.autograd.grad(self._scored(x, *weights), weights, create_graph=True)
            moved = (w - 0.1 * s for w, s in zip(weights, slopes, strict=True))
            return self._scored(x, *moved)


class _Spiking(nn.Module):
    """Leaky neurons that fire over five steps."""

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        charge = torch.zeros(x.shape[0], 4, device=x.device)
        fired = []
        for _ in range(5):
            spike = (charge > 1.0).float()
            charge = 0.9 * charge + self.read(x) - spike
            fired.append(spike)
        return torch.stack(fired).sum(0)


def _angles(x: Tensor) -> Tensor:
    return x.repeat(1, 2, 1)


def _stretched(x: Tensor) -> Tensor:
    return F.interpolate(x, size=24, mode="linear")


def _stretched_to_the_corners(x: Tensor) -> Tensor:
    return F.interpolate(x, size=24, mode="linear", align_corners=True)


def _double(x: Tensor) -> Any:
    return torch.tensor([0.25, 0.5], dtype=torch.float64, device=x.device) * x


# fmt: off
REPORTS = (
    Report(
        "MPS: a picture of NumPy brighter", "kornia/kornia#2325", 0,
        "`adjust_brightness` by nothing gives the pixels of a permuted image in another order",
        f"{APPLE}@2.0.1", Met.WRONG, Because.LAYOUT, _brighter,
        (torch.arange(12.0).view(2, 2, 3) / 20,), ("aten::add.Tensor", "aten::clamp"),
    ),
    Report(
        "MPS: metrics of Ignite", "pytorch/ignite#3326", 1,
        "precision and recall are counted in float64, which the framework does not support",
        f"{APPLE}@2.6.0", Met.REFUSED, Because.DTYPE, lambda x: x.to(torch.float64),
        (torch.ones(4),), ("aten::to.dtype", "aten::_to_copy"),
    ),
    Report(
        "MPS: thresholds padded", "Lightning-AI/torchmetrics#1727", 1,
        "`pad` of 2**17 int64 numbers by one more is wrong on an M3 with torch 2.2.1",
        f"{APPLE}@2.2.2", Met.WRONG, Because.SHAPE, lambda x: F.pad(x, [0, 1], value=2),
        (torch.arange(2**17),), ("aten::pad", "aten::constant_pad_nd"),
    ),
    Report(
        "MPS: posteriors of sbi", "sbi-dev/sbi#912", 2,
        "`linalg.cholesky` is not implemented and runs on the CPU, where falling back is on",
        f"{APPLE}@2.1.2", Met.ON_THE_HOST, Because.NO_KERNEL, torch.linalg.cholesky, (SQUARE,),
        ("aten::linalg_cholesky", "aten::linalg_cholesky_ex"), environment=FALLBACK,
    ),
    Report(
        "MPS: parameters of Ax", "facebook/Ax#4031", 2,
        "observed parameters are made a tensor of doubles, which the framework does not support",
        f"{APPLE}@2.7.1", Met.REFUSED, Because.DTYPE, _double, (torch.ones(2),),
        ("aten::to", "aten::_to_copy", "aten::lift_fresh", "aten::mul.Tensor"),
    ),
    Report(
        "MPS: TabNet of R", "mlverse/tabnet#135", 3,
        "`nan_to_num` is not implemented, with the libtorch 2.0 of R's torch",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, torch.nan_to_num, (torch.ones(4),),
        ("aten::nan_to_num",),
    ),
    Report(
        "MPS: a network that solves an equation", "pytorch/pytorch#105834", 4,
        "the derivative of linear_backward is not implemented: no second derivatives in 2.0",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, _Solution(), (torch.ones(4, 2),),
        LINEAR, training=True,
    ),
    Report(
        "MPS: gradients that are to match", "pytorch/pytorch#108409", 4,
        "the derivative of linear_backward is not implemented, for a loss made of gradients",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, _Matched(),
        (torch.ones(2, 3), torch.zeros(2, 3)), LINEAR, training=True,
    ),
    Report(
        "MPS: a step of MAML", "pytorch/pytorch#98498", 4,
        "a linear layer has no second derivative, where a step of learning is learned through",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, _FastLearner(), (torch.ones(10, 10),),
        LINEAR, training=True,
    ),
    Report(
        "MPS: Mamba in plain PyTorch", "state-spaces/mamba#265", 5,
        "the reference of the selective scan runs on an M1 with torch 2.2.1",
        f"{APPLE}@2.2.2", Met.WORKS, Because.OTHER, _selective,
        (torch.ones(1, 4, 6), torch.ones(1, 4, 6), -torch.ones(4, 3), torch.ones(1, 3, 6),
         torch.ones(1, 3, 6)),
        ("aten::einsum", "aten::softplus", "aten::exp", "aten::stack", "aten::mul.Tensor"),
    ),
    Report(
        "MPS: coefficients of a KAN", "KindXiaoming/pykan#199", 6,
        "`linalg.lstsq` is not implemented in May 2024",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.NO_KERNEL, torch.linalg.lstsq,
        (SQUARE, torch.ones(4, 1)), ("aten::linalg_lstsq",),
    ),
    Report(
        "MPS: least squares", "pytorch/pytorch#185954", 6,
        "`linalg.lstsq` has no kernel: a pull request of June 2026 writes it",
        f"{APPLE}@2.12.1", Met.REFUSED, Because.NO_KERNEL, torch.linalg.lstsq,
        (SQUARE, torch.ones(4, 1)), ("aten::linalg_lstsq",),
    ),
    Report(
        "MPS: Nougat", "facebookresearch/nougat#61", 7,
        "`erfinv` is not implemented in September 2023",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, torch.erfinv, (torch.ones(4) / 2,),
        ("aten::erfinv",),
    ),
    Report(
        "MPS: neurons that fire", "jeshraghian/snntorch#247", 8,
        "the tutorials of snnTorch run with no problem in October 2023",
        f"{APPLE}@2.1.2", Met.WORKS, Because.OTHER, _Spiking(), (torch.ones(2, 8),),
        ("aten::gt.Scalar", "aten::linear", "aten::sub.Tensor", "aten::stack", "aten::sum"),
        training=False,
    ),
    Report(
        "MPS: angles of SAM 2 repeated", "kijai/ComfyUI-segment-anything-2#80", 9,
        "repeat(): Not supported for complex yet, in September 2025",
        f"{APPLE}@2.8.0", Met.REFUSED, Because.DTYPE, _angles, (ANGLES,), ("aten::repeat",),
    ),
    Report(
        "MPS: angles in polar form", "pytorch/pytorch#107324", 9,
        "`polar` is not there, nor complex tensors: a pull request of August 2023 writes it",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, torch.polar,
        (torch.ones(4), torch.ones(4)), ("aten::polar",),
    ),
    Report(
        "MPS: complex determinants", "pytorch/pytorch#187763", 10,
        "`slogdet` of complex64 is not supported: a pull request of June 2026 writes it",
        f"{APPLE}@2.12.1", Met.REFUSED, Because.DTYPE, torch.linalg.slogdet,
        (SQUARE.to(torch.complex64),),
        ("aten::linalg_slogdet", "aten::_linalg_slogdet", "aten::linalg_lu_factor_ex"),
    ),
    Report(
        "MPS: qr for FLUX", "pytorch/pytorch#177370", 10,
        "`linalg.qr` is not implemented in March 2026",
        f"{APPLE}@2.10.0", Met.REFUSED, Because.NO_KERNEL, torch.linalg.qr, (SQUARE,),
        ("aten::linalg_qr",),
    ),
    Report(
        "MPS: NHITS", "Nixtla/neuralforecast#709", 11,
        "`upsample_linear1d` is not implemented in July 2023",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, _stretched, (torch.ones(2, 1, 6),),
        ("aten::upsample_linear1d",),
    ),
    Report(
        "MPS: samples of DeepAR", "autogluon/autogluon#3534", 11,
        "`_standard_gamma`, of which Student's distribution makes samples, is not implemented",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, torch._standard_gamma,
        (torch.ones(4),), ("aten::_standard_gamma",),
    ),
    Report(
        "MPS: a temporal fusion transformer", "sktime/pytorch-forecasting#1373", 11,
        "`upsample_linear1d` is not implemented in torch 2.0.1",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, _stretched_to_the_corners,
        (torch.ones(2, 1, 6),), ("aten::upsample_linear1d",),
    ),
    Report(
        "MPS: medians without NaN", "Nixtla/neuralforecast#1266", 11,
        "`nanmedian` along a dimension is not implemented in torch 2.6",
        f"{APPLE}@2.6.0", Met.REFUSED, Because.NO_KERNEL, lambda x: torch.nanmedian(x, dim=1),
        (torch.ones(2, 5),), ("aten::nanmedian.dim",),
    ),
)
# fmt: on
_LEFT_OUT = {
    Why.KNOWN: """
        kornia/kornia#2224 pytorch/vision#45 pytorch/pytorch#176879 pytorch/pytorch#195076
        pytorch/pytorch#195446 pytorch/pytorch#184779 pytorch/pytorch#96652 pytorch/pytorch#111173
        cornellius-gp/gpytorch#2209 cornellius-gp/gpytorch#2748 meta-pytorch/botorch#2724
        alan-turing-institute/autoemulate#690 pytorch/pytorch#77764 pytorch/pytorch#113062
        pytorch/pytorch#88308 pytorch/pytorch#195218 pytorch/pytorch#156241 pytorch/pytorch#88319
        pytorch/pytorch#131892 pytorch/pytorch#141287 pytorch/pytorch#118362 datalab-to/surya#216
        deepseek-ai/DeepSeek-OCR#163 xiumaoprompt/DeepSeek-OCR_macOS#4 open-mmlab/mmocr#1680
        pytorch/pytorch#188473 pytorch/pytorch#187107 pytorch/pytorch#165871 pytorch/pytorch#167238
        Nixtla/neuralforecast#620 pytorch/pytorch#77754 amazon-science/chronos-forecasting#141
        sktime/pytorch-forecasting#1768
    """,
    Why.NO_CALL: """
        juliendenize/torchaug#20 kornia/kornia#4521 kornia/kornia#2812 pytorch/vision#8573
        jina-ai/jina-hub#7987 PriorLabs/TabPFN#518 PriorLabs/TabPFN#523 tidymodels/tabpfn#2
        mjacar/pytorch-trpo#13 martenlienen/torchode#36 pytorch/pytorch#95408
        johnma2006/mamba-minimal#18 state-spaces/mamba#110 NVIDIAGameWorks/kaolin#353
        huggingface/transformers#43737 KindXiaoming/pykan#300 datalab-to/surya#207
        JaidedAI/EasyOCR#1004 Ucas-HaoranWei/GOT-OCR2.0#297 docling-project/docling#286
        ndl-lab/ndlocr-lite#54 jeshraghian/snntorch#202 jeshraghian/snntorch#200
        fangwei123456/spikingjelly#242 fangwei123456/spikingjelly#129
        fangwei123456/spikingjelly#632 cwq159/PyTorch-Spiking-YOLOv3#26
        fangwei123456/spikingjelly#210 fangwei123456/spikingjelly#428
        fangwei123456/spikingjelly#249 ECNU-Cross-Innovation-Lab/Mamba-Spike#1
        fangwei123456/spikingjelly#46 espnet/espnet#6705
    """,
    Why.NO_PROGRAM: """
        Lightning-AI/torchmetrics#3299 alan-turing-institute/deepsensor#42 mlverse/tabnet#144
        mlverse/tabnet#141 PriorLabs/TabPFN#50 mlverse/tabnet#140 PriorLabs/TabPFN#270
        pytorch/pytorch#190557 opendatalab/PDF-Extract-Kit#23 awslabs/gluonts#3020
    """,
    Why.NO_TARGET: """
        pytorch/vision#7096 Lightning-AI/torchmetrics#1196 jax-ml/jax#16321 pytorch/pytorch#92206
        pytorch/pytorch#83386 pytorch/pytorch#88893 pytorch/pytorch#35563 pytorch/pytorch#41252
        pytorch/pytorch#38458 mratsim/Arraymancer#599 PaddlePaddle/community#364
        ml-explore/mlx#1484 mratsim/Arraymancer#633 pytorch/pytorch#35312 pytorch/pytorch#86549
    """,
    Why.OTHERS: """
        InfiniTensor/InfiniCore#1341
    """,
    Why.UNCONFIRMED: """
        pytorch/vision#8401 DanielAvdar/tabnet#269 dreamquark-ai/tabnet#561 datalab-to/marker#993
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
