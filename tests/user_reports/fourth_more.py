"""What users of TensorRT, of TPUs and of AMD's GPUs met, by more searches of the fourth round."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "feat: support aten.select_scatter aten.index_copy aten.flip aten.tan aten.erf aten.lerp "
    "dynamo converter Torch-TensorRT pull request merged",
    "feat: Torch-TensorRT dynamo converter aten.upsample_linear1d aten.grid_sampler "
    "aten.pixel_shuffle aten.reflection_pad aten.roll aten.instance_norm pull request 2023 2024",
    "pytorch/xla Lower aten reflection_pad, replication_pad3d, upsample, cdist, roll, take, "
    "masked_scatter, logaddexp, isin lowering pull request merged",
    "pytorch/xla #6003 OR [torch_xla] einsum lowering stablehlo quantize_per_tensor custom op "
    "native_batch_norm sdpa lowering missing bug 2024 2025 r2.3 r2.4 r2.5",
    "[MPS] Add support for aten trace, trapz, linalg_vector_norm inf, hardsigmoid, glu, "
    "huber_loss, log_normal, geometric, cauchy pull request pytorch 2023 2024 2025",
    "[MPS] Add max_pool3d avg_pool3d adaptive pooling upsample_nearest3d replication_pad3d conv3d "
    "transposed backward pull request Apple Metal",
    "Torch-TensorRT bug report aten.cat or stack with int64 float64 inputs, bool output, complex "
    "tensors, unsqueeze scalar, wrong dtype engine output 2024 2025",
    "Torch-TensorRT conv3d depthwise transposed output_padding dilation batch_norm affine False "
    "unsupported or wrong dynamo compile issue user model",
    "[ROCm] pull request enable or disable op on gfx1100 gfx12 navi: CK, hipBLASLt bf16 gemm, "
    "SDPA, miopen ctc_loss, conv, skip unsupported arch pytorch 2025 2026",
    "AMD MI300X torch.sort torch.unique torch.cumsum torch.nonzero slow or crash on large tensors "
    "rocPRIM hipCUB pytorch issue fix 2024 2025 2026",
    "pytorch/xla lower aten op pull request 2024 2025 native_batch_norm_legit embedding_bag cummax "
    "roll_ bitwise view_copy triangular exponential uniform fixes fallback",
    'CUDA op dtype support pull request 2025 2026 "fixes" torch.histc int, bincount uint, '
    "searchsorted, torch.isin, nonzero_static, cumsum bool on GPU not implemented",
    "Ascend NPU FlagGems Torch native baseline slow or AI_CPU operator: torch.unique, sort int64, "
    "index_put, cumprod, isin, bincount torch_npu 910 performance issue 2026",
)
TRT = "nvidia-tensorrt"
TPU = "google-tpu-v4"

PICTURE = torch.linspace(-1, 1, 2 * 3 * 8 * 8).view(2, 3, 8, 8)
VOLUME = torch.linspace(-1, 1, 2 * 3 * 4**3).view(2, 3, 4, 4, 4)
CHAINS = torch.tensor([[0.0, 0.0, 1.0, 1.0, float("inf"), float("inf")]])

REPORTS = (
    Report(
        "TensorRT: bilinear between corners", "pytorch/TensorRT#2790", 1,
        "`align_corners` is handled incorrectly until a pull request of June 2024",
        f"{TRT}@2.3.0", Met.WRONG, Because.VALUE,
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
        (PICTURE,), ("aten::upsample_bilinear2d",), mended={f"{TRT}@2.4.0": Met.WORKS},
    ),
    Report(
        "TPU: volumes padded by their edges", "pytorch/xla#6566", 2,
        "`replication_pad3d` has no lowering before a pull request of February 2024",
        f"{TPU}@r2.2", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), mode="replicate"), (VOLUME,),
        ("aten::replication_pad3d",), mended={f"{TPU}@r2.3": Met.WORKS},
    ),
    Report(
        "TPU: signals padded by reflection", "pytorch/xla#6588", 2,
        "`reflection_pad1d` and `reflection_pad3d` have no lowering before February 2024",
        f"{TPU}@r2.2", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: F.pad(x, (1, 2), mode="reflect"), (torch.linspace(-1, 1, 24).view(1, 3, 8),),
        ("aten::reflection_pad1d",), mended={f"{TPU}@r2.3": Met.WORKS},
    ),
    Report(
        "TensorRT: a transposed convolution with output padding", "pytorch/TensorRT#3352", 7,
        "a transposed convolution with `output_padding=1` is said not to be supported, and without "
        "it is",
        f"{TRT}@2.5.0", Met.REFUSED, Because.VALUE,
        nn.ConvTranspose2d(256, 128, 3, stride=2, output_padding=1).eval(),
        (torch.ones(1, 256, 16, 16),), ("aten::convolution", "aten::conv_transpose2d.input"),
    ),
    Report(
        "ROCm: distinct floats along a dimension", "pytorch/pytorch#136323", 9,
        "`unique` along a dimension of floats, some of them infinite, reads what it may not and "
        "dies; integers do",
        "amd-mi250@2.4.1", Met.REFUSED, Because.DTYPE,
        lambda x: torch.unique(x, sorted=True, return_counts=True, dim=-1), (CHAINS,),
        ("aten::unique_dim",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/TensorRT#2550 pytorch/TensorRT#2722 pytorch/TensorRT#2670 pytorch/TensorRT#2070
        pytorch/TensorRT#3483 pytorch/TensorRT#2068 pytorch/TensorRT#3662 pytorch/TensorRT#1958
        pytorch/TensorRT#1818 pytorch/TensorRT#271 pytorch/TensorRT#2145 pytorch/TensorRT#831
        pytorch/TensorRT#1086 pytorch/TensorRT#3344 pytorch/TensorRT#2507 pytorch/TensorRT#4520
        pytorch/TensorRT#623 pytorch/TensorRT#2079 pytorch/TensorRT#2263 pytorch/xla#6577
        pytorch/xla#5891 pytorch/xla#5892 pytorch/xla#6537 pytorch/xla#6554 pytorch/xla#6017
        pytorch/xla#4511 pytorch/xla#5764 pytorch/xla#5982 pytorch/xla#1409 pytorch/xla#5882
        pytorch/xla#5881 pytorch/pytorch#173040 pytorch/pytorch#173138 pytorch/pytorch#173047
        pytorch/pytorch#173050 pytorch/pytorch#178031 pytorch/pytorch#195266
        pytorch/pytorch#151741 pytorch/pytorch#151742 pytorch/pytorch#195273
        pytorch/pytorch#100674 pytorch/pytorch#77818 ROCm/pytorch#2389 ROCm/pytorch#1930
        pytorch/pytorch#105244 pytorch/pytorch#87909 pytorch/pytorch#87221 pytorch/pytorch#87910
        pytorch/pytorch#69519 flagos-ai/FlagGems#6181 flagos-ai/FlagGems#5436
        flagos-ai/FlagGems#5354 flagos-ai/FlagGems#3642 flagos-ai/FlagGems#3029
        flagos-ai/FlagGems#2087 ROCm/pytorch#2571 ROCm/pytorch#2570 ROCm/pytorch#1954
        ROCm/pytorch#1955 tenstorrent/tt-forge-onnx#1925 NVIDIA-AI-IOT/torch2trt#120
        pytorch/xla#2721 pytorch/pytorch#1382 pytorch/pytorch#14249 pytorch/pytorch#20208
        pytorch/pytorch#123094 pytorch/pytorch#97090
    """,
    Why.NO_PROGRAM: """
        pytorch/TensorRT#2696 pytorch/TensorRT#2959 pytorch/TensorRT#2889 pytorch/TensorRT#3168
        pytorch/TensorRT#4614 ROCm/pytorch#2088 ROCm/pytorch#3316 ROCm/pytorch#2154
        ROCm/pytorch#2159 pytorch/pytorch#137317 pytorch/pytorch#139372 pytorch/xla#6580
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#155336
    """,
    Why.NO_TARGET: """
        pytorch/TensorRT#2164 pytorch/TensorRT#2290 pytorch/TensorRT#2717 pytorch/TensorRT#895
        pytorch/TensorRT#911 pytorch/TensorRT#255 pytorch/TensorRT#394 pytorch/TensorRT#351
        pytorch/TensorRT#350 torch-spyre/torch-spyre#1462 NVIDIA/TensorRT#506
        PaddlePaddle/Paddle#69757 pytorch/xla#2072 pytorch/xla#6593 pytorch/xla#4040
        pytorch/xla#4023 pytorch/xla#6490 pytorch/xla#8091 pytorch/xla#4282 pytorch/xla#7078
        pytorch/xla#7981 pytorch/xla#224 llvm/torch-mlir#3933 llvm/torch-mlir#3874
        apache/tvm#5708 pytorch/xla#8133 intel/torch-xpu-ops#446 nod-ai/AMD-SHARK-ModelDev#333
        pytorch/pytorch#188597 ROCm/pytorch#2581 ROCm/pytorch#3421 ROCm/pytorch#3417
        ROCm/TheRock#154 ROCm/pytorch#689 pytorch/pytorch#100989 pytorch/pytorch#116531
    """,
    Why.NO_CALL: """
        pytorch/pytorch#139609 pytorch/xla#5763 pytorch/xla#8061 pytorch/xla#8060
        pytorch/xla#8340 AI-Hypercomputer/torchprime#380 pytorch/pytorch#97121
        pytorch/pytorch#149216 pytorch/pytorch#52122 pytorch/pytorch#144121
        pytorch/pytorch#144629 pytorch/pytorch#168218 pytorch/pytorch#188802
        microsoft/onnxscript#1889 hpcaitech/Elixir#18 ROCm/pytorch#1978 ggml-org/llama.cpp#26592
        pytorch/pytorch#196100 cupy/cupy#10262
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
