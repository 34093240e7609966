"""What users of AMD's and NVIDIA's GPUs met, by searches of threads of the fifth round."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "[CUDA] float16 or bfloat16 kernel gives wrong values silently, large tensor, torch 2.9 2.10 "
    "2.11 GPU differs from CPU minimal repro",
    "ROCm operator gives wrong result compared to CPU torch MI300X gfx942 silent incorrect values "
    "repro",
    'CUDA "not implemented for" GPU operator RuntimeError integer or bool dtype works on CPU user '
    "issue 2025 2026",
    "[CUDA] illegal memory read or write kernel edge case module: edge cases repro "
    "torch.nn.functional compute-sanitizer 2026",
    "module: correctness (silent) module: cuda torch 2.11 2.12 2.13 wrong output large numel int32 "
    "index overflow kernel fix",
    '[ROCm] fix torch op int overflow or grid limit "invalid configuration argument" pull request '
    "gfx942 gfx950 2026 test skip large tensor",
    "MIOpen batch_norm or conv bfloat16 channels_last NHWC wrong or fails PyTorch ROCm 2.8 2.9 "
    "2.10 gfx942 gfx1100",
    "torch.nn.functional.grid_sample or interpolate or pixel_shuffle CUDA error out of range or "
    "wrong for large batch or int64 index float16 H100 A100",
    'RTX 4090 or A100 torch 2.x "Expected" RuntimeError CUDA operator constraint: '
    "torch.searchsorted, bucketize, scatter_reduce, segment_reduce, index_reduce dtype not "
    "supported",
    "MIOpen naive conv global work size overflow patch-embed Conv2d(3, 1024, kernel=14) N 16384 "
    "MI355X invalid configuration argument",
    "torch-fuzz CUDA nn module illegal memory access jwnhy 2025 large output_size kernel_size "
    "padding",
    "CUDA result differs from CPU: torch.linalg or torch.fft or complex function returns NaN on "
    "GPU only, labels module: NaNs and Infs module: complex 2.6 2.7 2.8",
    "[ROCm] enable operator that was skipped: hipSOLVER hipSPARSE hipBLASLt missing raises on AMD "
    "until pull request 2024 2025 gesvdj, sparse mm half, addmm activation, _fused_sgd",
    "pow integer tensor with bool exponent CUDA INTERNAL ASSERT PowKernel.cu invalid combination "
    "of type in Pow function fix",
    '"Could not run \'aten::" "with arguments from the \'CUDA\' backend" torch 2 histogram '
    "lu_unpack sparse quantized user code fails on GPU works on CPU",
    "CUBLAS_STATUS_NOT_SUPPORTED or CUBLAS_STATUS_INVALID_VALUE cublasGemmStridedBatchedEx "
    "bfloat16 matmul specific shape stride torch 2.4 2.5 2.6 minimal repro",
    "HIPBLAS_STATUS_NOT_SUPPORTED hipblasLtMatmul addmm linear bias float16 bfloat16 float32 "
    "gfx90a gfx1100 torch 2.5 2.6 2.7 error shape",
    "CUDA backward is not deterministic or raises: F.ctc_loss F.grid_sample border F.fold "
    "F.cross_entropy label smoothing half CUDA error torch 2.x bug fixed",
    "torch.linalg CUDA error large batch: lu_factor inv solve cholesky eigh svd batch 65536 or "
    "more invalid configuration cusolver magma illegal memory torch 2",
    "AMD Radeon 7900 XTX torch operator extremely slow or hangs: conv_transpose1d, conv1d, "
    "GroupNorm, sort, cumsum, TTS vocoder MIOpen ROCm 6",
    "[ROCm] RuntimeError: HIPBLAS_STATUS_NOT_SUPPORTED in torch 2.6.0+rocm6.2.4 nn.Linear shape "
    "repro",
    "PyTorch CUDA optimizer or torch._foreach or GradScaler or clip_grad_norm error or wrong with "
    "bfloat16 complex sparse parameters GPU fused capturable 2.4 2.5 2.6",
    "CUDA scatter gather index_select take_along_dim float16 bfloat16 nondeterministic or wrong or "
    "out of memory; torch.unique, torch.bincount weights, torch.isin slow on GPU vs CPU H100 2025",
    "Jetson or T4 or A100: conv3d or conv_transpose3d float16 CUDNN_STATUS_EXECUTION_FAILED or "
    "very slow bfloat16 no engine found torch 2.8 2.9 2.10 video VAE",
    "CUDA AMP bf16 Unexpected floating ScalarType in at::autocast::prioritize index_put fix "
    "bfloat16 promote",
    "\"not implemented for 'BFloat16'\" CUDA kernel RuntimeError torch 2.6 2.7 2.8 2.9 cuda GPU "
    "operator missing bfloat16",
    "[ROCm] wrong gradient or NaN in backward on AMD gfx90a gfx942: embedding, layer_norm, "
    "group_norm, batch_norm, conv, gelu, cross_entropy pytorch fix 2024 2025 2026",
    "works now on ROCm after upgrading PyTorch, confirmed fixed on MI250 MI300X 7900 XTX: sort, "
    "cumsum, masked_fill, interpolate, embedding, bf16 conv",
)
A100, T4 = "nvidia-a100", "nvidia-t4"

INFINITE = torch.tensor([complex(torch.inf, 0), complex(0, torch.inf)], dtype=torch.complex128)
SPECTRUM = torch.tensor([1 + 2j, complex(torch.inf, -3), complex(-4, torch.inf)]).to(
    torch.complex64
)
BRAIN = torch.bfloat16


def _enlarged(pixels: Tensor, one: Tensor) -> Tensor:
    return F.interpolate(pixels * one, size=(128, 128), mode="bicubic", align_corners=True)


def _unscaled(gradient: Tensor, found: Tensor, scale: Tensor) -> Tensor:
    torch._amp_foreach_non_finite_check_and_unscale_([gradient.clone()], found.clone(), scale)
    return found


def _put_back(x: Tensor, at: Tensor, value: Tensor) -> Tensor:
    with torch.autocast("cuda", BRAIN):
        x = x.clone().requires_grad_()
        torch.index_put(x, [at], value).mean().backward()
    assert x.grad is not None
    return x.grad


def _sampled(features: Tensor, grid: Tensor) -> Tensor:
    with torch.autocast("cuda", BRAIN):
        return F.grid_sample(features.half(), grid.half(), align_corners=False)


REPORTS = (
    Report(
        "CUDA: integers to the power of True", "pytorch/pytorch#113198", 2,
        "`pow` of integers with a bool for exponent fails an internal assertion, and runs on a CPU",
        f"{A100}@2.1.2", Met.REFUSED, Because.VALUE,
        lambda x: torch.pow(x, True), (torch.tensor([1, 2]),),
        ("aten::pow",), mended={f"{A100}@2.2.2": Met.WORKS},
    ),
    Report(
        "CUDA: gradients of bicubic interpolation in half", "pytorch/pytorch#104157", 7,
        "sums of gradients stop at 2048 in float16, where float32 gives 16384",
        f"{A100}@2.0.1", Met.WRONG, Because.DTYPE,
        Learned(_enlarged, torch.ones(2, 2, 1, 1).half()), (torch.ones(1).half(),),
        ("aten::upsample_bicubic2d_backward", "aten::upsample_bicubic2d"), training=True,
    ),
    Report(
        "CUDA: grid_sample in half", "pytorch/pytorch#96429", 7,
        "places are computed in float16 and are off, without align_corners",
        f"{A100}@2.0.1", Met.WRONG, Because.DTYPE,
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (torch.ones(1, 3, 192, 192).half(), torch.zeros(1, 112, 112, 2).half()),
        ("aten::grid_sampler_2d", "aten::grid_sampler"), mended={f"{A100}@2.1.2": Met.WORKS},
    ),
    Report(
        "CUDA: sines of complex infinities", "pytorch/pytorch#141487", 11,
        "functions of complex numbers with an infinite part differ from a CPU's",
        f"{T4}@2.5.1", Met.WRONG, Because.VALUE, torch.sin, (INFINITE,), ("aten::sin",),
    ),
    Report(
        "CUDA: irfft of infinities", "pytorch/pytorch#165739", 11,
        "`irfft` gives NaN where a CPU gives numbers, if the spectrum has infinite parts",
        f"{T4}@2.8.0", Met.WRONG, Because.VALUE, torch.fft.irfft, (SPECTRUM,),
        ("aten::fft_irfft", "aten::_fft_c2r"),
    ),
    Report(
        "CUDA: int8 to the power of a tensor of -1", "pytorch/pytorch#137440", 13,
        '"reciprocal_cuda" is not implemented for Char, in `pow` of int8 with -1 in a tensor',
        f"{A100}@2.6.0", Met.REFUSED, Because.DTYPE,
        lambda x: torch.pow(x, torch.tensor(-1, dtype=torch.int8)),
        (torch.tensor([1, 2, 3, 4], dtype=torch.int8),), ("aten::pow",),
    ),
    Report(
        "CUDA: histogram in a diagnosis", "sbi-dev/sbi#1595", 14,
        "`torch.histogram` of a number of bins cannot run on CUDA",
        f"{A100}@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.histogram(x, bins=30, density=True)[0], (torch.linspace(0, 1, 20),),
        ("aten::histogram",),
    ),
    Report(
        "CUDA: gradients in bfloat16 unscaled", "huggingface/trl#4901", 21,
        '"_amp_foreach_non_finite_check_and_unscale_cuda" is not implemented for BFloat16',
        f"{A100}@2.9.1", Met.REFUSED, Because.DTYPE, _unscaled,
        (torch.ones(4, dtype=BRAIN), torch.zeros(1), torch.ones(1)),
        ("aten::_amp_foreach_non_finite_check_and_unscale_",),
    ),
    Report(
        "CUDA: distinct numbers in bfloat16", "pytorch/pytorch#142192", 22,
        '"unique" is not implemented for BFloat16 with torch 2.2; newer releases have it',
        f"{A100}@2.2.2", Met.REFUSED, Because.DTYPE,
        lambda x: torch.unique(x, return_counts=True),
        (torch.tensor([1.0, 2, 1.0, 2.5, 3.5], dtype=BRAIN),),
        ("aten::_unique2", "aten::unique_dim"), mended={f"{A100}@2.6.0": Met.WORKS},
    ),
    Report(
        "CUDA: index_put under autocast, backwards", "pytorch/pytorch#132715", 24,
        "backward inside of autocast to bfloat16 meets an unexpected dtype in `index_put`",
        f"{A100}@2.1.2", Met.REFUSED, Because.DTYPE, _put_back,
        (torch.ones(3, 4, 5, dtype=BRAIN), torch.zeros(3, 4, 5, dtype=torch.int64),
         torch.ones(1, dtype=BRAIN)),
        ("aten::index_put", "aten::index_put_", "aten::_index_put_impl_"),
        mended={f"{A100}@2.6.0": Met.WORKS},
    ),
    Report(
        "CUDA: a grid in half under autocast to bfloat16", "Parskatt/RoMa#2", 24,
        "`grid_sample` with a float16 grid meets an unexpected dtype in autocast to bfloat16",
        f"{A100}@2.0.1", Met.REFUSED, Because.DTYPE, _sampled,
        (torch.ones(1, 3, 8, 8), torch.zeros(1, 4, 4, 2)),
        ("aten::grid_sampler", "aten::grid_sampler_2d"),
    ),
    Report(
        "CUDA: a GRU in bfloat16", "pytorch/pytorch#116927", 25,
        '"_thnn_fused_gru_cell_cuda" is not implemented for BFloat16 with torch 2.2.1',
        f"{A100}@2.2.2", Met.REFUSED, Because.DTYPE,
        nn.GRU(4, 4).bfloat16(), (torch.ones(3, 2, 4, dtype=BRAIN),),
        ("aten::gru", "aten::_thnn_fused_gru_cell"), mended={f"{A100}@2.4.1": Met.WORKS},
    ),
    Report(
        "CUDA: replicated ends in bfloat16", "alibaba/Tora#34", 25,
        '"replication_pad1d_cuda" is not implemented for BFloat16; torch 2.4 runs it',
        f"{A100}@2.2.2", Met.REFUSED, Because.DTYPE,
        lambda x: F.pad(x, (1, 1), mode="replicate"), (torch.ones(1, 2, 8, dtype=BRAIN),),
        ("aten::replication_pad1d", "aten::pad"), mended={f"{A100}@2.4.1": Met.WORKS},
    ),
    Report(
        "CUDA: a triangle in bfloat16", "deepseek-ai/DeepSeek-VL#52", 25,
        '"triu_tril_cuda_template" is not implemented for BFloat16 with torch 2.0.1',
        f"{A100}@2.0.1", Met.REFUSED, Because.DTYPE,
        torch.triu, (torch.ones(4, 4, dtype=BRAIN),), ("aten::triu",),
    ),
    Report(
        "RDNA3: gradients of rms_norm", "pytorch/pytorch#190828", 26,
        "gradients of the weight are far too large with torch 2.12, in bfloat16 and in float32",
        "amd-rx7900xt@2.12.1", Met.WRONG, Because.CHIP,
        Learned(lambda weight, x: F.rms_norm(x, (64,), weight), torch.ones(64).bfloat16()),
        (torch.ones(256, 64, dtype=BRAIN),),
        ("aten::_fused_rms_norm_backward", "aten::rms_norm"), training=True,
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#25241 pytorch/pytorch#153210 pytorch/pytorch#153359 pytorch/pytorch#95125
        pytorch/pytorch#102968 ROCm/pytorch#2837 pytorch/pytorch#22431 pytorch/pytorch#23286
        pytorch/pytorch#23287 pytorch/pytorch#145350 pytorch/pytorch#193102
        pytorch/pytorch#145453 pytorch/pytorch#193691 pytorch/pytorch#191848
        pytorch/pytorch#145349 pytorch/pytorch#189831 pytorch/pytorch#24818
        pytorch/pytorch#181600 pytorch/pytorch#107671 pytorch/pytorch#189082 ROCm/pytorch#3082
        pytorch/pytorch#169474 pytorch/pytorch#180310 ROCm/TheRock#5270
        ROCm/rocm-libraries#9441 ROCm/pytorch#1659 ROCm/pytorch#1025 ROCm/MIOpen#3943
        ROCm/pytorch#1666 ROCm/rocm-libraries#3158 ROCm/pytorch#1672 ROCm/rocm-libraries#2169
        pytorch/pytorch#129118 pytorch/pytorch#141831 pytorch/pytorch#167244
        pytorch/pytorch#100989 ROCm/MIOpen#3958 ROCm/MIOpen#3483 ROCm/MIOpen#3492
        ROCm/MIOpen#3434 ROCm/rocm-libraries#10188 ROCm/rocm-libraries#10359
        ROCm/rocm-libraries#4315 pytorch/pytorch#38764 pytorch/pytorch#144612
        pytorch/pytorch#144611 pytorch/pytorch#180103 pytorch/pytorch#175367
        pytorch/pytorch#150578 ROCm/pytorch#1321 pytorch/pytorch#114133 pytorch/pytorch#114214
        pytorch/pytorch#186061 pytorch/pytorch#17751 pytorch/pytorch#1382
        pytorch/pytorch#69519 ROCm/rocm-libraries#3550 pytorch/pytorch#150016
        ROCm/rocm-libraries#5706 pytorch/pytorch#114329 ROCm/TheRock#154
        pytorch/pytorch#152171 pytorch/pytorch#38603 pytorch/pytorch#192612
        pytorch/pytorch#97211 pytorch/pytorch#79191 ROCm/rocm-libraries#2567
        ROCm/TheRock#2485 pytorch/pytorch#146998 ROCm/legacy-rocm-build#1880
        ROCm/legacy-rocm-build#4466 pytorch/pytorch#138067 vllm-project/vllm#6375
        pytorch/pytorch#127176 pytorch/pytorch#169930 pytorch/pytorch#96626
        pytorch/pytorch#132045 pytorch/pytorch#122274 rusty1s/pytorch_scatter#279
        pytorch/pytorch#6688 pytorch/pytorch#58861 ModelTC/LightX2V#860 pytorch/pytorch#191125
        chijames/KERPLE#5 pytorch/pytorch#23149 pytorch/pytorch#108940 karpathy/nanoGPT#277
        rusty1s/pytorch_cluster#203 pytorch/pytorch#117961 pytorch/pytorch#134607
        pytorch/pytorch#183864 pytorch/pytorch#183861 pytorch/pytorch#184826
        ROCm/pytorch#3425 pytorch/pytorch#136291 ROCm/pytorch#2570 ROCm/pytorch#2571
        ROCm/pytorch#2389 pytorch/pytorch#194447 ROCm/MIOpen#2342 pytorch/pytorch#18675
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#111457 pytorch/pytorch#153187 pytorch/pytorch#148321
        pytorch/pytorch#154997 pytorch/pytorch#156018 pytorch/pytorch#191850
        pytorch/pytorch#156020 pytorch/pytorch#154736 pytorch/pytorch#141345
        pytorch/pytorch#154521 pytorch/pytorch#173796 pytorch/pytorch#121078
        pytorch/pytorch#133204 pytorch/pytorch#126757 snicolast/ComfyUI-Ovi#10
    """,
    Why.NO_PROGRAM: """
        ROCm/pytorch#1395 ROCm/MIOpen#3312 pytorch/pytorch#103540 ROCm/pytorch#3030
        billwuhao/ComfyUI_ACE-Step#10 kijai/ComfyUI-WanVideoWrapper#656 xb534/SED#31
        ROCm/TheRock#2847 Comfy-Org/ComfyUI#3698
        numz/ComfyUI-SeedVR2_VideoUpscaler#265 numz/ComfyUI-SeedVR2_VideoUpscaler#414
        VAST-AI-Research/TriplaneGaussian#26 pytorch/pytorch#138764 pytorch/pytorch#161054
    """,
    Why.NO_TARGET: """
        ROCm/AMDMIGraphX#669 ROCm/rocBLAS#1680 Schaka/rocm-gfx803#2
        ROCm/tensorflow-upstream#449 ROCm/legacy-rocm-build#2100 ROCm/tensorflow-upstream#485
        intel/torch-xpu-ops#1896 facebookresearch/maskrcnn-benchmark#1181
        arangesh/TrackMPNN#5 facebookresearch/maskrcnn-benchmark#1281 marblet/gcnns#1
        pytorch/pytorch#24088 svjan5/GNNs-for-NLP#2 pytorch/pytorch#36668
        ROCm/rocm-libraries#9049 ROCm/rocm-libraries#9184 pytorch/pytorch#37110
        ROCm/MIOpen#1549 pytorch/pytorch#41656 huggingface/diffusers#984 pytorch/pytorch#35202
        pytorch/pytorch#16365 pytorch/pytorch#88380 pytorch/pytorch#7258
        MinusZoneAI/ComfyUI-CogVideoX-MZ#4 ROCm/MIOpen#74 pytorch/pytorch#51333
        pytorch/pytorch#89403 pytorch/pytorch#41244 ROCm/pytorch#1091 pytorch/pytorch#75353
        ROCm/pytorch#1156 PaddlePaddle/Paddle#21675 intel/torch-xpu-ops#638
        tenstorrent/tt-metal#56860 PaddlePaddle/Paddle#26163 pytorch/serve#984
        pytorch/pytorch#42553 pytorch/pytorch#46001 pytorch/pytorch#45167
        tensorflow/tensorflow#23473 NVIDIA/FasterTransformer#149 pytorch/pytorch#76021
        pytorch/pytorch#68105 pytorch/pytorch#50440 pytorch/pytorch#78475
        pytorch/pytorch#17798 pytorch/pytorch#46024 pytorch/pytorch#21680
        KevinMusgrave/pytorch-metric-learning#382 pytorch/pytorch#25833
        pytorch/pytorch#17350 pytorch/pytorch#24403 pytorch/pytorch#61929
        pytorch/pytorch#36921 pytorch/pytorch#21643 pytorch/pytorch#13276
        pytorch/pytorch#26996 ROCm/TheRock#5105 ROCm/legacy-rocm-build#5674
        pytorch/pytorch#150168 ROCm/legacy-rocm-build#3949 ROCm/hipBLASLt#1243
        pytorch/pytorch#90437 pytorch/pytorch#51170 pytorch/pytorch#191763
        pytorch/pytorch#74487 pytorch/pytorch#31144 pytorch/pytorch#41382
        pytorch/pytorch#51933 pytorch/pytorch#61522 spurra/vae-hands-3d#6
        csarofeen/pytorch#1142 pytorch/pytorch#95365 csarofeen/pytorch#1091
        csarofeen/pytorch#2115 pytorch/executorch#4975 pytorch/pytorch#67689
        pytorch/pytorch#16919
    """,
    Why.OTHERS: """
        ROCm/Tensile#2071 ROCm/composable_kernel#831 tensor4all/tenferro-rs#1363
        sgl-project/sglang#29608 fla-org/flash-linear-attention#1080 Jim137/qkan#22
        flagos-ai/FlagGems#4156 pytorch/FBGEMM#5530 flagos-ai/FlagGems#3658
        matteo-ronchetti/torch-radon#52 microsoft/onnxruntime#3727
        meta-pytorch/torchrec#995 davidbrowne17/csm-streaming#31 pytorch/FBGEMM#1847
        aredden/torch-cublas-hgemm#1 tsotchke/eshkol#35 ROCm/rocm-libraries#4741
        espnet/espnet#700 NVIDIA/TransformerEngine#3358
        bitsandbytes-foundation/bitsandbytes#88 meta-pytorch/float8_experimental#133
        tinygrad/tinygrad#17344
    """,
    Why.NO_CALL: """
        vllm-project/compressed-tensors#571 pytorch/pytorch#189054 pytorch/pytorch#195008
        pytorch/pytorch#182794 ROCm/MIOpen#3705 pytorch/pytorch#150613
        mir-aidj/all-in-one#35 NVIDIA/semantic-segmentation#160 pytorch/pytorch#95082
        HybridRobotics/berkeley-humanoid-lite#49 TensorAuto/OpenTau#74
        akshaydudhane16/Burstormer#19 ROCm/hipBLAS#335 ROCm/hipSOLVER#141 ROCm/hipSOLVER#385
        tensorflow/tensorflow#54084 Gadersd/stable-diffusion-burn#8
        Gadersd/stable-diffusion-burn#2 erew123/alltalk_tts#397 karpathy/nanochat#512
        pytorch/pytorch#197094 pytorch/pytorch#106751 pytorch/pytorch#105440 ROCm/pytorch#2325
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
