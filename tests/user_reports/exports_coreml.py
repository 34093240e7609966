"""What users of Core ML met who converted models, by searches of threads about coremltools.

Most threads are of TorchScript or of older releases: as in ``exports_openvino``, ``met`` is what
became of the program with ``torch.export`` and coremltools of the target's release, converted
before any scan. What only a Mac or a phone shows is as the thread tells. One was written down
before there was such a target.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "coremltools PyTorch convert op not implemented aten",
    "coremltools torch.export ExportedProgram conversion fails operator 8.x 9.0",
    "coremltools converted PyTorch model gives wrong output on GPU or Neural Engine, CPU_ONLY is "
    "right",
    "coremltools PyTorch conversion ValueError dtype int32 complex bool input must be same type "
    "2025 2026",
    "coremltools add support for torch op converter pull request 2025 2026",
    "executorch CoreML backend or XNNPACK partitioner lowering fails operator conversion bug 2026",
    "coremltools bug converting op located at torch.nn layer pad interpolate conv_transpose "
    "pixel_unshuffle index_put error 2024 2025 2026",
    "coremltools torch converter silently wrong result numerically incorrect op semantics 2026 fix",
    "Core ML export of transformer or audio model fails stft istft fft complex einsum cumsum roll "
    "coremltools user model",
    "executorch CoreML backend tester torch.nn module fails to load or crashes at compile, module: "
    "coreml",
    "coremltools missing layer type PyTorch traced not implemented linalg cdist searchsorted "
    "bincount unfold grid_sampler affine",
    "Core ML coremltools torch.export ExportedProgram PyTorch convert op not implemented error 8.3 "
    "9.0",
)
CPU, GPU, ANE = "coreml-cpu@9.0", "coreml-gpu@9.0", "coreml-ane@9.0"
X = torch.linspace(-1, 1, 42).view(6, 7)
PLANE = torch.linspace(-1, 1, 64).view(1, 1, 8, 8)
IMAGE = torch.linspace(-1, 1, 192).view(1, 3, 8, 8)
SOUND = torch.linspace(-1, 1, 1600).view(1, 1600)
HEADS = torch.linspace(-1, 1, 512).view(1, 8, 4, 16)
WINDOW = torch.linspace(0.1, 1, 400)
WEIGHT = torch.arange(64, dtype=torch.int32).view(8, 8)
COMPLEX = ("aten::stft", "aten::stft.center", "aten::mul.Tensor")


def _spectrum(x: Tensor) -> Tensor:
    return torch.stft(x, 400, 160, window=WINDOW, return_complex=True)


def _of_whisper(x: Tensor) -> Tensor:
    window = torch.hann_window(400)
    return torch.stft(x, 400, 160, window=window, return_complex=True).abs() ** 2


def _louder(x: Tensor) -> Tensor:
    return (_spectrum(x) * 2.0).abs()


def _summed(x: Tensor) -> Tensor:
    z = torch.complex(x, x)
    return (z + z).abs()


def _spread(flow: Tensor) -> Tensor:
    sizes = torch.tensor([16, 16])[None, None, None].type_as(flow)
    return flow.permute(0, 2, 3, 1) / sizes


def _heard_again(x: Tensor) -> Tensor:
    return torch.istft(_spectrum(x), 400, 160, window=WINDOW)


def _by_frequencies(x: Tensor) -> Tensor:
    found = torch.fft.rfftn(x, dim=(-2, -1), norm="ortho")
    return torch.stack((found.real, found.imag), dim=-1)


def _distances(x: Tensor) -> Any:
    rows, book = torch.ones(6, 7), x * 2
    near = (rows**2)[:, None, :].sum(2) - 2 * rows @ book.T + (book**2).sum(1)
    return torch.min(near.sqrt(), dim=1)[1]


REPORTS = (
    Report(
        "Core ML: attention of MobileViT", "apple/coremltools#1823", 0,
        "`scaled_dot_product_attention` is not implemented, with torch 2.0",
        CPU, Met.WORKS, Because.NO_KERNEL,
        lambda q: F.scaled_dot_product_attention(q, q, q), (HEADS,),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "Core ML: constant_pad_nd", "apple/coremltools#751", 0,
        "`constant_pad_nd` is not implemented, for EfficientNet-Lite in 4.0b4",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x: F.pad(x, (0, 1, 0, 1)), (IMAGE,),
        ("aten::pad", "aten::constant_pad_nd"),
    ),
    Report(
        "Core ML: a tensor made in the model", "apple/coremltools#2115", 0,
        "`lift_fresh` is not implemented, in January 2024",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x: x * torch.tensor([1.0, 2.0] * 3 + [3.0]),
        (X,), ("aten::lift_fresh", "aten::mul.Tensor"),
    ),
    Report(
        "Core ML: a linear layer", "apple/coremltools#1223", 0,
        "`linear` is not implemented, in June 2021",
        CPU, Met.WORKS, Because.NO_KERNEL, nn.Linear(7, 4), (X,), ("aten::linear",),
    ),
    Report(
        "Core ML: min", "apple/coremltools#1269", 0,
        "`min` is not implemented, in July 2021",
        CPU, Met.WORKS, Because.NO_KERNEL, torch.min, (X,), ("aten::min",),
    ),
    Report(
        "Core ML: InstanceNorm2d", "apple/coremltools#785", 0,
        "`instance_norm` is not implemented, in 4.0b1",
        CPU, Met.WORKS, Because.NO_KERNEL, nn.InstanceNorm2d(3), (IMAGE,),
        ("aten::instance_norm",),
    ),
    Report(
        "Core ML: products of batches", "apple/coremltools#768", 0,
        "`bmm` is not implemented, in 4.0b1",
        CPU, Met.WORKS, Because.NO_KERNEL, torch.bmm,
        (HEADS[0], HEADS[0].mT.contiguous()), ("aten::bmm",),
    ),
    Report(
        "Core ML: unflatten", "mazzzystar/Queryable#9", 1,
        "`unflatten` is not implemented in 6.3.0, with torch 2.0",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x: x.unflatten(0, (2, 3)) * 2, (X,),
        ("aten::unflatten.int",),
    ),
    Report(
        "Core ML: maxima of a pool, exported", "apple/coremltools#2415", 1,
        "`MaxPool2d` is not converted from `torch.export`, in December 2024",
        CPU, Met.WORKS, Because.NO_KERNEL, nn.MaxPool2d(2, stride=2), (IMAGE,),
        ("aten::max_pool2d",),
    ),
    Report(
        "Core ML: a convolution that is less precise", "apple/coremltools#1671", 2,
        "a convolution differs far more from PyTorch than on the CPU alone, in November 2022",
        GPU, Met.SLOW, Because.OTHER, nn.Conv2d(3, 4, 3), (IMAGE,),
        ("aten::conv2d",),
    ),
    Report(
        "Core ML: a convolution of a picture of noise", "apple/coremltools#1809", 2,
        "a convolution of float32 has significant errors on the GPU and the Neural Engine, in "
        "August 2023", ANE, Met.SLOW, Because.OTHER, nn.Conv2d(3, 128, 3), (IMAGE,),
        ("aten::conv2d",),
    ),
    Report(
        "Core ML: a convolution and LeakyReLU", "apple/coremltools#1023", 2,
        "the Neural Engine differs from the CPU by 0.1, in December 2020",
        ANE, Met.SLOW, Because.OTHER, nn.Sequential(nn.Conv2d(3, 4, 3), nn.LeakyReLU(0.1)),
        (IMAGE,), ("aten::conv2d", "aten::leaky_relu"),
    ),
    Report(
        "Core ML: complex numbers times a number", "apple/coremltools#2212", 3,
        "what `stft` gives is not cast, in May 2024",
        CPU, Met.REFUSED, Because.DTYPE, _louder, (SOUND,), COMPLEX,
    ),
    Report(
        "Core ML: a sum of complex numbers", "apple/coremltools#2048", 3,
        "an addition takes no complex64, in November 2023",
        CPU, Met.WORKS, Because.DTYPE, _summed, (torch.tensor([1.0, 2.0]),),
        ("aten::add.Tensor", "aten::complex"),
    ),
    Report(
        "Core ML: booleans counted", "apple/coremltools#1685", 3,
        "a sum takes no booleans, in November 2022",
        CPU, Met.WORKS, Because.DTYPE, lambda x: torch.sum(x < 0.5).reshape(1, 1), (PLANE,),
        ("aten::sum",),
    ),
    Report(
        "Core ML: a flow by sizes", "apple/coremltools#2156", 3,
        "floats divided by sizes: an inverse takes no int32, in 7.1",
        CPU, Met.WORKS, Because.DTYPE, _spread, (torch.linspace(0, 1, 512).view(1, 2, 16, 16),),
        ("aten::div.Tensor", "aten::type_as"),
    ),
    Report(
        "Core ML: new_empty", "apple/coremltools#1588", 4, "`new_empty` is supported, in 2022",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x: x.new_empty((6, 7)).fill_(1.0) + x, (X,),
        ("aten::new_empty",),
    ),
    Report(
        "Core ML: mish", "apple/coremltools#1692", 4, "`mish` is supported, in 2022",
        CPU, Met.WORKS, Because.NO_KERNEL, nn.Mish(), (X,), ("aten::mish",),
    ),
    Report(
        "Core ML: dot", "apple/coremltools#1381", 4, "`dot` and `mv` are supported, in 2022",
        CPU, Met.WORKS, Because.NO_KERNEL, torch.dot, (X[0], X[1]), ("aten::dot",),
    ),
    Report(
        "Core ML: frac", "apple/coremltools#1592", 4,
        "`frac` is to be supported, by a pull request that is open since 2022",
        CPU, Met.WORKS, Because.NO_KERNEL, torch.frac, (X,), ("aten::frac",),
    ),
    Report(
        "Core ML: complex numbers as pairs", "apple/coremltools#1944", 4,
        "`view_as_real` is supported, in 2023",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x: torch.view_as_real(torch.complex(x, x)),
        (X,), ("aten::view_as_real",),
    ),
    Report(
        "Core ML: cross", "apple/coremltools#1649", 4, "`cross` is supported, in 2022",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x, y: torch.cross(x, y, dim=1),
        (X[:, :3].contiguous(), X[:, 3:6].contiguous()),
        ("aten::cross", "aten::linalg_cross"),
    ),
    Report(
        "Core ML: nan_to_num", "apple/coremltools#2403", 4,
        "`nan_to_num` and three others are translated from `torch.export`, in November 2024",
        CPU, Met.WORKS, Because.NO_KERNEL, torch.nan_to_num, (X,), ("aten::nan_to_num",),
    ),
    Report(
        "Core ML: full_like", "apple/coremltools#1468", 4, "`full_like` is supported, in 2022",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x: torch.full_like(x, 2.0) + x, (X,),
        ("aten::full_like",),
    ),
    Report(
        "Core ML: norms of volumes", "pytorch/executorch#19248", 5,
        "`BatchNorm3d`, one of six that failed, is lowered with coremltools 9.0",
        CPU, Met.WORKS, Because.SHAPE, nn.BatchNorm3d(2),
        (torch.linspace(-1, 1, 128).view(1, 2, 4, 4, 4),), ("aten::batch_norm",),
    ),
    Report(
        "Core ML: channels made of pixels", "pytorch/executorch#11711", 5,
        "`PixelUnshuffle` takes iOS 16 or later, in June 2025",
        CPU, Met.WORKS, Because.OTHER, nn.PixelUnshuffle(2), (IMAGE,), ("aten::pixel_unshuffle",),
    ),
    Report(
        "Core ML: a strided, dilated convolution", "pytorch/executorch#11688", 5,
        "a Conv1d with strides, dilation and groups is a segmentation fault on an M1 Pro with "
        "8.3; 9.0 lowers it, by the thread above",
        "coreml-ane@8.3", Met.REFUSED, Because.VALUE,
        nn.Conv1d(16, 4, 6, stride=8, dilation=2, groups=2, bias=False),
        (torch.linspace(-1, 1, 352).view(2, 16, 11),), ("aten::conv1d",),
        mended={ANE: Met.WORKS},
    ),
    Report(
        "Core ML: a transposed convolution", "apple/coremltools#1093", 6,
        "a transposed convolution that 4.0 converted fails in 4.1",
        CPU, Met.WORKS, Because.VALUE,
        nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), (IMAGE,),
        ("aten::conv_transpose2d.input",),
    ),
    Report(
        "Core ML: ConvTranspose1d to more channels", "apple/coremltools#1905", 6,
        "`ConvTranspose1d` of 1 channel to 2 is not converted, in July 2023",
        CPU, Met.WORKS, Because.SHAPE, nn.ConvTranspose1d(1, 2, 3, stride=1, padding=1),
        (torch.linspace(-1, 1, 16).view(1, 1, 16),), ("aten::conv_transpose1d",),
    ),
    Report(
        "Core ML: LaMa's reflections", "apple/coremltools#1597", 6,
        "`pad` is not implemented, in September 2022",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
        (IMAGE,), ("aten::pad", "aten::reflection_pad2d"),
    ),
    Report(
        "Core ML: bicubic interpolation", "apple/coremltools#1747", 6,
        "`upsample_bicubic2d` is not implemented, which DINOv2 takes, in June 2024",
        CPU, Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, scale_factor=2.0, mode="bicubic"), (IMAGE,),
        ("aten::upsample_bicubic2d.vec", "aten::upsample_bicubic2d"),
    ),
    Report(
        "Core ML: patches as weights", "apple/coremltools#1858", 6,
        "`conv_transpose2d` takes a constant weight, in May 2023",
        CPU, Met.WORKS, Because.OTHER, lambda x, w: F.conv_transpose2d(x, w, padding=1),
        (IMAGE, torch.linspace(-1, 1, 108).view(3, 4, 3, 3)), ("aten::conv_transpose2d.input",),
    ),
    Report(
        "Core ML: Whisper's spectra", "argmaxinc/whisperkittools#31", 8,
        "`stft` is not converted with a torch later than 2.5, in May 2025",
        CPU, Met.REFUSED, Because.OTHER, _of_whisper, (SOUND,),
        ("aten::hann_window", *COMPLEX[:2]),
    ),
    Report(
        "Core ML: sounds of spectra", "apple/coremltools#2330", 8,
        "`istft` is not implemented, in September 2024",
        CPU, Met.REFUSED, Because.NO_KERNEL, _heard_again, (SOUND,), ("aten::istft",),
    ),
    Report(
        "Core ML: spectra for NeMo", "apple/coremltools#1990", 8,
        "`stft` is not implemented in 6.3.0, and is in 7.0",
        CPU, Met.WORKS, Because.NO_KERNEL,
        lambda x: torch.stft(x, 512, return_complex=True).abs(), (SOUND,), COMPLEX[:2],
    ),
    Report(
        "Core ML: frequencies of pictures", "apple/coremltools#1311", 8,
        "`fft_rfftn` is not implemented, in October 2021",
        CPU, Met.WORKS, Because.NO_KERNEL, _by_frequencies, (IMAGE,), ("aten::fft_rfftn",),
    ),
    Report(
        "Core ML: irfft of real numbers", "apple/coremltools#2130", 8,
        "`irfft` takes complex64 alone, in January 2024",
        CPU, Met.REFUSED, Because.OTHER, torch.fft.irfft, (torch.ones(3),), ("aten::fft_irfft",),
    ),
    Report(
        "Core ML: integers times constant integers", "pytorch/executorch#11691", 9,
        "a product of int32 with a constant is not loaded with 8.3; 9.0 lowers it",
        "coreml-ane@8.3", Met.REFUSED, Because.DTYPE, lambda x: x @ WEIGHT, (WEIGHT,),
        ("aten::matmul", "aten::mm"), mended={ANE: Met.WORKS},
    ),
    Report(
        "Core ML: a model without inputs", "pytorch/executorch#11719", 9,
        "random numbers alone: a model without inputs is not loaded, in June 2025",
        "coreml-ane@8.3", Met.REFUSED, Because.OTHER, lambda: torch.randn(5, 5), (),
        ("aten::randn",),
    ),
    Report(
        "Core ML: the place of the largest of all", "pytorch/executorch#11715", 9,
        "`argmax` of all numbers ends the process on an M1 Pro at times, in June 2025",
        "coreml-ane@8.3", Met.REFUSED, Because.VALUE, lambda x: torch.argmax(x, dim=None), (X,),
        ("aten::argmax",),
    ),
    Report(
        "Core ML: T of a matrix", "apple/coremltools#2197", 10,
        "`numpy_T` is not implemented, in April 2024",
        CPU, Met.WORKS, Because.NO_KERNEL, _distances, (X,), ("aten::numpy_T",),
    ),
    Report(
        "Core ML: unsqueeze_", "apple/coremltools#1305", 10,
        "`unsqueeze_` is not implemented, for detectron2 in 5.0b5",
        CPU, Met.WORKS, Because.NO_KERNEL, lambda x: (x * 2).unsqueeze_(0) + 1, (X,),
        ("aten::unsqueeze_", "aten::unsqueeze"),
    ),
    Report(
        "Core ML: Unfold", "apple/coremltools#1547", 10,
        "`im2col` is not implemented, in July 2022",
        CPU, Met.WORKS, Because.NO_KERNEL, nn.Unfold((2, 3)), (torch.zeros(2, 5, 3, 4),),
        ("aten::im2col",),
    ),
    Report(
        "Core ML: tensordot", "apple/coremltools#2137", 10,
        "`tensordot` is not implemented, in February 2024",
        CPU, Met.REFUSED, Because.NO_KERNEL, lambda x, y: torch.tensordot(x, y, ([1], [0])),
        (X, X.mT.contiguous()), ("aten::tensordot",),
    ),
    Report(
        "Core ML: attention of grouped heads", "apple/coremltools#2855", 11,
        "the converter does not read `enable_gqa`, and keys have fewer heads than queries",
        CPU, Met.REFUSED, Because.VALUE,
        lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True),
        (HEADS, HEADS[:, :2]), ("aten::scaled_dot_product_attention",),
    ),
)  # fmt: skip
_LEFT_OUT = {
    Why.NO_PROGRAM: """
        apple/coremltools#1135 bes-dev/MobileStyleGAN.pytorch#41 pytorch/executorch#5157
        apple/coremltools#2268 apple/coremltools#2468 apple/coremltools#1601
        apple/coremltools#863 apple/coremltools#2344
        apple/coremltools#2173 apple/coremltools#1651 apple/coremltools#1684
        apple/coremltools#2193 apple/coremltools#1967 apple/coremltools#793
        apple/coremltools#1535 pytorch/executorch#13023 pytorch/executorch#10451
        pytorch/executorch#3712
        pytorch/executorch#6387 apple/coremltools#1946 apple/coremltools#2223
        apple/coremltools#1932 apple/ml-stable-diffusion#5
    """,
    Why.NO_CALL: """
        apple/coremltools#816 apple/coremltools#2743 huggingface/blog#1365
        vincentfpgarcia/from-pytorch-to-coreml#3 apple/coremltools#1092 apple/coremltools#2615
        apple/coremltools#1772 pytorch/executorch#1268 apple/coremltools#2178
        apple/coremltools#1315 apple/coremltools#827 apple/coremltools#2153 apple/coremltools#982
        fwcd/spleeter-pytorch#1 fwcd/spleeter-pytorch#2 pytorch/executorch#5722
        pytorch/executorch#1164 pytorch/executorch#6984 pytorch/pytorch#147809
        pytorch/pytorch#109444 apple/coremltools#2315 apple/coremltools#2030
        apple/coremltools#2083
    """,
    Why.NO_TARGET: """
        google-ai-edge/litert-torch#305 hollance/MobileNet-CoreML#8 apple/coremltools#497
        apple/coremltools#1689 ysh329/deep-learning-model-convertor#23 apple/coremltools#529
        apple/coremltools#569 onnx/onnx-coreml#581 apple/coremltools#941 apple/coremltools#1768
        apple/coremltools#1529 deezer/spleeter#210
    """,
    Why.KNOWN: """
        apple/coremltools#1121 pytorch/executorch#5265 pytorch/executorch#4475
        ludwig-ai/ludwig#3587
    """,
    Why.UNCONFIRMED: "apple/coremltools#1065",
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
