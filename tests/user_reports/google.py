"""What users of Google's TPUs met, as threads tell it, written down before any scan of it.

torch_xla lowers the same way for all its devices: a thread of its GPUs or of Trainium counts where
the lowering itself went wrong, not where a compiler of that device did. Threads older than the
first release that targets have, 1.13, are left out.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "pytorch/xla op not lowered aten:: falls back to CPU counter in metrics report",
    "pytorch/xla missing lowering operator request",
    "pytorch/xla wrong result differs from CPU on TPU",
    "pytorch/xla RuntimeError unsupported dtype TPU float64 complex",
    "pytorch/xla crash check failed operator shape segmentation fault 2024",
    "torch_xla dynamic shape nonzero masked_select error TPU",
    "pytorch/xla interpolate upsample bicubic align_corners not lowered TPU",
    "pytorch/xla scatter index_put index_add gather wrong or slow on TPU",
    "torch_xla in-place view slice assignment wrong result functionalization",
    "torch_xla convolution pooling padding error backward TPU",
    "torch_xla sort topk unique cumsum int64 error on TPU",
    "torch_xla scaled_dot_product_attention error or wrong on TPU",
    "torch_xla fft stft complex tensor not supported TPU",
    "Could not run 'aten::' with arguments from the 'XLA' backend, not implemented for XLA TPU "
    "torch_xla 2.x",
    "pytorch/xla pytorch divergence: op on XLA accepts or returns different dtype than PyTorch",
    "TPU torch_xla 算子 不支持 报错",
    "pt-xla-profiler: Op(s) not lowered: Please open a GitHub issue with the above op lowering "
    "requests TPU 2.x",
    "[Core ATen Opset] pytorch/xla Lower aten op fails test dtype int32 float16 mismatch",
    "pytorch/xla op lowering request label 2023 2024 2025 aten fallback slow training TPU v4 v5e",
    "pytorch/xla error handling: op raises different error or crashes, shape check missing "
    "torch_xla 2.8 2.9",
    "While rewriting computation to not contain X64 element types, XLA encountered an HLO for "
    "which this rewriting is not implemented pytorch TPU",
    "ysiraichi pytorch/xla fix lowering dtype half bfloat16 out of op",
    "pytorch/xla Promote int to float for operation (consistent with PyTorch) core aten opset",
    "pytorch/xla Core ATen Opset lower pow Tensor_Tensor real bug from XLA integer negative",
    "Kaggle TPU torch_xla model bottleneck aten:: op CPU fallback grid_sampler lstm embedding_bag "
    "torch 2",
    "pytorch/xla bug TPU incorrect output torch op 2.4 2.5 2.6 reproducible on XLA backend TPU",
    "pytorch/xla TPU EfficientNet conv2d precision float32 matmul default bfloat16 results "
    "different XLA_USE highest precision",
    "pytorch/xla #7557 lower ops request description",
    "pytorch/xla #6103 pow(int, float) precision issue rotary embedding inv_freq",
    "pytorch/xla scatter_reduce taking exponentially longer on TPU reproduce script amin int",
    "pytorch/xla upsample_bilinear: fix output data-type #7111 half float32",
    "pytorch/xla cumsum int64 input unimplemented TPU before #5974; acos int32 test_aten_acos_2 "
    "Expected element type floating; topk float16 indices",
    "pytorch/xla #8625 single core TPU prediction results different efficientnet precision "
    "comment maintainers",
    'qihqi pytorch/xla aten_pow_Tensor_Tensor "looks like a real bug from XLA" int32 pow mismatch '
    "torch.pow In [] comment",
)

INTEGERS = torch.ones(10, 10, dtype=torch.int32)
PLACES = torch.tensor([0, 1, 1, 2])


class Gated(nn.Module):
    """A convolution and its gates."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return F.glu(self.conv(x), dim=1)


def _added(rows: Tensor, places: Tensor) -> Tensor:
    found = rows.new_zeros(3, rows.size(1))
    return found.scatter_add_(0, places.view(-1, 1).expand_as(rows), rows)


def _doubled(x: Tensor) -> Tensor:
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True)


def _least(x: Tensor, places: Tensor, given: Tensor) -> Tensor:
    return torch.scatter_reduce(x, 0, places, given, "amin")


REPORTS = (
    Report(
        "TPU: PReLU, trained", "pytorch/xla#5695", 1,
        "what takes PReLU back has no lowering and runs on the host", "google-tpu-v4@r2.1",
        Met.ON_THE_HOST, Because.NO_KERNEL, nn.Sequential(nn.Conv2d(1, 10, 5), nn.PReLU(10)),
        (torch.ones(1, 1, 12, 12),), ("aten::_prelu_kernel_backward",), training=True,
    ),
    Report(
        "TPU: complex128", "pytorch/xla#6197", 3,
        "TPUs have no complex128, so that tensors of it raise since they are not made complex64 "
        "any more", "google-tpu-v4@r2.3", Met.REFUSED, Because.DTYPE, lambda x: x * x,
        (torch.ones(4, dtype=torch.complex128),), ("aten::mul.Tensor",),
    ),
    Report(
        "TPU: bilinear interpolation of float64", "pytorch/xla#7142", 3,
        "bilinear interpolation of float64 raises, since the TPU's own call has no float64",
        "google-tpu-v4@r2.4", Met.REFUSED, Because.DTYPE, _doubled,
        (torch.ones(1, 3, 10, 10, dtype=torch.float64),),
        ("aten::upsample_bilinear2d", "aten::upsample_bilinear2d.vec"),
    ),
    Report(
        "TPU: interpolation by a factor, trained", "pytorch/xla#4710", 6,
        "what takes interpolation back runs on the host where a scale factor is given",
        "google-tpu-v4@r1.13", Met.ON_THE_HOST, Because.VALUE,
        nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.Upsample(scale_factor=2, mode="nearest")),
        (torch.ones(1, 3, 8, 8),),
        ("aten::upsample_nearest2d_backward", "aten::upsample_bilinear2d_backward"),
        training=True, mended={"google-tpu-v4@r2.1": Met.WORKS},
    ),
    Report(
        "TPU: scatter_add_ of rows", "pyg-team/pytorch_geometric#7596", 7,
        "scatter_add_ with an expanded index is 10 to 100 times slower than index_add_",
        "google-tpu-v4@r2.0", Met.SLOW, Because.OTHER, _added, (torch.ones(4, 16), PLACES),
        ("aten::scatter_add", "aten::scatter_add_"),
    ),
    Report(
        "TPU: scatter_reduce of integers", "pytorch/xla#8720", 7,
        "scatter_reduce takes 18 seconds for 1.3 million integers", "google-tpu-v5e@r2.6",
        Met.SLOW, Because.NO_KERNEL, _least,
        (torch.arange(560), torch.arange(130), torch.arange(130)), ("aten::scatter_reduce.two",),
    ),
    Report(
        "TPU: places of cummax", "pytorch/xla#8675", 10,
        "cummax gives the first place of the largest number, not the last one",
        "google-tpu-v5e@r2.6", Met.WRONG, Because.NO_KERNEL, lambda x: torch.cummax(x, dim=0),
        (torch.ones(3, dtype=torch.int64),), ("aten::cummax",),
    ),
    Report(
        "TPU: attention of 2.6", "pytorch/xla#8746", 11,
        "attention takes 160 times as long as the same written as products on a v5e",
        "google-tpu-v5e@r2.6", Met.SLOW, Because.NO_KERNEL,
        lambda x: F.scaled_dot_product_attention(x, x, x), (torch.ones(2, 8, 128, 64),),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "TPU: mse_loss of two dtypes", "pytorch/xla#4672", 14,
        "mse_loss of bfloat16 and float32 raises, since the dtypes are mixed",
        "google-tpu-v4@r1.13", Met.REFUSED, Because.DTYPE, F.mse_loss,
        (torch.ones(32).bfloat16(), torch.ones(32)), ("aten::mse_loss",),
        mended={"google-tpu-v4@r2.1": Met.WORKS},
    ),
    Report(
        "TPU: glu, trained", "pytorch/xla#9359", 15,
        "what takes glu back has no lowering and runs on the host", "google-tpu-v5e@r2.7",
        Met.ON_THE_HOST, Because.NO_KERNEL, Gated(), (torch.ones(1, 4, 100, 100),),
        ("aten::glu_backward",), training=True,
    ),
    Report(
        "TPU: eigh", "pytorch/xla#6017", 16,
        "eigh has no lowering and runs on the host", "google-tpu-v4@r2.1", Met.ON_THE_HOST,
        Because.NO_KERNEL, torch.linalg.eigh, (torch.eye(4),),
        ("aten::_linalg_eigh", "aten::linalg_eigh"),
    ),
    Report(
        "TPU: multinomial", "pytorch/xla#4839", 16,
        "multinomial has no lowering and runs on the host", "google-tpu-v4@r2.0",
        Met.ON_THE_HOST, Because.NO_KERNEL, lambda x: torch.multinomial(x, 1),
        (torch.ones(2, 16),), ("aten::multinomial",),
    ),
    Report(
        "TPU: integers to a real power", "pytorch/xla#5887", 17,
        "the power of integers by a real number gives wrong values", "google-tpu-v4@r2.1",
        Met.WRONG, Because.DTYPE, lambda x: torch.pow(x, 2.5), (INTEGERS,),
        ("aten::pow.Tensor_Scalar", "aten::pow.Tensor_Tensor"),
        mended={"google-tpu-v4@r2.2": Met.WORKS},
    ),
    Report(
        "TPU: take of int16", "pytorch/xla#4238", 17,
        "take of int16 gives int32 on TPUs", "google-tpu-v4@r1.13", Met.WRONG, Because.DTYPE,
        torch.take, (torch.arange(6).short(), torch.tensor([0, 5])), ("aten::take",),
    ),
    Report(
        "TPU: tanh of integers", "pytorch/xla#6166", 17,
        "tanh of int32 raises while it is lowered", "google-tpu-v4@r2.1", Met.REFUSED,
        Because.DTYPE, torch.tanh, (INTEGERS,), ("aten::tanh",),
        mended={"google-tpu-v4@r2.3": Met.WORKS},
    ),
    Report(
        "TPU: dot of integers", "pytorch/xla#6700", 19,
        "the dot product of int64 ends the process on TPUs", "google-tpu-v4@r2.1", Met.REFUSED,
        Because.DTYPE, lambda a, b: a @ b, (torch.tensor([1, 2, 3]), torch.tensor([3, 4, 5])),
        ("aten::dot", "aten::matmul"),
    ),
    Report(
        "TPU: acos of integers", "pytorch/xla#6224", 22,
        "acos of int32 raises while it is lowered", "google-tpu-v4@r2.1", Met.REFUSED,
        Because.DTYPE, torch.acos, (INTEGERS,), ("aten::acos",),
        mended={"google-tpu-v4@r2.2": Met.WORKS},
    ),
    Report(
        "TPU: tan of integers", "pytorch/xla#4333", 22,
        "tan does not take integers as PyTorch does", "google-tpu-v4@r1.13", Met.REFUSED,
        Because.DTYPE, torch.tan, (INTEGERS,), ("aten::tan",),
        mended={"google-tpu-v4@r2.0": Met.WORKS},
    ),
    Report(
        "TPU: a number to the power of integers", "pytorch/xla#5118", 23,
        "0.995 to the power of a tensor of integers gives 0", "google-tpu-v4@r2.0", Met.WRONG,
        Because.DTYPE, lambda x: torch.pow(0.995, x), (torch.tensor(100),), ("aten::pow.Scalar",),
    ),
    Report(
        "TPU: cos of integers", "pytorch/xla#6519", 31,
        "cos does not take integers as PyTorch does", "google-tpu-v4@r2.2", Met.REFUSED,
        Because.DTYPE, torch.cos, (INTEGERS,), ("aten::cos",),
        mended={"google-tpu-v4@r2.3": Met.WORKS},
    ),
    Report(
        "TPU: unique", "pytorch/xla#4377", 31,
        "FCOS calls _unique2, which has no lowering", "google-tpu-v4@r1.13", Met.ON_THE_HOST,
        Because.NO_KERNEL, torch.unique, (PLACES,), ("aten::_unique2",),
    ),
    Report(
        "TPU: the third power of bfloat16", "pytorch/xla#6745", 33,
        "bfloat16 to the power of a number gives float32", "google-tpu-v4@r2.2", Met.WRONG,
        Because.DTYPE, lambda x: torch.pow(x, 3.0), (torch.arange(10).bfloat16(),),
        ("aten::pow.Tensor_Scalar",), mended={"google-tpu-v4@r2.4": Met.WORKS},
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/xla#5994 pytorch/xla#6559 pytorch/xla#2587 pytorch/xla#6015
        pytorch/xla#4985 pytorch/xla#6932 pytorch/xla#6707 pytorch/xla#6241
        pytorch/xla#6183 pytorch/xla#6238 pytorch/xla#6426 pytorch/xla#8617
        pytorch/xla#7111 pytorch/xla#7168 pytorch/xla#6103
    """,
    Why.NO_CALL: """
        pytorch/xla#6028 pytorch/pytorch#134207 pytorch/xla#3266 pytorch/xla#5000
        pytorch/xla#1029 pytorch/xla#7116 pytorch/xla#2709 pytorch/xla#7624
        pytorch/xla#9020 pytorch/xla#8802 pytorch/xla#8683 pytorch/xla#5168
        pytorch/xla#5200 pytorch/xla#916 pytorch/xla#4189 pytorch/xla#2418 pytorch/xla#2655
        pytorch/xla#4155 pytorch/xla#4243 pytorch/xla#4875
        explosion/curated-transformers#378 pytorch/xla#9725 datalab-to/surya#264
        pytorch/xla#7897 TensorflowXLABeginner/XLA-Report#2 pytorch/xla#9096
        pytorch/xla#3761 pytorch/xla#9708 pytorch/xla#5612 pytorch/pytorch#109554
        henk717/KoboldAI#136 pytorch/xla#9745 pytorch/xla#8455 pytorch/xla#3553
        pytorch/xla#6133 pytorch/xla#7748 roboflow/rf-detr#1469 pytorch/xla#3075
        pytorch/xla#7248
    """,
    Why.NO_PROGRAM: """
        pytorch/xla#5764 pytorch/xla#5780 pytorch/xla#4170 huggingface/accelerate#452
        pytorch/xla#8974 pytorch/xla#7053 pytorch/xla#6002 pytorch/pytorch#74234
        pytorch/xla#5974 pytorch/xla#4167 pytorch/xla#6243 pytorch/xla#5846
        pytorch/xla#6479 pytorch/xla#5861 pytorch/xla#6090 pytorch/xla#5992
        pytorch/xla#8591 pytorch/xla#7835 pytorch/xla#6589 pytorch/xla#6172
        pytorch/xla#6171 pytorch/xla#6301 pytorch/xla#5858 pytorch/xla#8625
    """,
    Why.OTHERS: """
        vllm-project/tpu-inference#2126 pytorch/xla#8869 pytorch/xla#8109 pytorch/xla#7505
        pytorch/xla#6582 pytorch/xla#7729 pytorch/xla#7387 pytorch/xla#8240
        pytorch/xla#6496 pytorch/xla#7965 pytorch/xla#8186
    """,
    Why.UNCONFIRMED: """
        pytorch/xla#5904 pytorch/xla#9707 pytorch/xla#8454 vllm-project/vllm#15489
    """,
    Why.NO_TARGET: """
        pytorch/xla#2897 pytorch/xla#2969 pytorch/xla#2721 pytorch/xla#2592
        pytorch/xla#1326 pytorch/xla#2441 pytorch/xla#1017 pytorch/xla#1767
        pytorch/xla#2123 jax-ml/jax#19769 pytorch/xla#2447
        Lightning-AI/pytorch-lightning#7471 pytorch/xla#3293 pytorch/xla#1802
        pytorch/xla#1880 pytorch/xla#2939 pytorch/xla#2917 pytorch/xla#3302
        pytorch/xla#3380 pytorch/pytorch#141481 pytorch/xla#2366 pytorch/xla#901
        pytorch/pytorch#195547 openxla/xla#44937 pytorch/xla#3307 pytorch/pytorch#143490
        pytorch/xla#2602 pytorch/xla#2254 pytorch/xla#2992 pytorch/xla#1401
        pytorch/xla#2661 tenstorrent/tt-metal#27001 pytorch/xla#2588 apache/tvm#17932
        pytorch/pytorch#66756 tenstorrent/tt-forge-onnx#2829 pytorch/xla#1239
        pytorch/xla#1233 apple/coremltools#2818 tqch/ddpm-torch#4 pytorch/xla#3450
        pytorch/xla#898 pytorch/xla#873 pytorch/xla#1657 tenstorrent/tt-xla#5325
        pytorch/xla#3330 pytorch/xla#3392 pytorch/xla#514 pytorch/xla#1128 pytorch/xla#1726
        pytorch/xla#2333 pytorch/xla#2162 pytorch/pytorch#60075 pytorch/xla#7304
        pytorch/xla#4432 pytorch/xla#1893 tensorflow/tensorflow#19517 pytorch/xla#1775
        pytorch/xla#2627 google-research/simclr#162 pytorch/xla#2650 jax-ml/jax#5052
        tensorflow/tensorflow#18430 jax-ml/jax#35916 jax-ml/jax#18590 pytorch/pytorch#50234
        pytorch/pytorch#34797 pytorch/xla#2241 tensorflow/tensorflow#12115
        pytorch/executorch#1362 DifferentiableUniverseInitiative/flowpm#31 apache/tvm#8877
        pytorch/pytorch#42175 pytorch/pytorch#43886 microsoft/onnxscript#714
        fgnt/padertorch#104 pytorch/xla#1772 Lightning-AI/pytorch-lightning#1306
        pytorch/xla#1509 pytorch/xla#659 pytorch/xla#1965 pytorch/xla#2453 pytorch/xla#1749
        pytorch/pytorch#18348 pytorch/xla#1776 pytorch/xla#2727 norse/norse#186
        pytorch/xla#662 pytorch/xla#7267 pytorch/xla#8897 pytorch/xla#3080 pytorch/xla#2702
        pytorch/xla#2629 openxla/xla#26995 pytorch/xla#285 google-research/t5x#79
        EnzymeAD/Enzyme-JAX#2126 pytorch/xla#3430 pytorch/xla#998 pytorch/xla#867
        pytorch/xla#1936 pytorch/xla#2536 pytorch/xla#3502 pytorch/xla#9314
        pytorch/xla#4647 pytorch/xla#6403 pytorch/xla#5934 pytorch/xla#592 pytorch/xla#2499
        pytorch/xla#1783 pytorch/xla#6750 pytorch/xla#862 pytorch/xla#2688 pytorch/xla#420
        pytorch/xla#1414 pytorch/xla#994 pytorch/pytorch#17751 pytorch/xla#2318
        pytorch/xla#2405 pytorch/xla#2001 pytorch/xla#1155 pytorch/xla#1196
        pytorch/xla#2403 pytorch/xla#2621 pytorch/xla#2547 pytorch/xla#2576
        lukemelas/EfficientNet-PyTorch#157 pytorch/xla#1489 pytorch/xla#7077
        pytorch/xla#1761 pytorch/xla#8811 pytorch/xla#1379 huggingface/transformers#29496
        huggingface/transformers#24262 EleutherAI/gpt-neox#1003 NVIDIA/Megatron-LM#744
        InternLM/InternLM#239 sgl-project/sglang-jax#1472 okoge-kaz/llm-recipes#6
        huggingface/transformers#27700 sgl-project/sglang-jax#1473
        huggingface/transformers#25681 pytorch/pytorch#183812 pytorch/xla#1412
        pytorch/xla#2936 pytorch/pytorch#57015 pytorch/TensorRT#2739
        rusty1s/pytorch_scatter#279 pytorch/executorch#7910 pytorch/xla#7095
        pytorch/executorch#7911 pytorch/xla#6520 keras-team/keras#13249
        pytorch/pytorch#104182 pytorch/pytorch#84989 apache/tvm#20374 pytorch/xla#3506
        pytorch/xla#2054 pytorch/xla#1093 tenstorrent/tt-xla#1087 tenstorrent/tt-xla#2066
        pytorch/xla#2712 llvm/torch-mlir#1946 pytorch/pytorch#45259
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
