"""What users of TensorRT's and Inductor's compilers met, by searches of threads about exports.

Of Core ML and ExecuTorch the last two searches tell: no target was there when it was written down,
and ``exports_coreml`` and ``exports_executorch`` have it.
"""

from typing import Any

import torch
from torch import Tensor

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Torch-TensorRT bug aten.cumsum aten.topk aten.sort aten.argmax int64 dtype engine error 2.10 "
    "2.11",
    "Torch-TensorRT torch.compile backend tensorrt roll repeat_interleave grid_sample einsum "
    "bincount linalg unsupported operator fallback PyTorch graph",
    "torch.compile inductor Triton compilation error H100 A100 operator dtype uint16 float8 complex"
    " not supported",
    "inductor bot-triaged torch.compile CUDA crash operator InductorError AssertionError minimal "
    "repro 2026",
    "torch.compile inductor silent incorrectness CUDA operator minimal repro module: correctness "
    "(silent) 2026 eager differs",
    "torchair Ascend graph mode converter not implemented aten operator RuntimeError fx2ge",
    "vllm-ascend torchair graph mode error aten operator GE converter unsupported "
    "torchair_graph_config",
    "torch_npu torchair torch.compile backend npu 图模式 不支持 算子 converter 报错 dynamo "
    "npu_backend",
    "Torch-TensorRT bug dynamo converter 2026 2.11 2.12 2.13 wrong output or build failure "
    "operator",
    "Torch-TensorRT scaled_dot_product_attention enable_gqa or causal mask converter failure 2025 "
    "2026",
    "Torch-TensorRT complex rotary embedding view_as_complex fft converter unsupported",
    "Torch-TensorRT index_put scatter_add scatter_reduce nonzero output allocator error converter",
    "🐛 [Bug] Torch-TensorRT converter SrivastavaKshitij wrong result IElementWiseLayer types "
    "dtype 2026",
    "🐛 [Bug] Torch-TensorRT conv batch_norm group_norm pad upsample pixel_shuffle converter fails "
    "2026",
    "torch.compile inductor CUDA LoweringException or fallback aten operator GPU 2026 2.11 2.12 "
    "2.13 wrong result vs eager",
    "Core ML coremltools torch.export ExportedProgram PyTorch convert op not implemented error 8.3 "
    "9.0",
    "ExecuTorch missing out variant error operator not in portable kernels xnnpack export aten",
)
"""The first five gave reports."""
COMPILE = "torch::compile"
IDS = torch.tensor([[3, 5, 1, 1]])
X = torch.linspace(-1, 1, 42).view(6, 7)


def _places(ids: Tensor) -> Tensor:
    mask = ids.ne(1).int()
    return (torch.cumsum(mask, 1).type_as(mask) * mask).long() + 1


@torch.compile
def _eighth(x: Tensor) -> Tensor:
    return x.to(torch.float8_e5m2)


@torch.compile
def _doubled(x: Tensor, y: Tensor) -> Any:
    product = torch.tensordot(x, y, ([1], [0]))
    return product + product


@torch.compile
def _attended(q: Tensor, w: Tensor, b: Tensor, v: Tensor, c: Tensor) -> Tensor:
    found: Tensor = torch._native_multi_head_attention(
        q, q, q, 6, 2, w, b, v, c, None, False
    )[0]  # fmt: skip
    return found


@torch.compile
def _lifted(x: Tensor) -> Tensor:
    found: Tensor = torch.ops.aten.lift.default(x + 0)
    return found


@torch.compile
def _signed(x: Tensor) -> Tensor:
    return torch.copysign(x, -0.0)


@torch.compile
def _products_backward(grad: Tensor, x: Tensor, out: Tensor) -> Tensor:
    found: Tensor = torch.ops.aten.cumprod_backward.default(grad, x, 1, out)
    return found


REPORTS = (
    Report(
        "TensorRT: places of RoBERTa's tokens", "pytorch/TensorRT#3187", 0,
        "a type error in the converter of `cumsum`, for RoBERTa, in August 2024",
        "nvidia-tensorrt@2.4.0", Met.REFUSED, Because.DTYPE, _places, (IDS,), ("aten::cumsum",),
    ),
    Report(
        "H100: integers compiled to float8_e5m2", "pytorch/pytorch#151018", 2,
        "Triton does not compile a cast of int32 to float8_e5m2, in April 2025",
        "nvidia-h100@2.7.1", Met.REFUSED, Because.DTYPE, _eighth,
        (torch.ones(16, dtype=torch.int32),), (COMPILE, "aten::to.dtype", "aten::_to_copy"),
    ),
    Report(
        "CUDA: tensordot and a sum, compiled", "pytorch/pytorch#172065", 3,
        "Inductor crashes: no backend is left for the product, in January 2026",
        "nvidia-a100@2.9.1", Met.REFUSED, Because.OTHER, _doubled, (X, X.mT),
        (COMPILE, "aten::tensordot"),
    ),
    Report(
        "CUDA: attention without its weights, compiled", "pytorch/pytorch#196226", 3,
        "Inductor checks the alignment of a second output that there is not, in September 2026",
        "nvidia-a100@2.13.0", Met.REFUSED, Because.VALUE, _attended,
        (X.view(1, 7, 6), torch.ones(18, 6), torch.ones(18), torch.ones(6, 6), torch.ones(6)),
        (COMPILE, "aten::_native_multi_head_attention"),
    ),
    Report(
        "CUDA: lift, compiled", "pytorch/pytorch#174176", 3,
        "an internal assertion fails in functionalization, in February 2026",
        "nvidia-a100@2.10.0", Met.REFUSED, Because.OTHER, _lifted, (X,), (COMPILE, "aten::lift"),
    ),
    Report(
        "CUDA: the sign of -0.0, compiled", "pytorch/pytorch#174172", 4,
        "`copysign(x, -0.0)` has another sign than in eager mode, in February 2026",
        "nvidia-a100@2.10.0", Met.WRONG, Because.VALUE, _signed, (X,),
        (COMPILE, "aten::copysign.Scalar"),
    ),
    Report(
        "CUDA: cumprod_backward, compiled", "pytorch/pytorch#172062", 4,
        "all values of `cumprod_backward` differ far from eager mode, in January 2026",
        "nvidia-a100@2.9.1", Met.WRONG, Because.OTHER, _products_backward, (X, X + 1, X),
        (COMPILE, "aten::cumprod_backward"),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#184081 pytorch/pytorch#167082 pytorch/pytorch#179418
        pytorch/pytorch#168278 pytorch/pytorch#179135 pytorch/TensorRT#4246 pytorch/TensorRT#4609
        pytorch/TensorRT#4142 pytorch/TensorRT#2865 pytorch/TensorRT#2721 pytorch/TensorRT#3458
        pytorch/TensorRT#4575 pytorch/TensorRT#4416 pytorch/TensorRT#3296 pytorch/TensorRT#2664
        pytorch/TensorRT#3859 pytorch/pytorch#100806 Ascend/pytorch#66
    """,
    Why.NO_PROGRAM: """
        pytorch/TensorRT#3025 pytorch/TensorRT#3135 pytorch/TensorRT#3140 pytorch/TensorRT#3127
        pytorch/TensorRT#3432 pytorch/TensorRT#2597 pytorch/TensorRT#3124 pytorch/TensorRT#3144
        pytorch/pytorch#140766 pytorch/pytorch#90831 pytorch/pytorch#109658 pytorch/pytorch#187723
        pytorch/pytorch#179575 vllm-project/vllm-ascend#347 vllm-project/vllm-ascend#621
        vllm-project/vllm-ascend#972 pytorch/pytorch#109925
    """,
    Why.NO_CALL: """
        pytorch/TensorRT#3214 pytorch/TensorRT#4420 pytorch/TensorRT#3854 pytorch/TensorRT#1493
        pytorch/TensorRT#3114 pytorch/TensorRT#1570 pytorch/TensorRT#170 pytorch/TensorRT#977
        pytorch/TensorRT#79 pytorch/TensorRT#2049 pytorch/TensorRT#688 pytorch/TensorRT#876
        pytorch/TensorRT#2157 pytorch/pytorch#96355 onnx/turnkeyml#84 ddPn08/Radiata#80
        rasbt/reasoning-from-scratch#257 woct0rdho/triton-windows#34 woct0rdho/triton-windows#3
        sgl-project/sglang#13410 sgl-project/sglang#12371 sgl-project/sglang#11104
        vllm-project/vllm-ascend#1083 vllm-project/vllm-ascend#2297 vllm-project/vllm-ascend#4433
        vllm-project/vllm-ascend#1534 InfiniTensor/InfiniCore#1490 apple/coremltools#2401
        apple/coremltools#2356 pytorch/executorch#5009 pytorch/executorch#7459
        pytorch/executorch#7547
    """,
    Why.OTHERS: """
        vllm-project/vllm-ascend#1962 XPU-Forces/xpu_graph#306 pytorch/executorch#6975
        pytorch/executorch#8369 pytorch/TensorRT#3004 pytorch/pytorch#194329
        pytorch/pytorch#128161 pytorch/pytorch#96064 pytorch/pytorch#114223
    """,
    Why.UNCONFIRMED: "pytorch/pytorch#183902",
    Why.NO_TARGET: """
        pytorch/TensorRT#2328 pytorch/TensorRT#2655 pytorch/TensorRT#1338 pytorch/TensorRT#2880
        pytorch/TensorRT#2740 pytorch/TensorRT#4197 pytorch/TensorRT#3080 pytorch/TensorRT#1792
        pytorch/TensorRT#989 pytorch/TensorRT#867 pytorch/TensorRT#2582 pytorch/TensorRT#2208
        pytorch/TensorRT#1238 pytorch/TensorRT#2263 pytorch/TensorRT#1240 pytorch/TensorRT#404
        pytorch/TensorRT#842 pytorch/TensorRT#763 pytorch/TensorRT#692 pytorch/TensorRT#718
        NVIDIA/TensorRT#3750 NVIDIA/TensorRT#3650 NVIDIA/TensorRT#2718 NVIDIA/TensorRT#4551
        NVIDIA/TensorRT#4480 NVIDIA/TensorRT#3273 NVIDIA/TensorRT#808 NVIDIA-AI-IOT/torch2trt#916
        NVIDIA-AI-IOT/torch2trt#434 NVIDIA-AI-IOT/torch2trt#42 NVIDIA-AI-IOT/torch2trt#960
        ROCm/torch_migraphx#112 ROCm/torch_migraphx#103 ROCm/torch_migraphx#115
        ROCm/torch_migraphx#99 ROCm/torch_migraphx#113 ROCm/torch_migraphx#96
        pytorch/pytorch#148862 pytorch/pytorch#183370 pytorch/pytorch#185405
        pytorch/pytorch#197376 pytorch/pytorch#198155 pytorch/pytorch#138908
        pytorch/pytorch#136662 pytorch/pytorch#126619 pytorch/torchdynamo#2013
        mazzzystar/Queryable#9 ludwig-ai/ludwig#3587 apple/coremltools#1145 apple/coremltools#1223
        ultralytics/ultralytics#25616 apple/coremltools#995 apple/coremltools#1132
        apple/coremltools#1798 pytorch/executorch#4425 aws-neuron/aws-neuron-sdk#698
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
