"""What pull requests for GPUs, TPUs and TensorRT write or mend, by searches of the third round."""

import torch
from torch import Tensor, nn

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "pull request Add BFloat16 Half support for operator on CUDA dispatch AT_DISPATCH enable bf16 "
    "kernel 2023 2024 2025",
    "torch-xpu-ops pull request Add aten:: operators and variants implement XPU sycl kernel 2024",
    "torch-xpu-ops pull request enable sparse or quantized or linalg operator XPU 2025 2026 "
    "support new op",
    "pytorch/xla pull request lower aten op add lowering 2023 2024 before this op falls back",
    "Torch-TensorRT feat support aten dynamo converter pull request scatter_add gather adaptive "
    "pool trunc atan2 logical bitwise",
    "[ROCm] Enable support pull request pytorch hipBLASLt hipSPARSELt int8 bf16 new operator "
    "previously unsupported on AMD 2024 2025",
    "Skylion007 add bfloat16 CUDA support pull request loss pooling upsample ops match CPU dtype",
    'Torch-TensorRT unsupported op list coverage dynamo "not supported" aten scatter_reduce '
    "cumprod roll_ unfold pixel_unshuffle torch ops fallback user model",
    "pytorch/xla TPU bug report 2025 2026 torch_xla 2.7 2.8 2.9 op returns wrong dtype or raises "
    "unlike CPU uint8 bool int64",
    "[CUDA] fix pull request integer overflow int64 indexing kernel wrong result large tensor "
    "2025 2026 eqy ngimel",
    "pytorch CUDA float8 copy cat fill index_put not implemented Float8_e8m0fnu e5m2 support "
    "added pull request",
    "pytorch CUDA fuzz edge case crash illegal memory access embedding pooling conv unfold ctc "
    "empty tensor zero dim 2025 topic: fuzzer",
    "Torch-TensorRT HolyWu add support for torch.ops.aten converter missing module half debug "
    "min_block_size super resolution model",
    "Torch-TensorRT chohk88 bug unsupported ops validator False model paligemma llama vision qwen "
    "whisper",
    "pytorch/xla Add support for linalg op lowering _linalg_eigh lstsq cdist pdist nan_to_num "
    "native_dropout 2024",
    "torch_xla Gemma Llama Mixtral model on TPU error op Int vs Long index, expected dtype, "
    "upcast, not supported aten",
)
A100, H100 = "nvidia-a100", "nvidia-h100"
TENSORRT = "nvidia-tensorrt"
MAX = "intel-max"

X = torch.linspace(-1, 1, 24).view(4, 6)
F8 = X.to(torch.float8_e4m3fn)
AT = torch.tensor([0, 2])


def _put(x: Tensor, at: Tensor, values: Tensor) -> Tensor:
    return torch.ops.aten.index_put(x, [at], values)  # type: ignore[no-any-return]


REPORTS = (
    Report(
        "CUDA: nextafter of half", "pytorch/pytorch#136373", 0,
        "`nextafter` takes no half: a pull request of September 2024 gives it to CUDA",
        f"{A100}@2.5.1", Met.REFUSED, Because.DTYPE,
        torch.nextafter, (X.half(), X.half() + 1), ("aten::nextafter",),
        mended={f"{A100}@2.6.0": Met.WORKS},
    ),
    Report(
        "Max: qr", "pytorch/pytorch#191489", 2,
        "`linalg.qr` runs on the host, until a pull request of 2026 gives it to oneMKL",
        f"{MAX}@2.13.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.linalg.qr, (torch.eye(4) + 1,), ("aten::linalg_qr",),
        mended={f"{MAX}@2.15.0": Met.WORKS},
    ),
    Report(
        "CUDA: fractional pooling of bfloat16", "pytorch/pytorch#116950", 6,
        "fractional pooling takes no bfloat16: a pull request of January 2024 adds it",
        f"{A100}@2.2.2", Met.REFUSED, Because.DTYPE,
        nn.FractionalMaxPool2d(2, output_size=3), (torch.ones(1, 2, 8, 8).bfloat16(),),
        ("aten::fractional_max_pool2d",), mended={f"{A100}@2.3.1": Met.WORKS},
    ),
    Report(
        "TensorRT: pixel_unshuffle", "pytorch/TensorRT#2694", 7,
        "`pixel_unshuffle` is not supported",
        f"{TENSORRT}@2.2.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        nn.PixelUnshuffle(3), (torch.ones(1, 1, 12, 12).half(),), ("aten::pixel_unshuffle",),
    ),
    Report(
        "TensorRT: masked_scatter", "pytorch/TensorRT#3410", 7,
        "`masked_scatter` has no converter, which PaliGemma calls",
        f"{TENSORRT}@2.6.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.masked_scatter, (X.half(), X > 0, X.half()), ("aten::masked_scatter",),
    ),
    Report(
        "TensorRT: index_put of PaliGemma", "pytorch/TensorRT#3432", 7,
        "the converter's validator rejects PaliGemma's `index_put`",
        f"{TENSORRT}@2.6.0", Met.ON_THE_HOST, Because.OTHER,
        _put, (X.half(), AT, X[:2].half()), ("aten::index_put", "aten::index_put_"),
    ),
    Report(
        "CUDA: index of float8", "pytorch/pytorch#133605", 10,
        "an index of float8 is refused",
        f"{H100}@2.4.1", Met.REFUSED, Because.DTYPE,
        lambda x, at: x[at], (F8, AT), ("aten::index",),
    ),
    Report(
        "CUDA: index_select of float8", "pytorch/pytorch#128370", 10,
        "a list of June 2024 of what float8 lacks names `index_select`",
        f"{H100}@2.3.1", Met.REFUSED, Because.DTYPE,
        lambda x, at: torch.index_select(x, 0, at), (F8, AT), ("aten::index_select",),
    ),
    Report(
        "TPU: lstsq", "pytorch/xla#8261", 14,
        "`linalg.lstsq` has no lowering: a pull request of October 2024 adds it",
        "google-tpu-v4@r2.5", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.linalg.lstsq, (torch.eye(4) + 1, torch.ones(4, 1)), ("aten::linalg_lstsq",),
        mended={"google-tpu-v4@r2.6": Met.WORKS},
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#133313 pytorch/pytorch#22606 huggingface/candle#43 pytorch/pytorch#22349
        pytorch/pytorch#116933 intel/torch-xpu-ops#1330 intel/torch-xpu-ops#3144
        pytorch/pytorch#132947 pytorch/xla#5764 pytorch/xla#5780 pytorch/xla#5695 pytorch/xla#6243
        pytorch/TensorRT#2070 pytorch/TensorRT#3483 pytorch/TensorRT#3662 pytorch/TensorRT#1818
        pytorch/TensorRT#2181 pytorch/TensorRT#2905 pytorch/TensorRT#2721 pytorch/TensorRT#2068
        pytorch/pytorch#159092 pytorch/pytorch#114329 pytorch/TensorRT#1809 pytorch/xla#4238
        pytorch/xla#6342 pytorch/xla#9745 pytorch/pytorch#141613 flagos-ai/FlagGems#4156
        pytorch/pytorch#107256 pytorch/pytorch#158313 pytorch/TensorRT#2838 pytorch/TensorRT#2083
        pytorch/TensorRT#2444 pytorch/TensorRT#867 pytorch/TensorRT#3135 pytorch/xla#6017
        pytorch/xla#8072 pytorch/xla#7674 pytorch/xla#8225 pytorch/xla#8227
        vllm-project/tpu-inference#2126 pytorch/xla#2627 pytorch/xla#2897 pytorch/pytorch#140965
    """,
    Why.NO_CALL: """
        apache/tvm#17796 pytorch/pytorch#121087 tspeterkim/flash-attention-minimal#7
        joesharratt1229/ThriftAttention#11 intel/torch-xpu-ops#1732 pytorch/pytorch#124810
        pytorch/pytorch#125011 pytorch/pytorch#124823 intel/torch-xpu-ops#2768
        intel/torch-xpu-ops#5436 pytorch/xla#2709 pytorch/xla#7624 pytorch/xla#5781 pytorch/xla#3037
        pytorch/xla#5944 pytorch/TensorRT#1958 pytorch/TensorRT#2210 ROCm/pytorch#1954
        ROCm/pytorch#1955 pytorch/pytorch#170852 ROCm/ROCmValidationSuite#896 ROCm/hipSPARSELt#251
        pytorch/pytorch#144476 pytorch/pytorch#167335 ROCm/pytorch#1321 ROCm/pytorch#2152
        PaddlePaddle/Paddle#28316 NVIDIA/nccl-tests#80 PaddlePaddle/Paddle#73585
        pytorch/TensorRT#170 pytorch/TensorRT#1570 pytorch/xla#6031 pytorch/xla#9074
        tinygrad/tinygrad#6987 tinygrad/tinygrad#8268 PaddlePaddle/Paddle#76303
        pytorch/pytorch#163402 HolyWu/vs-animesr#5 pytorch/vision#5378 saifhaq/alma#45
        pytorch/benchmark#663 open-mmlab/mmdeploy#1831 candle-org/MindAct#862
        NVIDIA-AI-IOT/torch2trt#18 ultralytics/ultralytics#9516 NVIDIA/TensorRT-LLM#1865
        NVIDIA/TensorRT-LLM#5210 pytorch/TensorRT#2431 ddPn08/Radiata#80 pytorch/xla#8076
        pytorch/xla#4497
    """,
    Why.NO_PROGRAM: """
        pytorch/pytorch#131015 pytorch/pytorch#132390 pytorch/pytorch#137839 pytorch/pytorch#196387
        pytorch/pytorch#126744 pytorch/pytorch#120891 intel/torch-xpu-ops#4 intel/torch-xpu-ops#45
        pytorch/pytorch#147358 pytorch/pytorch#140727 intel/torch-xpu-ops#1030
        intel/torch-xpu-ops#1266 intel/torch-xpu-ops#990 pytorch/pytorch#196932 pytorch/xla#5995
        pytorch/xla#5844 pytorch/xla#5979 pytorch/TensorRT#2659 pytorch/pytorch#136212
        pytorch/pytorch#164049 pytorch/pytorch#180855 pytorch/pytorch#183857 pytorch/pytorch#169656
        pytorch/pytorch#146427 pytorch/pytorch#128780 intel/torch-xpu-ops#1336
        pytorch/pytorch#145350 pytorch/pytorch#144612 pytorch/pytorch#145349 pytorch/pytorch#145453
        pytorch/pytorch#144611 pytorch/pytorch#192304 pytorch/pytorch#145070
        TNTwise/REAL-Video-Enhancer#119 pytorch/TensorRT#2197 pytorch/xla#6711
        vllm-project/vllm#10963 huggingface/transformers#30155 vllm-project/vllm#16521
    """,
    Why.OTHERS: """
        facebookresearch/xformers#412 sgl-project/sglang#29608 flagos-ai/FlagGems#5882
        sgl-project/sglang#29614
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#26407 pytorch/TensorRT#2278 pytorch/TensorRT#2514 pytorch/pytorch#161359
        pytorch/pytorch#76935 pytorch/pytorch#127237 pytorch/pytorch#58297 pytorch/pytorch#45151
        pytorch/TensorRT#876 pytorch/TensorRT#731 pytorch/xla#3234 pytorch/xla#567 pytorch/xla#2130
        pytorch/xla#2742 pytorch/xla#3430 pytorch/xla#1776 pytorch/pytorch#24818
        pytorch/pytorch#97798 pytorch/pytorch#71308
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
