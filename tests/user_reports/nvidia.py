"""What users of NVIDIA's GPUs met, through PyTorch on CUDA."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torch.nn.attention import SDPBackend, sdpa_kernel

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "CUDA RuntimeError not implemented for 'Half' 'BFloat16' operator torch cuda kernel",
    "T4 V100 GPU bfloat16 not supported or slow torch operator sm_70 sm_75",
    "torch._scaled_mm float8 requires compute capability 8.9 9.0 A100 RTX error",
    "scaled_dot_product_attention flash attention no available kernel Ampere or newer T4 head_dim "
    "CUDA",
    "not implemented for 'Float8_e4m3fn' CUDA torch operator",
    "pytorch CUDA integer matmul addmm_cuda baddbmm not implemented for 'Long' 'Int' 'Char' or "
    "bool",
    "pytorch 2 CUDA operator wrong results compared with CPU silent correctness A100 H100",
    "pytorch 2 CUDA large tensor more than 2**31 elements int32 index overflow operator error or "
    "wrong",
    "pytorch 2 CUDA error invalid configuration argument large batch operator",
    "cuDNN convolution error CUDNN_STATUS_NOT_SUPPORTED bfloat16 conv3d H100 torch 2",
    "torch._int_mm _weight_int4pack_mm _grouped_mm _scaled_grouped_mm requires H100 shape error",
    "pytorch 2 CUDA linalg eigh svd cholesky half not implemented cusolver error wrong",
    "pytorch CUDA does not have a deterministic implementation use_deterministic_algorithms "
    "operator error",
    "torch uint16 uint32 uint64 CUDA not implemented operator",
    "pytorch CUDA complex half ComplexHalf sparse CSR operator not implemented",
    "pytorch 2 CUDA backward fails or wrong gradient only on GPU grid_sample pooling ctc_loss "
    "upsample",
    "torch 2 \"_cuda\" not implemented for 'BFloat16' operator missing CUDA feature request 2023 "
    "2024",
    "pytorch cuDNN attention SDPA H100 wrong or error regression torch 2.5",
    "torchvision CUDA nms roi_align deform_conv2d half bfloat16 not implemented many boxes",
    "pytorch CUDA multinomial 2^24 categories topk sort median limit error",
    "QuantizedCUDA backend could not run quantized linear conv dequantize CUDA",
    "pytorch 2 CUDA max_pool2d interpolate upsample int32 limit output too large error",
    "semi structured sparse 2:4 cusparselt CUDA shape dtype not supported error A100 H100",
    "module: cuda module: correctness (silent) bot-triaged float16 kernel returns wrong values",
)
T4 = "nvidia-t4"
A100 = "nvidia-a100"
H100 = "nvidia-h100"
RTX = "nvidia-rtx4090"
ATTENTION = (
    "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_efficient_attention", "aten::_scaled_dot_product_cudnn_attention",
)  # fmt: skip
UPSAMPLE = ("aten::upsample_nearest2d",)
POOL = ("aten::max_pool2d_with_indices", "aten::max_pool2d")

SHORT = torch.linspace(-1, 1, 6).bfloat16()
PICTURE = torch.ones(1, 3, 4, 4)
EIGHTHS = torch.ones(16, 16).to(torch.float8_e4m3fn)
MARKS = torch.tensor([True, False, False, True])
LOW_RANK = torch.ones(784, 7)
KEYS = torch.full((1, 1, 704, 64), -12.5).bfloat16()


class QuantizedLinear(nn.Module):
    """A linear layer of FBGEMM, whose packed weights no move to a device reaches."""

    def __init__(self) -> None:
        super().__init__()
        weight = torch.quantize_per_tensor(torch.ones(64, 32), 0.2, 0, torch.qint8)
        self.packed = torch.ops.quantized.linear_prepack(weight, torch.ones(64))

    def forward(self, x: Tensor) -> Tensor:
        found = torch.quantize_per_tensor(x, 1.2, 0, torch.quint8)
        return torch.ops.quantized.linear(found, self.packed, 4.2, 0)  # type: ignore[no-any-return]  # of torch


def _the_same_way_each_time(call: Callable[..., Any], *args: Any) -> Any:
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        return call(*args)
    finally:
        torch.use_deterministic_algorithms(before)


def _flash(q: Tensor) -> Tensor:
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
        return F.scaled_dot_product_attention(q, q, q, is_causal=True)


def _scaled_by_rows(x: Tensor, y: Tensor) -> Tensor:
    rows = torch.ones(16, 1, device=x.device)
    return torch._scaled_mm(x, y.t(), rows, rows.t(), out_dtype=torch.bfloat16)


def _count_beyond(x: Tensor) -> Tensor:
    found = torch.arange(2**32 + 8, dtype=torch.uint8, device=x.device)
    return found[-8:].clone()


def _many_coins(x: Tensor) -> Tensor:
    found = torch.randint(2, (2**31 - 2,), dtype=torch.int8, device=x.device)
    return found[-8:].clone()


def _two_of_four(x: Tensor, marks: Tensor) -> Tensor:
    return x.expand(4, 87, 1056, 736)[marks]


def _rows_pooled(x: Tensor) -> Tensor:
    x = x.contiguous(memory_format=torch.channels_last)
    return F.avg_pool2d(x, 2, 1, 1)


def _clip_enlarged(x: Tensor) -> Tensor:
    clip = x.expand(1, 146, 8, 360, 640)
    return F.interpolate(clip, scale_factor=2, mode="nearest")[0, 0, 0].clone()


REPORTS = (
    Report(
        "CUDA: bfloat16 on a V100", "pytorch/pytorch#124996", 1,
        "`matmul` in bfloat16 runs, though `is_bf16_supported` says no",
        f"{T4}@2.2.2", Met.WORKS, Because.CHIP,
        torch.matmul, (torch.ones(3, 3).bfloat16(), torch.ones(3, 3).bfloat16()),
        ("aten::mm", "aten::matmul"),
    ),
    Report(
        "CUDA: flash attention of large heads, backwards", "pytorch/pytorch#100326", 3,
        "flash attention does not train heads above 64 on sm86 or newer",
        f"{RTX}@2.0.1", Met.REFUSED, Because.CHIP,
        Learned(_flash, torch.ones(1, 2, 16, 128).bfloat16()), (), ATTENTION, training=True,
    ),
    Report(
        "CUDA: arithmetic of float8", "aredden/flux-fp8-api#44", 4,
        "sums, products and quotients of float8_e4m3fn are not implemented",
        f"{RTX}@2.7.1", Met.REFUSED, Because.DTYPE,
        lambda x: x * x, (EIGHTHS,), ("aten::mul",),
    ),
    Report(
        "CUDA: cat of float8", "pytorch/pytorch#107256", 4,
        "`cat` of float8_e4m3fn is not implemented in torch 2.1",
        f"{H100}@2.1.2", Met.REFUSED, Because.DTYPE,
        lambda x: torch.cat((x, x)), (EIGHTHS,), ("aten::cat",),
    ),
    Report(
        "CUDA: float8 scaled by rows on an RTX 6000 Ada", "pytorch/ao#1057", 4,
        "CUTLASS has no instruction for float8_e4m3fn scaled by rows there: not implemented",
        f"{RTX}@2.5.1", Met.REFUSED, Because.CHIP,
        _scaled_by_rows, (EIGHTHS, EIGHTHS), ("aten::_scaled_mm",),
    ),
    Report(
        "CUDA: products of int64", "elixir-nx/nx#1009", 5,
        "`addmm_cuda` is not implemented for 'Long'",
        f"{A100}@2.3.1", Met.REFUSED, Because.DTYPE,
        torch.matmul, (torch.ones(2, 3, dtype=torch.int64), torch.ones(3, 2, dtype=torch.int64)),
        ("aten::mm", "aten::matmul"),
    ),
    Report(
        "CUDA: Conv2d of ones", "pytorch/pytorch#133093", 6,
        "Conv2d(20, 48, 3) in float32 gives 97.2270 where the CPU gives 97.2275",
        f"{RTX}@2.3.1", Met.WRONG, Because.OTHER,
        nn.Conv2d(20, 48, 3, bias=False), (torch.ones(20, 5, 5),),
        ("aten::convolution", "aten::conv2d", "aten::_convolution", "aten::cudnn_convolution"),
    ),
    Report(
        "CUDA: arange beyond 2**32", "pytorch/pytorch#197673", 7,
        "all elements from 2**32 on are zero",
        f"{A100}@2.11.0", Met.WRONG, Because.SHAPE,
        _count_beyond, (torch.ones(1),), ("aten::arange",),
        mended={f"{A100}@2.12.1": Met.WRONG, f"{A100}@2.13.0": Met.WRONG},
    ),
    Report(
        "CUDA: randint of 2**31 - 2 elements", "pytorch/pytorch#141613", 7,
        "it gives zeros for int8",
        f"{A100}@2.5.1", Met.WRONG, Because.SHAPE,
        _many_coins, (torch.ones(1),), ("aten::randint", "aten::random_"),
    ),
    Report(
        "CUDA: rows of a large tensor", "pytorch/pytorch#164048", 8,
        "an index of (4, 87, 1056, 736) by a mask of four: invalid configuration argument",
        f"{A100}@2.8.0", Met.REFUSED, Because.SHAPE,
        _two_of_four, (torch.ones(1, 1, 1, 1, dtype=torch.int64), MARKS), ("aten::index",),
    ),
    Report(
        "CUDA: eigh of a low rank", "pytorch/pytorch#105359", 11,
        "`linalg.eigh` fails on a large float32 matrix of low rank, and spoils memory",
        f"{A100}@2.0.1", Met.REFUSED, Because.OTHER,
        lambda x: torch.linalg.eigh(x @ x.t()), (LOW_RANK,),
        ("aten::_linalg_eigh", "aten::linalg_eigh"),
    ),
    Report(
        "CUDA: cumsum the same way each time", "pytorch/pytorch#135021", 12,
        "it has no deterministic implementation",
        f"{A100}@2.4.1", Met.REFUSED, Because.OTHER,
        lambda x: _the_same_way_each_time(torch.cumsum, x, 0), (torch.ones(5),),
        ("aten::cumsum",),
    ),
    Report(
        "CUDA: gradients of linear interpolation the same way each time",
        "pytorch/pytorch#72831", 12,
        "`upsample_linear1d_backward` has no deterministic implementation",
        f"{A100}@2.1.2", Met.REFUSED, Because.OTHER,
        lambda x: _the_same_way_each_time(
            torch.ops.aten.upsample_linear1d_backward, x, [20], [2, 3, 10], False, None
        ),
        (torch.ones(2, 3, 20),), ("aten::upsample_linear1d_backward",),
    ),
    Report(
        "CUDA: products of sparse halves", "cai4cai/torchsparsegradutils#53", 14,
        "`addmm_sparse_cuda` is not implemented for 'Half'",
        f"{A100}@2.2.2", Met.REFUSED, Because.DTYPE,
        lambda x, y: torch.sparse.mm(x.to_sparse(), y),
        (torch.eye(3).half(), torch.ones(3, 2).half()),
        ("aten::addmm", "aten::mm", "aten::_sparse_mm", "aten::_sparse_addmm"),
    ),
    Report(
        "CUDA: avg_pool2d of channels_last, backwards", "pytorch/pytorch#188344", 15,
        "with padding the gradients of a channels_last input are wrong",
        f"{A100}@2.12.1", Met.WRONG, Because.LAYOUT,
        Learned(_rows_pooled, torch.linspace(0, 1, 32).view(1, 2, 4, 4).double()), (),
        ("aten::avg_pool2d_backward", "aten::avg_pool2d"), training=True,
    ),
    Report(
        "CUDA: frexp of bfloat16", "pytorch/pytorch#133263", 16,
        "`frexp_cuda` is not implemented for 'BFloat16'",
        f"{T4}@2.3.1", Met.REFUSED, Because.DTYPE,
        torch.frexp, (SHORT,), ("aten::frexp",), mended={f"{T4}@2.5.1": Met.WORKS},
    ),
    Report(
        "CUDA: cross of bfloat16", "pytorch/pytorch#108940", 16,
        "`cross_cuda` is not implemented for 'BFloat16'",
        f"{A100}@2.0.1", Met.REFUSED, Because.DTYPE,
        lambda x, y: torch.cross(x, y, dim=-1), (SHORT.view(2, 3), SHORT.view(2, 3)),
        ("aten::cross", "aten::linalg_cross"),
    ),
    Report(
        "CUDA: kthvalue of bfloat16", "pytorch/pytorch#109991", 16,
        "`kthvalue_cuda` is not implemented for 'BFloat16'",
        f"{A100}@2.0.1", Met.REFUSED, Because.DTYPE,
        lambda x: x.kthvalue(1), (SHORT,), ("aten::kthvalue",),
    ),
    Report(
        "CUDA: replication padding of bfloat16", "pytorch/pytorch#117961", 16,
        "`replication_pad2d_cuda` is not implemented for 'BFloat16'",
        f"{A100}@2.1.2", Met.REFUSED, Because.DTYPE,
        nn.ReplicationPad2d(1), (PICTURE.bfloat16(),), ("aten::replication_pad2d",),
    ),
    Report(
        "CUDA: upsampling of bfloat16", "pytorch/pytorch#80339", 16,
        "upsampling takes no bfloat16 before torch 2.1",
        f"{A100}@2.0.1", Met.REFUSED, Because.DTYPE,
        nn.Upsample(scale_factor=2), (PICTURE.bfloat16(),), UPSAMPLE,
        mended={f"{A100}@2.1.2": Met.WORKS},
    ),
    Report(
        "CUDA: smooth_l1_loss of bfloat16", "pytorch/pytorch#116933", 16,
        "it takes no bfloat16: a pull request of January 2024 lets it",
        f"{A100}@2.1.2", Met.REFUSED, Because.DTYPE,
        F.smooth_l1_loss, (SHORT, SHORT), ("aten::smooth_l1_loss",),
        mended={f"{A100}@2.3.1": Met.WORKS},
    ),
    Report(
        "CUDA: gradients of attention with a mask", "pytorch/pytorch#196678", 17,
        "cuDNN gives NaN for queries where 64 keys are left over and all scores are small",
        f"{H100}@2.13.0", Met.WRONG, Because.SHAPE,
        Learned(
            lambda q, k, mask: F.scaled_dot_product_attention(q, k, k, attn_mask=mask),
            torch.ones(1, 1, 704, 64).bfloat16(),
        ),
        (KEYS, torch.ones(704, 704, dtype=torch.bool)), ATTENTION, training=True,
        mended={f"{H100}@2.10.0": Met.WORKS},
    ),
    Report(
        "CUDA: quantized linear", "pytorch/pytorch#185516", 20,
        "`quantized::linear` ends the process when its input is on CUDA",
        f"{A100}@2.12.1", Met.REFUSED, Because.NO_KERNEL,
        QuantizedLinear(), (torch.ones(4, 32),), ("quantized::linear",),
    ),
    Report(
        "CUDA: max_pool2d of integers", "pytorch/pytorch#107412", 21,
        "integers are pooled on the CPU and not on CUDA",
        f"{A100}@2.0.1", Met.REFUSED, Because.DTYPE,
        nn.MaxPool2d(2), (PICTURE.int(),), POOL,
    ),
    Report(
        "CUDA: a video enlarged beyond 2**31 elements", "pytorch/pytorch#144855", 21,
        "`upsample_nearest3d` only supports output tensors with less than INT_MAX elements",
        f"{A100}@2.5.1", Met.REFUSED, Because.SHAPE,
        _clip_enlarged, (torch.ones(1, 1, 1, 1, 1, dtype=torch.uint8),),
        ("aten::upsample_nearest3d",),
    ),
    Report(
        "CUDA: max_pool2d with holes of 2**31 - 1", "pytorch/pytorch#189664", 21,
        "such a dilation overflows: illegal memory access",
        f"{A100}@2.13.0", Met.REFUSED, Because.VALUE,
        nn.MaxPool2d(1, dilation=2147483647, ceil_mode=True), (torch.zeros(5, 10, 24, 24),), POOL,
    ),
)  # fmt: skip

LEFT_OUT = (
    LeftOut("chijames/KERPLE#5", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#23149", Why.NO_TARGET),
    LeftOut("NVIDIA/apex#244", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#83322", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#55360", Why.NO_TARGET),
    LeftOut("rusty1s/pytorch_cluster#203", Why.OTHERS),
    LeftOut("pytorch/pytorch#101359", Why.NO_TARGET),
    LeftOut("pytorch/executorch#13587", Why.NO_TARGET),
    LeftOut("zhanghang1989/PyTorch-Encoding#363", Why.OTHERS),
    LeftOut("pytorch/pytorch#36318", Why.NO_TARGET),
    LeftOut("huggingface/transformers#27769", Why.NO_TARGET),
    LeftOut("appvision-ai/fast-bert#177", Why.NO_TARGET),
    LeftOut("vllm-project/vllm#946", Why.NO_CALL),
    LeftOut("pytorch/pytorch#57773", Why.NO_TARGET),
    LeftOut("substratusai/vllm-docker#37", Why.NO_CALL),
    LeftOut("vllm-project/vllm#1157", Why.NO_CALL),
    LeftOut("OpenBuddy/OpenBuddy#45", Why.NO_CALL),
    LeftOut("pytorch/pytorch#16733", Why.NO_TARGET),
    LeftOut("karpathy/nanoGPT#277", Why.NO_CALL),
    LeftOut("facebookresearch/chameleon#39", Why.OTHERS),
    LeftOut("vllm-project/vllm#9990", Why.NO_CALL),
    LeftOut("zai-org/GLM-4#510", Why.NO_CALL),
    LeftOut("facebookresearch/dinov3#74", Why.NO_CALL),
    LeftOut("meta-pytorch/float8_experimental#197", Why.KNOWN),
    LeftOut("pytorch/pytorch#118703", Why.KNOWN),
    LeftOut("meta-pytorch/float8_experimental#236", Why.KNOWN),
    LeftOut("kijai/ComfyUI-HunyuanVideoWrapper#98", Why.KNOWN),
    LeftOut("replicate/cog-flux#23", Why.KNOWN),
    LeftOut("aredden/flux-fp8-api#30", Why.KNOWN),
    LeftOut("pytorch/pytorch#164251", Why.KNOWN),
    LeftOut("pytorch/ao#2904", Why.NO_TARGET),
    LeftOut("Comfy-Org/ComfyUI#5036", Why.KNOWN),
    LeftOut("kijai/ComfyUI-PyramidFlowWrapper#43", Why.KNOWN),
    LeftOut("vllm-project/vllm#49932", Why.OTHERS),
    LeftOut("kijai/ComfyUI-CogVideoXWrapper#40", Why.KNOWN),
    LeftOut("sgl-project/sgl-flash-attn#3", Why.OTHERS),
    LeftOut("Dao-AILab/flash-attention#328", Why.OTHERS),
    LeftOut("Dao-AILab/flash-attention#276", Why.OTHERS),
    LeftOut("johnsmith0031/alpaca_lora_4bit#138", Why.OTHERS),
    LeftOut("pytorch/pytorch#117354", Why.UNCONFIRMED),
    LeftOut("Dao-AILab/flash-attention#1533", Why.OTHERS),
    LeftOut("Dao-AILab/flash-attention#138", Why.OTHERS),
    LeftOut("Dao-AILab/flash-attention#2581", Why.OTHERS),
    LeftOut("NVIDIA/TransformerEngine#3006", Why.OTHERS),
    LeftOut("Dao-AILab/flash-attention#762", Why.OTHERS),
    LeftOut("pytorch/pytorch#129579", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#158313", Why.KNOWN),
    LeftOut("flashinfer-ai/flashinfer#5283", Why.OTHERS),
    LeftOut("pytorch/pytorch#44428", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#2469", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#4157", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#89730", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#90935", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#23286", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#22431", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#4160", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#11936", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#20897", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#23287", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#153209", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#105941", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#111349", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#156173", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#57919", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#71753", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#53178", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#55355", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#122024", Why.UNCONFIRMED),
    LeftOut("flagos-ai/FlagGems#4156", Why.OTHERS),
    LeftOut("meta-pytorch/MSLK#303", Why.OTHERS),
    LeftOut("pytorch/pytorch#21019", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#154168", Why.NO_CALL),
    LeftOut("raphaelreme/byotrack#2", Why.NO_TARGET),
    LeftOut("pytorch/torchtitan#2431", Why.NO_CALL),
    LeftOut("meta-pytorch/MSLK#257", Why.OTHERS),
    LeftOut("tinygrad/tinygrad#6987", Why.NO_CALL),
    LeftOut("pytorch/pytorch#80337", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#186057", Why.NO_CALL),
    LeftOut("airsplay/lxmert#28", Why.NO_PROGRAM),
    LeftOut("pytorch/ort#116", Why.NO_CALL),
    LeftOut("swc-17/SparseDrive#33", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#48573", Why.NO_TARGET),
    LeftOut("zeliu98/CloserLook3D#35", Why.OTHERS),
    LeftOut("NVIDIA/MinkowskiEngine#43", Why.NO_TARGET),
    LeftOut("huggingface/transformers#828", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#16998", Why.NO_TARGET),
    LeftOut("alibaba/graphlearn-for-pytorch#60", Why.OTHERS),
    LeftOut("swc-17/SparseDrive#62", Why.NO_PROGRAM),
    LeftOut("xmuqimingxia/3D-HANet#3", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#88571", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#58861", Why.NO_TARGET),
    LeftOut("Oneflow-Inc/oneflow#3147", Why.NO_CALL),
    LeftOut("Oneflow-Inc/oneflow#3162", Why.NO_CALL),
    LeftOut("pytorch/pytorch#163539", Why.NO_PROGRAM),  # only tensors too large for a host meet it
    LeftOut("pytorch/pytorch#11065", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#4107", Why.NO_TARGET),
    LeftOut("NVIDIA/cudnn-frontend#203", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#44473", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#187095", Why.NO_TARGET),
    LeftOut("pytorch/ao#4934", Why.NO_CALL),
    LeftOut("huggingface/optimum-quanto#218", Why.NO_CALL),
    LeftOut("pytorch/pytorch#147962", Why.NO_CALL),
    LeftOut("pytorch/pytorch#156806", Why.NO_TARGET),
    LeftOut("pytorch/executorch#4949", Why.NO_TARGET),
    LeftOut("flagos-ai/FlagGems#5323", Why.OTHERS),
    LeftOut("apple/coremltools#2559", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#161780", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#94772", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#60892", Why.NO_TARGET),
    LeftOut("KinglittleQ/torch-batch-svd#15", Why.OTHERS),
    LeftOut("pytorch/pytorch#38603", Why.NO_TARGET),
    LeftOut("jiaweizzhao/GaLore#7", Why.NO_PROGRAM),  # only tensors too large for a host meet it
    LeftOut("pytorch/pytorch#70669", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#53040", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#77248", Why.NO_TARGET),
    LeftOut("happyharrycn/actionformer_release#20", Why.NO_TARGET),
    LeftOut("pytorch/ignite#2756", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#41692", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#66233", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#152171", Why.NO_CALL),
    LeftOut("pytorch/vision#7579", Why.NO_CALL),
    LeftOut("pytorch/pytorch#149130", Why.NO_CALL),
    LeftOut("pytorch/pytorch#81645", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#55413", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#58734", Why.NO_TARGET),
    LeftOut("data-apis/array-api-compat#253", Why.NO_TARGET),
    LeftOut("unifyai/ivy#11759", Why.NO_CALL),
    LeftOut("pytorch/pytorch#135436", Why.NO_TARGET),
    LeftOut("unifyai/ivy#7228", Why.NO_CALL),
    LeftOut("helmholtz-analytics/heat#782", Why.NO_CALL),
    LeftOut("Ascend/pytorch#158", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#176356", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#44824", Why.NO_TARGET),
    LeftOut("hw-native-sys/pypto#2191", Why.NO_CALL),
    LeftOut("pytorch/pytorch#166813", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#50690", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#41069", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#68621", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#60648", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#50984", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#56485", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#57450", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#19695", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#86978", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#91631", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#2307", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#185495", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#60524", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#51569", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#65200", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#18561", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#75018", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#19826", Why.NO_TARGET),
    LeftOut("Ldhlwh/DFMGAN#3", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#22606", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#22349", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#133313", Why.KNOWN),
    LeftOut("huggingface/candle#43", Why.NO_CALL),
    LeftOut("pytorch/pytorch#139298", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#125343", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#193893", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#138649", Why.NO_PROGRAM),
    LeftOut("huggingface/diffusers#9768", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#128539", Why.NO_CALL),
    LeftOut("pytorch/pytorch#171627", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#134001", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#161210", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#158044", Why.NO_PROGRAM),
    LeftOut("facebookresearch/detectron2#2594", Why.NO_CALL),
    LeftOut("facebookresearch/detectron2#2502", Why.NO_TARGET),
    LeftOut("Bing-su/adetailer#236", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#713", Why.NO_TARGET),
    LeftOut("pytorch/vision#9203", Why.NO_PROGRAM),
    LeftOut("Fannovel16/comfyui_controlnet_aux#354", Why.NO_CALL),
    LeftOut("franciszzj/Leffa#40", Why.NO_CALL),
    LeftOut("LykosAI/StabilityMatrix#1463", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#1486", Why.NO_TARGET),
    LeftOut("shawnau/mask_rcnn_pytorch#3", Why.NO_TARGET),
    LeftOut("Deci-AI/super-gradients#1886", Why.NO_CALL),
    LeftOut("nicofdga/DZ-FaceDetailer#21", Why.NO_CALL),
    LeftOut("pytorch/pytorch#2044", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#2576", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#43115", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#871", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#7014", Why.NO_TARGET),
    LeftOut("facebookresearch/pytorch3d#182", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#37403", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#19900", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#25274", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#22086", Why.NO_TARGET),
    LeftOut("davidbrowne17/csm-streaming#31", Why.OTHERS),
    LeftOut("pytorch/pytorch#34583", Why.UNCONFIRMED),
    LeftOut("facebookresearch/d2go#87", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#42288", Why.NO_TARGET),
    LeftOut("qualcomm/aimet#1488", Why.OTHERS),
    LeftOut("pytorch/pytorch#30813", Why.NO_TARGET),
    LeftOut("Tencent/ncnn#3411", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#27811", Why.NO_TARGET),
    LeftOut("mflux-community/mflux#563", Why.NO_CALL),
    LeftOut("pytorch/pytorch#131252", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#141831", Why.NO_PROGRAM),  # only tensors too large for a host meet it
    LeftOut("pytorch/pytorch#167322", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#107545", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#107553", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#191920", Why.KNOWN),
    LeftOut("pytorch/pytorch#22526", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#132928", Why.OTHERS),
    LeftOut("pytorch/pytorch#132009", Why.OTHERS),
    LeftOut("pytorch/pytorch#115077", Why.OTHERS),
    LeftOut("pytorch/pytorch#62153", Why.OTHERS),
    LeftOut("pytorch/pytorch#115550", Why.OTHERS),
    LeftOut("NVIDIA/CUDALibrarySamples#162", Why.OTHERS),
    LeftOut("pytorch/ao#1561", Why.OTHERS),
    LeftOut("pytorch/pytorch#113776", Why.OTHERS),
    LeftOut("taichi-dev/taichi#7457", Why.NO_CALL),
    LeftOut("Theano/libgpuarray#316", Why.NO_CALL),
    LeftOut("cupy/cupy#3617", Why.NO_CALL),
    LeftOut("chelsea0x3b/dfdx#696", Why.NO_CALL),
    LeftOut("halide/Halide#8340", Why.NO_CALL),
    LeftOut("JuliaGPU/AMDGPU.jl#177", Why.NO_CALL),
    LeftOut("arrayfire/arrayfire#3560", Why.NO_CALL),
    LeftOut("exaloop/codon#803", Why.NO_CALL),
    LeftOut("chelsea0x3b/dfdx#705", Why.NO_CALL),
    LeftOut("NVIDIA/cuda-python#844", Why.NO_CALL),
    LeftOut("openvinotoolkit/nncf#39", Why.NO_CALL),
    LeftOut("numba/numba#7460", Why.NO_CALL),
)
