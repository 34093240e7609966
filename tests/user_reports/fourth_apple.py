"""What users of Apple's GPUs met, by searches of threads of the fourth round."""

import torch
import torchvision
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "MPS optimizer Adam SGD foreach fused step wrong or error Apple Silicon parameter complex "
    "bfloat16",
    "Add aten op to MPS backend pull request 2023 2024 lerp nextafter frac xlogy hypot gcd "
    "logaddexp trace digamma not implemented",
    "[MPS] random ops bernoulli multinomial randperm normal poisson dropout seed wrong "
    "distribution or unimplemented Apple issue",
    "[MPS] quantized matmul int4 int8 _weight_int4pack_mm _weight_int8pack_mm float8 not supported "
    "on mps torchao gguf mac",
    "mps torch.nn.MultiheadAttention TransformerEncoder fast path NaN or wrong with mask padding "
    "nested tensor Mac",
    "mps torch.where clamp isin bitwise shift integer division remainder fmod overflow int8 uint8 "
    "int64 wrong Apple GPU pytorch issue",
    'ComfyUI Mac mps fp8 checkpoint "Trying to convert Float8_e4m3fn to the MPS backend but it '
    'does not have support for that dtype"',
    'pytorch mps issue 2026 torch.compile or eager crash "2.13" "2.14" macOS 26 Tahoe M5 op '
    "regression metal kernel wrong result",
    "mps F.grid_sample 5D or torch.nn.functional.unfold fold affine_grid roi_align deform_conv "
    "torchvision not implemented Mac model",
    "[MPS] matmul bmm einsum large tensor NDArray > 2**32 bytes or batch dimension crash or wrong "
    "output attention long sequence Mac",
    "[MPS] GroupNorm LayerNorm RMSNorm BatchNorm InstanceNorm wrong gradient, non-contiguous, half "
    "precision or empty batch issue Apple GPU",
    "sentence-transformers, spaCy, stable-baselines3, pytorch-forecasting, botorch, fastai on Mac "
    'mps error "MPS" aten not implemented or float64 issue',
    "NotImplementedError aten:: MPS music separation, audio codec, voice, demucs, encodec, "
    "whisperX, pyannote Mac _fft_r2c angle stft weight_norm unfold",
    '"not currently implemented for the MPS device" 3D gaussian, NeRF, SMPL, depth, optical flow, '
    "tracking, super resolution model github issue aten",
    "[MPS] Enable or Extend op to int types bfloat16 pull request 2024 2025: addcmul, lerp, tril, "
    "cumsum, sort, nonzero, index_fill, isin, bucketize, repeat_interleave",
    "[MPS] Implement aten op kernel pull request 2025 2026 fractional_max_pool grid_sampler_3d "
    "ctc_loss embedding_bag histogramdd segment_reduce linalg_householder_product",
    "[MPS] Fix bug pull request 2026 wrong results scatter index copy slice views strided Metal "
    "kernel hvaara jhavukainen Isalia20 malfet regression",
)
MPS = "apple-mps"

X = torch.linspace(-1, 1, 24).view(4, 6)
ZERO = torch.zeros(4)
BOXES = torch.tensor([[0.0, 0.0, 0.0, 4.0, 4.0]])
ROWS = torch.tensor([[True, False, False], [True, True, False], [False, False, False]])
PARTS = torch.linspace(0, 0.9, 4).view(1, 2, 2)


def _adamw(param: Tensor, grad: Tensor, mean: Tensor, square: Tensor, step: Tensor) -> Tensor:
    found = param.clone()
    torch._fused_adamw_(
        [found], [grad], [mean.clone()], [square.clone()], [], [step.clone()], lr=1e-3, beta1=0.9,
        beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False,
    )  # fmt: skip
    return found


def _decayed(param: Tensor, factor: Tensor) -> Tensor:
    return param.clone().mul_(factor)


def _lerped(x: Tensor, y: Tensor) -> Tensor:
    return torch.lerp(x, y, 0.1)


def _randoms(x: Tensor) -> Tensor:
    return torch.empty_like(x).random_()


def _attended(q: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, q, q, attn_mask=mask)


def _pooled(x: Tensor, parts: Tensor) -> Tensor:
    found: Tensor = torch.ops.aten.fractional_max_pool2d(x, [2, 2], [1, 1], parts)[0]
    return found


REPORTS = (
    Report(
        "MPS: fused AdamW", "pytorch/pytorch#127242", 0,
        "a pull request of June 2024 writes the fused Adam and AdamW",
        f"{MPS}@2.3.1", Met.REFUSED, Because.NO_KERNEL, _adamw,
        (X, X, X, X * X, torch.ones(())), ("aten::_fused_adamw_", "aten::_fused_adamw"),
        mended={f"{MPS}@2.5.1": Met.WORKS},
    ),
    Report(
        "MPS: fused AdamW in bfloat16", "pytorch/pytorch#141104", 0,
        "the fused AdamW has no kernels of bfloat16 before November 2024",
        f"{MPS}@2.5.1", Met.REFUSED, Because.DTYPE, _adamw,
        (X.bfloat16(), X.bfloat16(), X.bfloat16(), (X * X).bfloat16(), torch.ones(())),
        ("aten::_fused_adamw_", "aten::_fused_adamw"), mended={f"{MPS}@2.6.0": Met.WORKS},
    ),
    Report(
        "MPS: a bfloat16 parameter times a float scalar", "karpathy/nanochat#741", 0,
        "decaying bfloat16 weights by a scalar tensor of float32 crashes Metal's compiler",
        f"{MPS}@2.9.1", Met.REFUSED, Because.DTYPE, _decayed,
        (torch.ones(32, 16).bfloat16(), torch.tensor(0.9)), ("aten::mul_", "aten::mul"),
    ),
    Report(
        "MPS: lerp", "pytorch/pytorch#105382", 0,
        "Adam needs `lerp`, which is not implemented",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL, _lerped, (X, X + 1), ("aten::lerp",),
    ),
    Report(
        "MPS: random_ without bounds", "pytorch/pytorch#98118", 2,
        "`random_` lacks an entry for MPS, an oversight that is mended at once",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL, _randoms, (X,), ("aten::random_",),
        mended={f"{MPS}@2.1.2": Met.WORKS},
    ),
    Report(
        "MPS: attention to nothing", "pytorch/pytorch#167515", 4,
        "rows of a mask in four dimensions that hide everything give NaN, unlike on the CPU",
        f"{MPS}@2.9.1", Met.WRONG, Because.OTHER, _attended,
        (torch.linspace(-1, 1, 96).view(1, 4, 3, 8), ROWS.expand(1, 1, 3, 3)),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math_for_mps",
         "aten::_scaled_dot_product_attention_math"),
    ),
    Report(
        "MPS: float8 weights cast to half", "Comfy-Org/ComfyUI#6859", 6,
        "float8 weights of Flux cannot be put on MPS",
        f"{MPS}@2.6.0", Met.REFUSED, Because.DTYPE,
        lambda w: w.to(torch.float16), (X.to(torch.float8_e4m3fn),), ("aten::_to_copy",),
    ),
    Report(
        "MPS: unfold of images", "pytorch/pytorch#132711", 8,
        "`im2col` warns that it runs on the CPU",
        f"{MPS}@2.4.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: F.unfold(x, 3, padding=1), (torch.ones(4, 2, 40, 40),), ("aten::im2col",),
    ),
    Report(
        "MPS: aligned regions", "pytorch/vision#6986", 8,
        "`roi_align` is not implemented",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x, boxes: torchvision.ops.roi_align(x, boxes, 2), (torch.ones(1, 3, 8, 8), BOXES),
        ("torchvision::roi_align",),
    ),
    Report(
        "MPS: layer_norm of a slice", "pytorch/pytorch#131750", 10,
        "layer_norm of rows of a tensor reads its first rows instead",
        f"{MPS}@2.4.1", Met.WRONG, Because.LAYOUT,
        lambda x, w, b: F.layer_norm(x[1:3], (6,), w, b), (X, torch.ones(6), torch.zeros(6)),
        ("aten::native_layer_norm", "aten::layer_norm"),
    ),
    Report(
        "MPS: isin of two tensors", "amazon-science/chronos-forecasting#141", 11,
        "generation of transformers needs `isin`, which is not implemented",
        f"{MPS}@2.3.1", Met.REFUSED, Because.NO_KERNEL,
        torch.isin, (torch.arange(6), torch.tensor([1, 2])), ("aten::isin",),
    ),
    Report(
        "MPS: linear interpolation of series", "Nixtla/neuralforecast#620", 11,
        "`upsample_linear1d` is not implemented",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, size=12, mode="linear"), (X[None],),
        ("aten::upsample_linear1d",),
    ),
    Report(
        "MPS: transform of real sounds", "pytorch/pytorch#98272", 12,
        "`_fft_r2c` is not implemented",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        torch.fft.rfft, (X,), ("aten::_fft_r2c", "aten::fft_rfft"),
    ),
    Report(
        "MPS: transmittance by cumprod", "MaximeVandegar/Papers-in-100-Lines-of-Code#11", 13,
        "`cumprod` is not implemented",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.cumprod(x, 1), (X,), ("aten::cumprod",),
    ),
    Report(
        "MPS: pooling of fractions", "pytorch/pytorch#197847", 15,
        "`fractional_max_pool2d` is not implemented, in September 2026",
        f"{MPS}@2.14.1", Met.REFUSED, Because.NO_KERNEL,
        _pooled, (torch.linspace(0, 1, 98).view(1, 2, 7, 7), PARTS),
        ("aten::fractional_max_pool2d",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        meta-pytorch/torchtune#1942 pytorch/pytorch#77764 pytorch/pytorch#78110
        pytorch/pytorch#99802 pytorch/pytorch#104170 pytorch/pytorch#182210 pytorch/pytorch#85611
        pytorch/pytorch#92752 Comfy-Org/ComfyUI#16458 pytorch/pytorch#144190 pytorch/pytorch#154171
        tincans-ai/gazelle#1 pytorch/pytorch#185663 pytorch/pytorch#190052 pytorch/pytorch#154280
        pytorch/pytorch#88899 Comfy-Org/ComfyUI#9263 Comfy-Org/ComfyUI#6995 Comfy-Org/ComfyUI#8988
        Comfy-Org/ComfyUI#5541 Comfy-Org/ComfyUI#8881 pytorch/pytorch#122016 pytorch/pytorch#159791
        pytorch/pytorch#197636 pytorch/pytorch#84039 pytorch/pytorch#134177 pytorch/pytorch#149261
        pytorch/pytorch#116769 pytorch/pytorch#175189 pytorch/pytorch#190645 pytorch/pytorch#183825
        pytorch/pytorch#169372 Anjok07/ultimatevocalremovergui#863 metavoiceio/metavoice-src#1
        pytorch/pytorch#141287 pytorch/pytorch#195271 pytorch/pytorch#173150 pytorch/pytorch#173148
        Comfy-Org/ComfyUI#6041
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#78063 pytorch/pytorch#78009 pytorch/pytorch#78010 pytorch/pytorch#81077
        pytorch/pytorch#42323 pytorch/pytorch#41508 pytorch/pytorch#78848 pytorch/pytorch#24861
        pytorch/pytorch#15921 pytorch/pytorch#191794 pytorch/pytorch#104642 pytorch/pytorch#86107
        pytorch/pytorch#94273 invoke-ai/InvokeAI#431 pytorch/pytorch#88331 pytorch/pytorch#78429
        pytorch/pytorch#57801 pytorch/pytorch#57907 pytorch/pytorch#61897 kulinseth/pytorch#19
    """,
    Why.NO_PROGRAM: """
        pytorch/vision#9164 pytorch/pytorch#112956 intel/torch-xpu-ops#557 intel/torch-xpu-ops#565
        intel/torch-xpu-ops#519 pytorch/pytorch#123997 pytorch/pytorch#151667
        pytorch/pytorch#152028 actions/runner-images#14380 pytorch/pytorch#141909
        pytorch/pytorch#156555 DLR-RM/stable-baselines3#951 facebookresearch/segment-anything#453
        sktime/pytorch-forecasting#1768 nomadkaraoke/python-audio-separator#90
        facebookresearch/demucs#432 pytorch/pytorch#182052 mir-aidj/all-in-one#17
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#106260 pytorch/pytorch#99981 pytorch/pytorch#160064
    """,
    Why.NO_CALL: """
        deepspeedai/DeepSpeed#8300 tenstorrent/tt-metal#5045 tenstorrent/tt-forge-onnx#1012
        tenstorrent/tt-metal#2289 microsoft/onnxscript#281 pytorch/pytorch#149216
        ROCm/torch_migraphx#179 sdpython/mlprodict#149 apache/tvm#5312 pytorch/pytorch#107084
        pytorch/pytorch#118628 pytorch/pytorch#97409 pytorch/pytorch#165833 pytorch/pytorch#152155
        pytorch/pytorch#150121 pytorch/pytorch#170360 pytorch/pytorch#191976 pytorch/pytorch#158199
        pytorch/pytorch#186369 unifyai/ivy#17382 layumi/Pedestrian_Alignment#22 apache/tvm#5657
        open-mmlab/mmdetection#2180 unifyai/ivy#17384 CompVis/taming-transformers#259
        huggingface/sentence-transformers#2342
        Machine-Learning-for-Medical-Language/cnlp_transformers#200
        explosion/spaCy#13096 GianlucaApollaro/Music-Separator-GUI#3
        nomadkaraoke/python-audio-separator#84 NextAudioGen/ultimatevocalremover_api#14
        MrNeRF/LichtFeld-Studio#860 MrNeRF/awesome-3D-gaussian-splatting#104 google/hypernerf#58
        yi-cheng-liu/3d_gaussian_sam#2 nerfstudio-project/nerfstudio#506
        facebookresearch/pytorch3d#944 MrNeRF/awesome-3D-gaussian-splatting#227
        3D-Vision-World/awesome-NeRF-and-3DGS-SLAM#7 cmusatyalab/mega-nerf#78 PaddlePaddle/docs#5993
        PaddlePaddle/PaddleCustomDevice#1526 pytorch/pytorch#87205 ROCm/pytorch#505
        pytorch/pytorch#62454 pytorch/pytorch#63307 PaddlePaddle/Paddle#43085 pytorch/pytorch#22605
        pytorch/pytorch#15410 pytorch/pytorch#52556 openvinotoolkit/openvino#35005
        flagos-ai/FlagGems#5736 pytorch/pytorch#35024 dgrauet/ltx-2-mlx#35 huggingface/candle#3706
        tenstorrent/tt-metal#56494 JuliaGPU/Metal.jl#857 tracel-ai/cubecl#651
        pytorch/pytorch#143375 tillahoffmann/jax-mps#42 ml-explore/mlx#4267 ml-explore/mlx#1122
        ROCm/AMDMIGraphX#4919
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
