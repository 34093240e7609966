"""What users of ExecuTorch met on phones and boards, by searches of threads about its programs.

Most threads are of older releases, and the target has one: ``met`` is what became of the program
with the libraries of that release, lowered and run by its runtime before any scan. Five were
written down before there was such a target, and the searches gave them again.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "ExecuTorch RuntimeError missing out variant or operator not registered when loading .pte on "
    "device torch.export model",
    "ExecuTorch kernel not found aten operator missing operator load method failed 0x14 2025 2026",
    "ExecuTorch portable op wrong result or check failed dtype half bfloat16 int64 ET_KERNEL_CHECK",
    "ExecuTorch XNNPACK delegate wrong output or fails conv transpose bmm mean dtype",
    "ExecuTorch execution failed for operator Detected with FACTO portable kernel",
    "ExecuTorch portable kernel gives incorrect result or crashes on Android model speech "
    "segmentation",
    "ExecuTorch export error operator is not Core ATen SpecViolationError missing out variants "
    "torch.ops.aten",
    "ExecuTorch output mismatch FACTO kernel numerical wrong result default",
    "ExecuTorch KernelCall failed at instruction in operator aten out Check failed 0x12 model user",
    "executorch XNNPACK backend tester torch.nn module fails lowering or output mismatch, module: "
    "xnnpack",
    "ExecuTorch execution crashed for aten default FACTO ArgType.Tensor op_ assert failed",
    "executorch kernels portable op missing request add operator implementation aten unfold "
    "grid_sampler upsample fold conv3d sort",
)
ET, XNN = "executorch-portable@1.4.1", "executorch-xnnpack@1.4.1"
X = torch.linspace(-1, 1, 42).view(6, 7)
IMAGE = torch.linspace(-1, 1, 192).view(1, 3, 8, 8)
HEADS = torch.linspace(-1, 1, 512).view(1, 8, 4, 16)
SIX = (4, 7, 1, 1, 7, 2)
VOLUME = torch.linspace(-1, 1, 6 * 19 * 7 * 64, dtype=torch.float64).view(6, 19, 7, 8, 8)


def _sampled(x: Tensor, grid: Tensor) -> Tensor:
    return F.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=True)


def _twice_read(x: Tensor) -> Any:
    y = x.permute(0, 2, 1)
    return y.reshape(2, -1), y.sum(dim=1)


def _padded(x: Tensor) -> Tensor:
    return F.pad(x, [5, -8, -4, 9, 1, 9, -9, -9], value=1.7976931348623157e308)


def _smaller(x: Tensor) -> Any:
    return torch.ops.aten._upsample_bilinear2d_aa.default(x, [7, 2], False, 0.01, 10.0)


def _far(x: Tensor) -> Tensor:
    step = -3074457345618258432
    return x + torch.arange(False, -3.0744573456182584e18, step, dtype=torch.int8)


REPORTS = (
    Report(
        "ExecuTorch: attention of Llama", "pytorch/executorch#1577", 0,
        "no out variant of `_scaled_dot_product_flash_attention_for_cpu`, in January 2024",
        ET, Met.WORKS, Because.NO_KERNEL,
        lambda q: F.scaled_dot_product_attention(q, q, q), (HEADS,),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "ExecuTorch: a mean of everything", "pytorch/executorch#5068", 0,
        "no out variant of `aten::mean`, which a sum has, in 0.3.0",
        ET, Met.WORKS, Because.NO_KERNEL, lambda x: x.mean(), (X,), ("aten::mean",),
    ),
    Report(
        "ExecuTorch: floats seen as integers", "pytorch/torchchat#385", 0,
        "aten::view_copy.dtype_out is missing, in April 2024",
        ET, Met.REFUSED, Because.NO_KERNEL, lambda x: x.view(torch.int32) + 1, (X,),
        ("aten::view.dtype",),
    ),
    Report(
        "ExecuTorch: bucketize", "pytorch/executorch#20270", 1,
        "kernel aten::bucketize.Tensor_out not found, in June 2026",
        ET, Met.REFUSED, Because.NO_KERNEL, torch.bucketize, (X, torch.linspace(-1, 1, 5)),
        ("aten::bucketize.Tensor",),
    ),
    Report(
        "ExecuTorch: uniform numbers of ESPnet", "pytorch/pytorch#158113", 1,
        "`aten.uniform.default` is not in Core ATen, in July 2025",
        ET, Met.REFUSED, Because.NO_KERNEL, lambda x: x + (x * 0).uniform_(), (X,),
        ("aten::uniform_", "aten::uniform"),
    ),
    Report(
        "ExecuTorch: dropout of a trained transformer", "pytorch/executorch#1199", 1,
        "aten::native_dropout.out is missing on Android, in November 2023",
        ET, Met.WORKS, Because.NO_KERNEL, lambda x: F.dropout(x, 0.1, training=True), (X,),
        ("aten::dropout", "aten::native_dropout"),
    ),
    Report(
        "ExecuTorch: bits shifted right", "pytorch/executorch#15673", 1,
        "kernel aten::bitwise_right_shift.Tensor_out not found, in 1.0.0",
        ET, Met.REFUSED, Because.NO_KERNEL, lambda x: torch.bitwise_right_shift(x, 2),
        (torch.arange(8),), ("aten::bitwise_right_shift",),
    ),
    Report(
        "ExecuTorch: rfft", "pytorch/executorch#21950", 1,
        "`aten._fft_r2c` has no portable kernel: the program is written and fails to load, in "
        "1.4.1", ET, Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.fft.rfft(x).abs().pow(2.0), (torch.ones(4, 512),), ("aten::fft_rfft",),
    ),
    Report(
        "ExecuTorch: scatter", "pytorch/executorch#4742", 1,
        "aten::scatter.src_out is missing of the portable kernels, in August 2024",
        ET, Met.WORKS, Because.NO_KERNEL, lambda x, at, y: x.scatter(0, at, y),
        (X, torch.zeros(1, 7, dtype=torch.int64), X), ("aten::scatter.src",),
    ),
    Report(
        "ExecuTorch: products of batches in half", "pytorch/executorch#13587", 2,
        "bmm, the first of eight operators, is without half, in August 2025",
        ET, Met.WORKS, Because.DTYPE, torch.bmm, (HEADS[0].half(), HEADS[0].half().mT.contiguous()),
        ("aten::bmm",),
    ),
    Report(
        "ExecuTorch: rows chosen in bfloat16", "pytorch/executorch#3460", 2,
        "index.Tensor_out does not know BFloat16, in May 2024",
        ET, Met.WORKS, Because.DTYPE, lambda x, at: x[at], (X.bfloat16(), torch.tensor([2, 0])),
        ("aten::index.Tensor",),
    ),
    Report(
        "ExecuTorch: hardtanh of bytes", "pytorch/executorch#13491", 2,
        "`hardtanh` of uint8 from 131 to 255.99999999999997 fails a check, in August 2025",
        ET, Met.REFUSED, Because.VALUE,
        lambda x: torch.ops.aten.hardtanh.default(x, 131, 255.99999999999997),
        (torch.full(SIX, 200, dtype=torch.uint8),), ("aten::hardtanh",),
    ),
    Report(
        "XNNPACK: a transposed convolution", "pytorch/executorch#7514", 3,
        "transposed convolutions in two dimensions are supported, in January 2025",
        XNN, Met.WORKS, Because.NO_KERNEL, nn.ConvTranspose2d(3, 4, 3, stride=2), (IMAGE,),
        ("aten::conv_transpose2d", "aten::conv_transpose2d.input"),
    ),
    Report(
        "XNNPACK: products of batches", "pytorch/executorch#4604", 3,
        "bmm is enabled in float32, in August 2024",
        XNN, Met.WORKS, Because.NO_KERNEL, torch.bmm,
        (HEADS[0], HEADS[0].mT.contiguous()), ("aten::bmm",),
    ),
    Report(
        "ExecuTorch: sigmoid of booleans", "pytorch/executorch#13492", 4,
        "`sigmoid` of booleans fails a check, in August 2025",
        ET, Met.WORKS, Because.DTYPE, torch.sigmoid, (torch.ones(SIX, dtype=torch.bool),),
        ("aten::sigmoid",),
    ),
    Report(
        "ExecuTorch: arange to True", "pytorch/executorch#13580", 4,
        "`arange(True)` fails a check: the end is no number, in August 2025",
        ET, Met.REFUSED, Because.VALUE, lambda x: x + torch.ops.aten.arange.default(True), (X,),
        ("aten::arange",),
    ),
    Report(
        "ExecuTorch: arange from False", "pytorch/executorch#13581", 4,
        "`arange` from False by steps of -3e18 fails a check, in August 2025",
        ET, Met.REFUSED, Because.VALUE, _far, (torch.ones(1),), ("aten::arange",),
    ),
    Report(
        "ExecuTorch: elu by True", "pytorch/executorch#13555", 4,
        "`elu` with True for alpha ends the process: it is not extracted, in August 2025",
        ET, Met.WORKS, Because.VALUE,
        lambda x: torch.ops.aten.elu.default(x, True, -math.inf, math.inf),
        (torch.linspace(-1, 1, 8).view(8, 1, 1),), ("aten::elu",),
    ),
    Report(
        "XNNPACK: a linear layer of Qwen in bfloat16", "pytorch/executorch#9965", 5,
        "linear with a bias fails a check, in April 2025",
        XNN, Met.WORKS, Because.OTHER, nn.Linear(7, 4).bfloat16(), (X.bfloat16(),),
        ("aten::linear",),
    ),
    Report(
        "ExecuTorch: le of unlike ranks", "pytorch/executorch#9433", 8,
        "`le` of 2048 numbers and of (1, 1) fails a check: shapes differ, in March 2025",
        ET, Met.WORKS, Because.SHAPE, torch.le,
        (torch.arange(2048), torch.zeros(1, 1, dtype=torch.int64)), ("aten::le.Tensor",),
    ),
    Report(
        "XNNPACK: a permutation read twice", "pytorch/executorch#19152", 9,
        "what is permuted is reshaped and summed: the partition is refused, in April 2026",
        XNN, Met.WORKS, Because.OTHER, _twice_read, (torch.linspace(-1, 1, 30).view(2, 3, 5),),
        ("aten::permute", "aten::sum.dim_IntList", "aten::reshape"),
    ),
    Report(
        "XNNPACK: maxima of a pool that rounds up", "pytorch/executorch#3567", 9,
        "`MaxPool2d(2, 2, ceil_mode=True)` of 23 x 23 fails, in May 2024",
        XNN, Met.WORKS, Because.VALUE, nn.MaxPool2d(2, stride=2, ceil_mode=True),
        (torch.linspace(-1, 1, 32 * 529).view(1, 32, 23, 23),), ("aten::max_pool2d",),
    ),
    Report(
        "ExecuTorch: log_softmax of doubles", "pytorch/executorch#13551", 10,
        "`_log_softmax` of float64 ends the process: unhandled out dtype 7, in August 2025",
        ET, Met.REFUSED, Because.DTYPE, lambda x: F.log_softmax(x, 2),
        (torch.linspace(-1, 1, 280, dtype=torch.float64).view(8, 5, 7),),
        ("aten::log_softmax.int", "aten::_log_softmax"),
    ),
    Report(
        "ExecuTorch: int16 divided, of unlike ranks", "pytorch/executorch#13589", 10,
        "int16 of (5,) by int16 of (1, 5): the rank of a tensor cannot change, in August 2025",
        ET, Met.WORKS, Because.SHAPE, torch.div,
        (torch.arange(5, dtype=torch.int16), torch.ones(1, 5, dtype=torch.int16)),
        ("aten::div.Tensor",),
    ),
    Report(
        "ExecuTorch: doubles padded and cut", "pytorch/executorch#13554", 10,
        "`constant_pad_nd` of float64 by negative numbers is a bus error, in August 2025",
        ET, Met.REFUSED, Because.VALUE, _padded, (VOLUME,), ("aten::pad", "aten::constant_pad_nd"),
    ),
    Report(
        "ExecuTorch: a picture made smaller", "pytorch/executorch#13553", 10,
        "`_upsample_bilinear2d_aa` is a segmentation fault, in August 2025",
        ET, Met.WRONG, Because.VALUE, _smaller, (torch.linspace(-1, 1, 112).view(8, 2, 7, 1),),
        ("aten::_upsample_bilinear2d_aa",),
    ),
    Report(
        "ExecuTorch: doubles and integers of unlike ranks", "pytorch/executorch#13488", 10,
        "float64 of six dimensions and int32 of five: the rank cannot change, in August 2025",
        ET, Met.REFUSED, Because.SHAPE, lambda x, y: torch.add(x, y, alpha=-5),
        (torch.ones(1, 8, 4, 1, 8, 4, dtype=torch.float64),
         torch.ones(8, 4, 6, 8, 4, dtype=torch.int32)), ("aten::add.Tensor",),
    ),
    Report(
        "ExecuTorch: grid_sample", "pytorch/executorch#13509", 11,
        "`grid_sampler_2d` has no portable kernel, in August 2025",
        ET, Met.WORKS, Because.NO_KERNEL, _sampled, (IMAGE, torch.full((1, 4, 4, 2), 0.3)),
        ("aten::grid_sampler", "aten::grid_sampler_2d"),
    ),
    Report(
        "ExecuTorch: an enlarged picture", "pytorch/executorch#7464", 11,
        "a portable kernel of `upsample_nearest2d` is there, in December 2024",
        ET, Met.WORKS, Because.NO_KERNEL, lambda x: F.interpolate(x, scale_factor=2.0), (IMAGE,),
        ("aten::upsample_nearest2d.vec", "aten::upsample_nearest2d"),
    ),
    Report(
        "ExecuTorch: windows of a sound", "pytorch/executorch#5381", 11,
        "`aten.unfold.default` is not canonical, in September 2024",
        ET, Met.WORKS, Because.NO_KERNEL, lambda x: x.unfold(-1, 4, 2) * 2, (X,),
        ("aten::unfold",),
    ),
    Report(
        "ExecuTorch: a picture enlarged by lines", "pytorch/executorch#6923", 11,
        "a portable kernel of `upsample_bilinear2d` is there, in November 2024",
        ET, Met.WORKS, Because.NO_KERNEL,
        lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), (IMAGE,),
        ("aten::upsample_bilinear2d.vec", "aten::upsample_bilinear2d"),
    ),
    Report(
        "ExecuTorch: means of regions", "pytorch/executorch#18067", 11,
        "a portable kernel of `_adaptive_avg_pool2d` is there, in March 2026",
        ET, Met.WORKS, Because.NO_KERNEL, nn.AdaptiveAvgPool2d((3, 3)), (IMAGE,),
        ("aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d"),
    ),
    Report(
        "ExecuTorch: channels shuffled into a picture", "pytorch/executorch#351", 11,
        "a portable kernel of `pixel_shuffle` is there, in September 2023",
        ET, Met.WORKS, Because.NO_KERNEL, nn.PixelShuffle(2), (IMAGE.view(1, 12, 4, 4),),
        ("aten::pixel_shuffle",),
    ),
)  # fmt: skip
_LEFT_OUT = {
    Why.NO_CALL: """
        pytorch/executorch#290 pytorch/executorch#9763 pytorch/torchchat#662
        pytorch/executorch#7170 pytorch/executorch#8924 pytorch/executorch#6844
        pytorch/executorch#635 pytorch/executorch#15547 pytorch/torchchat#977
        pytorch/executorch#6284 grazzolini/tuneforge#402
        abdelaziz-mahdy/executorch_flutter#12 pytorch/executorch#17669 pytorch/pytorch#146049
        pytorch/torchchat#730 pytorch/executorch#3311 pytorch/executorch#3696
        pytorch/executorch#634
    """,
    Why.NO_PROGRAM: """
        pytorch/executorch#8539 pytorch/executorch#1132 roboflow/rf-detr#1142
        pytorch/executorch#7748 pytorch/executorch#1691 pytorch/executorch#20090
        pytorch/executorch#4237 pytorch/executorch#5264
        pytorch/torchchat#543 pytorch/executorch#12134 pytorch/executorch#4475
        pytorch/executorch#5265 pytorch/executorch#11320
    """,
    Why.OTHERS: """
        pytorch/executorch#7775 pytorch/executorch#3443 pytorch/executorch#20517
    """,
    Why.KNOWN: """
        pytorch/executorch#3488 pytorch/executorch#1287 pytorch/executorch#13734
        pytorch/executorch#11328 pytorch/executorch#7459 pytorch/executorch#7547
        pytorch/executorch#5009 pytorch/pytorch#140766
    """,
    Why.UNCONFIRMED: "pytorch/executorch#3832",
    Why.NO_TARGET: """
        google/XNNPACK#11036 google/XNNPACK#1951 google/XNNPACK#1950 microsoft/onnxruntime#13270
        onnxsim/onnxsim#1436 google/XNNPACK#3060 tensorflow/tensorflow#34818
        tensorflow/tensorflow#45076 tensorflow/tensorflow#46084 pytorch/executorch#7177
        pytorch/executorch#9356 tenstorrent/tt-lang#924 microsoft/T-MAC#57 KastnerRG/spector#4
        triton-lang/triton#7045 beehive-lab/TornadoVM#1067
        intel/intel-xpu-backend-for-triton#7096 intel/intel-xpu-backend-for-triton#7095
        AlibabaResearch/flash-llm#9 pytorch/pytorch#129823
        intel/intel-xpu-backend-for-triton#7089 pytorch/executorch#13399 pytorch/pytorch#179883
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
