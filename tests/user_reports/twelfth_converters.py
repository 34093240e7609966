"""What users met who make files of a model: of LiteRT, and engines of TensorRT.

Threads about LiteRT tell of many releases, and the target has one: as in ``exports_openvino``,
``met`` is what became of the program with the libraries of the target's release, converted and run
before any scan. Models whose sizes are to be chosen later cannot be told here as a report.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch_tensorrt compile fails aten.roll or aten.flip or aten.repeat_interleave or aten.tril or "
    "aten.diagonal converter 2025 2026",
    "Torch-TensorRT compile of Swin, ConvNeXt, DETR, SuperPoint, RAFT or LoFTR fails in a "
    "converter",
    "ai-edge-torch or litert-torch convert fails: lowering not found for aten operator, "
    "unsupported op",
    "Torch-TensorRT dynamo compile of LLM or diffusion model: operators that run in PyTorch, graph "
    "breaks, aten unsupported list",
    "litert-torch converted model gives wrong output, or the op is left to the host: interpolate, "
    "cumsum, gather, GroupNorm",
    "litert-torch or ai-edge-torch issue: RuntimeError Lowering not found: aten",
    "ai_edge_torch convert bug: failed to legalize, tfl op, dynamic shape, dtype int64 or float16, "
    "wrong shape, crash",
    "litert-torch pull request adds lowering for aten operator or fixes one",
    "aten converter request component: converters TensorRT dynamo 2023 2024",
)
LITERT, TENSORRT = "litert-cpu@0.10.0", "nvidia-tensorrt@2.2.0"
X = torch.linspace(-1, 1, 42).view(6, 7)
IMAGE = torch.linspace(-1, 1, 192).view(1, 3, 8, 8)
HEADS = torch.linspace(-1, 1, 512).view(1, 8, 4, 16)


def _noisy(x: Tensor) -> Tensor:
    return x + 0.1 * x.new_empty(1, 1, 8, 8).normal_()


def _largest(x: Tensor) -> Tensor:
    return torch.gather(x, dim=1, index=x.max(dim=1).indices.unsqueeze(0))


class _Albert(nn.Module):
    """A layer of ALBERT."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(30, 16), nn.LayerNorm(16)
        self.given, self.grown = nn.Linear(16, 48), nn.Linear(16, 64)
        self.shrunk = nn.Linear(64, 16)

    def forward(self, words: Tensor) -> Tensor:
        x = self.norm(self.words(words))
        q, k, v = (part.unsqueeze(1) for part in self.given(x).chunk(3, dim=-1))
        x = x + F.scaled_dot_product_attention(q, k, v).squeeze(1)
        found: Tensor = self.norm(x + self.shrunk(F.gelu(self.grown(x), approximate="tanh")))
        return found


# fmt: off
REPORTS = (
    Report(
        "TensorRT: rows in another order", "pytorch/TensorRT#2535", 0,
        "`flip` has no converter, asked for in December 2023",
        TENSORRT, Met.ON_THE_HOST, Because.NO_KERNEL, lambda x: torch.flip(x, (0,)), (X,),
        ("aten::flip",),
    ),
    Report(
        "TensorRT: rows rolled", "pytorch/TensorRT#2567", 0,
        "`roll` has no converter, asked for in January 2024",
        TENSORRT, Met.ON_THE_HOST, Because.NO_KERNEL, lambda x: torch.roll(x, 1, 0), (X,),
        ("aten::roll",),
    ),
    Report(
        "LiteRT: noise of GFPGAN", "google-ai-edge/litert-torch#678", 2,
        "Lowering not found: aten.normal_functional.default",
        LITERT, Met.REFUSED, Because.NO_KERNEL, _noisy, (IMAGE,),
        ("aten::normal_", "aten::normal_functional"),
    ),
    Report(
        "LiteRT: attention of DINOv3", "google-ai-edge/litert-torch#827", 2,
        "its efficient attention had no lowering; exported on the CPU it is converted",
        LITERT, Met.WORKS, Because.NO_KERNEL, F.scaled_dot_product_attention,
        (HEADS, HEADS, HEADS), ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "LiteRT: SiLU and GELU", "google-ai-edge/litert-torch#358", 2,
        "they were not converted; in 0.10.0 they are",
        LITERT, Met.WORKS, Because.NO_KERNEL, lambda x: F.silu(x) + F.gelu(x), (X,),
        ("aten::silu", "aten::gelu"),
    ),
    Report(
        "LiteRT: a norm of groups", "google-ai-edge/litert-torch#102", 4,
        "it was missing in files; in 0.10.0 it is converted",
        LITERT, Met.WORKS, Because.NO_KERNEL, nn.GroupNorm(1, 3), (IMAGE,),
        ("aten::group_norm",),
    ),
    Report(
        "LiteRT: a norm of sizes that are known", "google-ai-edge/litert-torch#711", 6,
        "it is not converted with a batch to be chosen later; as it is, it is",
        LITERT, Met.WORKS, Because.SHAPE, nn.LayerNorm(7), (X,), ("aten::layer_norm",),
    ),
    Report(
        "LiteRT: ALBERT of sizes that are known", "google-ai-edge/litert-torch#870", 6,
        "it is converted with sizes that are known, and not with those to be chosen later",
        LITERT, Met.WORKS, Because.SHAPE, _Albert(), (torch.arange(6).view(1, 6),),
        ("aten::embedding", "aten::layer_norm", "aten::scaled_dot_product_attention",
         "aten::gelu", "aten::linear"),
    ),
    Report(
        "LiteRT: the largest gathered", "google-ai-edge/litert-torch#246", 6,
        "`gather` by int64 places of `max` is converted, and of int64 stays",
        LITERT, Met.WORKS, Because.DTYPE, _largest, (IMAGE,), ("aten::gather", "aten::max.dim"),
    ),
)
# fmt: on
_LEFT_OUT = {
    Why.KNOWN: """
        NVIDIA-AI-IOT/torch2trt#239 pytorch/TensorRT#2507 NVIDIA-AI-IOT/torch2trt#180
        pytorch/TensorRT#2722 pytorch/TensorRT#963 llvm/torch-mlir#380 llvm/torch-mlir#455
        pytorch/TensorRT#3043 vllm-project/vllm-ascend#1962 google-ai-edge/litert-torch#808
        NVIDIA-AI-IOT/torch2trt#434 google-ai-edge/litert-torch#1238
        google-ai-edge/litert-torch#305 pytorch/xla#5944 pytorch/TensorRT#2157
        pytorch/TensorRT#1818 pytorch/TensorRT#2039 pytorch/TensorRT#1942 pytorch/TensorRT#2145
        pytorch/TensorRT#3483 pytorch/TensorRT#2068 pytorch/TensorRT#2070 pytorch/TensorRT#1493
        pytorch/TensorRT#2181
    """,
    Why.NO_CALL: """
        pytorch/TensorRT#3335 pytorch/executorch#7998 pytorch/pytorch#128071 pytorch/pytorch#130917
        pytorch/pytorch#128944 pytorch/pytorch#133965 pytorch/pytorch#114226 apple/coremltools#1607
        pytorch/pytorch#126635 pytorch/pytorch#139911 pytorch/executorch#6505
        pytorch/pytorch#138254 pytorch/pytorch#65859 pytorch/executorch#958 pytorch/pytorch#61161
    """,
    Why.NO_PROGRAM: """
        pytorch/vision#9142 google-ai-edge/litert-torch#636 google-ai-edge/litert-torch#231
        google-ai-edge/litert-torch#679 google-ai-edge/litert-torch#685
        google-ai-edge/litert-torch#716
    """,
    Why.NO_TARGET: """
        NVIDIA-AI-IOT/torch2trt#181 open-mmlab/mmdeploy#2515 open-mmlab/mmdeploy#1022
        grimoire/mmdetection-to-tensorrt#60 open-mmlab/mmdeploy#918 open-mmlab/mmdeploy#2516
        pytorch/TensorRT#666 ELS-RD/kernl#137 llvm/torch-mlir#2028 llvm/torch-mlir#46
        nod-ai/AMD-SHARK-ModelDev#450 pytorch/TensorRT#230 pytorch/TensorRT#2144
        pytorch/TensorRT#1673 pytorch/TensorRT#1545 pytorch/torchdynamo#118
        tenstorrent/tt-torch#654 llvm/torch-mlir#4099 luminal-ai/luminal#414
        google-ai-edge/litert-torch#384 llvm/torch-mlir#400 llvm/torch-mlir#399 llvm/torch-mlir#496
        llvm/torch-mlir#3603 llvm/torch-mlir#394 llvm/torch-mlir#523 llvm/torch-mlir#4467
        llvm/torch-mlir#1457
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
