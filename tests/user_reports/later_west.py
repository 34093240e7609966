"""A second look at what users of Intel's, AMD's and NVIDIA's GPUs and of TensorRT met."""

import torch
from torch import Tensor, nn

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Intel XPU torch.compile eager mismatch B580 PVC op returns wrong value torch 2.9 "
    "2.10 2.11 regression",
    "torch-xpu-ops test_ops_xpu failure AssertionError Tensor-likes are not close "
    "operator float16 complex64 skip",
    "The operator is not currently implemented for the XPU device "
    "PYTORCH_ENABLE_XPU_FALLBACK model inference Arc",
    "ROCm MIOpen batch_norm LSTM RNN ctc_loss torch wrong gradients or error RX 7900 "
    "gfx1100 MI300X",
    "pytorch ROCm gfx942 topk sort cumsum argmax index_put embedding backward wrong "
    "result or memory access fault",
    "[ROCm] torch.nn.functional grid_sample interpolate max_pool unfold HIP error or "
    "incorrect AMD MI250 MI300",
    "ROCm torch.linalg eigh svd qr cholesky solve slow wrong or hang hipsolver rocsolver MI300X",
    "TheRock ROCm Windows pytorch conv2d channels_last half bfloat16 NaN or slow RX "
    "7900 XTX module: rocm 2026",
    "pytorch CUDA cumsum cumprod logcumsumexp scan wrong result or illegal memory "
    "access large dim 2024 2025",
    "pytorch CUDA embedding_bag scatter_reduce index_reduce bincount histc not "
    "implemented for dtype on GPU torch 2",
    "Torch-TensorRT dynamo layer_norm matmul einsum linear addmm shape broadcast rank "
    "mismatch converter error 2025 2026",
    "Torch-TensorRT trunc round sign erf tan sinh elu hardsigmoid selu activation "
    "converter wrong dtype int input dynamo",
    "pytorch ROCm _grouped_mm int8 _int_mm addmm bias bmm hipBLASLt failure wrong MI300X 2025 2026",
    "[ROCm] upsample interpolate nearest bilinear invalid configuration argument "
    "maxGridSize large batch gfx942 gfx950",
    "CUDA error illegal memory access pytorch 2.12 2.13 H100 B200 operator with more "
    "than 2^31 elements bot-triaged module: 64-bit",
    "xpu: implement aten:: for XPU backend affecting Huggingface models dvrogozh "
    "NotImplementedError",
    "torch-xpu-ops torch.nn.functional grid_sample max_unpool fractional_max_pool "
    "avg_pool3d XPU wrong or RuntimeError compared to CPU",
    "Torch-TensorRT dynamo slice negative step start end select narrow chunk split "
    "converter wrong output or error",
    "Torch-TensorRT aten.full arange empty rand scalar_tensor lift_fresh_copy "
    "constant folding converter dtype bug",
    "torch-xpu-ops torch.sort topk argmax cumsum large dim or noncontiguous wrong "
    "result Arc B580 Battlemage user",
    "Torch-TensorRT SrivastavaKshitij bug torch.compile tensorrt silently wrong "
    "result pow var clamp where index argmax cumsum",
    "pytorch CUDA RuntimeError torch.nn.functional ctc_loss pdist multi_margin_loss "
    "half bfloat16 cuda not implemented 2.x",
    'Torch-TensorRT "add converter" aten dynamo 2024 expand repeat tile flip roll '
    "full_like argmin isnan outer",
    "pytorch CUDA gives different result from CPU on GPU only torch.linalg "
    "torch.nn.functional 2.4 2.6 2.9 RTX 4090 A100 inconsistent",
)
XPU, RX, TRT = "intel-max", "amd-rx7900xt", "nvidia-tensorrt"

X = torch.linspace(-1, 1, 24).view(4, 6)
GROUPED = (
    torch.ones(16, 16).bfloat16(), torch.ones(2, 16, 16).bfloat16(),
    torch.tensor([8, 16], dtype=torch.int32),
)  # fmt: skip


class LargerOfTwo(nn.Module):
    """What is larger in each place of two tensors that are given beforehand."""

    first: Tensor
    second: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("first", torch.tensor([1.0, 5.0, 2.0]))
        self.register_buffer("second", torch.tensor([3.0, 4.0, 2.0]))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.maximum(self.first, self.second)


def _asserted(x: Tensor) -> Tensor:
    torch._assert_async(torch.isfinite(x).all(), "not finite")
    return x * 2


def _divided_in_place(x: Tensor, y: Tensor) -> Tensor:
    found = [x.clone(), y.clone()]
    torch._foreach_addcdiv_(found, [y, x], [x + 2, y + 2], [0.1, 0.2])
    return torch.stack(found)


def _grouped(x: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    return torch._grouped_mm(x, weights, offs=ends)


def _steps(x: Tensor) -> Tensor:
    return torch.linspace(4.3, -3, 50, dtype=torch.int64, device=x.device)


def _noise(x: Tensor) -> Tensor:
    return torch.empty_like(x).exponential_()


REPORTS = (
    Report(
        "XPU: _assert_async with a message", "intel/torch-xpu-ops#957", 1,
        "`_assert_async.msg` is not implemented for the XPU device",
        f"{XPU}@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        _asserted, (X,), ("aten::_assert_async", "aten::_functional_assert_async"),
    ),
    Report(
        "ROCm: LSTM of 2.9 on a 7900 XTX", "pytorch/pytorch#189618", 3,
        "an LSTM of two layers raises miopenStatusUnknownError",
        f"{RX}@2.9.1", Met.REFUSED, Because.CHIP,
        nn.LSTM(640, 640, num_layers=2, batch_first=True), (torch.ones(1, 4, 640),),
        ("aten::lstm", "aten::miopen_rnn"),
    ),
    Report(
        "ROCm: LSTM of more than 65536 steps", "ROCm/rocm-libraries#10551", 3,
        "the bias of an LSTM is left out where batch times length is above 65536",
        f"{RX}@2.13.0", Met.WRONG, Because.SHAPE,
        nn.LSTM(4, 4, batch_first=True), (torch.ones(65537, 2, 4),),
        ("aten::lstm", "aten::miopen_rnn"),
    ),
    Report(
        "ROCm: interpolation to 65536 rows", "ROCm/TheRock#5270", 5,
        "nearest interpolation to 65536 rows asks for more blocks than ROCm 7.14 has",
        "amd-mi355@2.12.1", Met.REFUSED, Because.SHAPE,
        nn.Upsample(scale_factor=2), (torch.ones(1, 1, 2**15, 1),),
        ("aten::upsample_nearest2d",),
    ),
    Report(
        "ROCm: qr", "pytorch/pytorch#151066", 6,
        "QR is much slower on an MI300X than on an A100",
        "amd-mi300x@2.6.0", Met.SLOW, Because.NO_KERNEL,
        torch.linalg.qr, (torch.eye(256),), ("aten::linalg_qr",),
    ),
    Report(
        "CUDA: histogram", "pytorch/pytorch#69519", 9,
        "`histogram` works with no dtype on the GPU, as is said again in May 2024",
        "nvidia-a100@2.3.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.histogram(x, bins=4), (X,), ("aten::histogram",),
    ),
    Report(
        "TensorRT: rsqrt of integers", "pytorch/TensorRT#2929", 11,
        "`rsqrt` of integers fails, with fixed shapes too",
        f"{TRT}@2.3.0", Met.REFUSED, Because.DTYPE,
        torch.rsqrt, (torch.arange(1, 5, dtype=torch.int32),), ("aten::rsqrt",),
    ),
    Report(
        "ROCm: _grouped_mm on gfx90a", "pytorch/pytorch#166816", 12,
        "`_grouped_mm` of bfloat16 does not run on an MI250X, unlike on newer GPUs",
        "amd-mi250@2.9.1", Met.REFUSED, Because.CHIP, _grouped, GROUPED, ("aten::_grouped_mm",),
    ),
    Report(
        "ROCm: _grouped_mm", "pytorch/pytorch#161366", 12,
        "ROCm has no `_grouped_mm` of bfloat16, until a pull request of September 2025",
        "amd-mi300x@2.8.0", Met.REFUSED, Because.NO_KERNEL, _grouped, GROUPED,
        ("aten::_grouped_mm",), mended={"amd-mi300x@2.10.0": Met.WORKS},
    ),
    Report(
        "XPU: _foreach_addcdiv_", "pytorch/pytorch#127931", 15,
        "operators over lists are not implemented, nor do they run on the host by themselves",
        f"{XPU}@2.4.1", Met.REFUSED, Because.NO_KERNEL,
        _divided_in_place, (X, X.abs()), ("aten::_foreach_addcdiv_",),
    ),
    Report(
        "XPU: nll_loss2d", "intel/torch-xpu-ops#372", 15,
        "`nll_loss2d_forward` is not implemented, which 2.5 mends",
        f"{XPU}@2.4.1", Met.REFUSED, Because.NO_KERNEL,
        nn.NLLLoss(), (torch.ones(1, 3, 4, 4), torch.zeros(1, 4, 4, dtype=torch.int64)),
        ("aten::nll_loss2d_forward", "aten::nll_loss2d"), mended={f"{XPU}@2.5.1": Met.WORKS},
    ),
    Report(
        "XPU: exponential_", "pytorch/pytorch#130795", 15,
        "`exponential_` runs on the host while a language model writes, which 2.5 mends",
        f"{XPU}@2.4.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        _noise, (X,), ("aten::exponential_", "aten::exponential"),
        mended={f"{XPU}@2.5.1": Met.WORKS},
    ),
    Report(
        "TensorRT: the larger of two constants", "pytorch/TensorRT#4708", 18,
        "`maximum` of two constants fails, or gives one of them whole",
        f"{TRT}@2.13.0", Met.WRONG, Because.OTHER,
        LargerOfTwo(), (torch.ones(3),), ("aten::maximum",),
    ),
    Report(
        "CUDA: linspace of integers", "pytorch/pytorch#170168", 23,
        "`linspace` of int64 gives other numbers than the CPU",
        "nvidia-a100@2.9.1", Met.WRONG, Because.DTYPE,
        _steps, (X,), ("aten::linspace",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        intel/torch-xpu-ops#3417 intel/torch-xpu-ops#3026 intel/torch-xpu-ops#172
        intel/torch-xpu-ops#2254 intel/torch-xpu-ops#1150 intel/torch-xpu-ops#1234
        intel/torch-xpu-ops#714 intel/torch-xpu-ops#2469 intel/torch-xpu-ops#57
        intel/torch-xpu-ops#173 intel/intel-extension-for-pytorch#860 pytorch/pytorch#177834
        pytorch/pytorch#191912 ROCm/pytorch#2837 ROCm/legacy-rocm-build#6314 pytorch/pytorch#191924
        ROCm/pytorch#928 pytorch/pytorch#12337 pytorch/pytorch#191871 pytorch/pytorch#117847
        pytorch/pytorch#123094 ROCm/pytorch#1398 ROCm/pytorch#2680 pytorch/pytorch#175367
        pytorch/pytorch#185557 pytorch/pytorch#96964 ROCm/TheRock#1225 flagos-ai/FlagGems#6181
        pytorch/TensorRT#2145 pytorch/TensorRT#1048 pytorch/TensorRT#3140 pytorch/TensorRT#3025
        pytorch/TensorRT#2263 pytorch/TensorRT#2181 pytorch/pytorch#150016 pytorch/pytorch#180310
        pytorch/pytorch#22526 ROCm/pytorch#3272 ROCm/pytorch#3082 ROCm/MIOpen#3492
        pytorch/pytorch#80337 huggingface/transformers#31237 pytorch/pytorch#128914
        pytorch/pytorch#127937 pytorch/pytorch#136065 intel/torch-xpu-ops#358
        pytorch/pytorch#127941 pytorch/pytorch#127002 pytorch/TensorRT#3314 pytorch/TensorRT#1110
        pytorch/TensorRT#2901 pytorch/TensorRT#4625 intel/torch-xpu-ops#4898 intel/auto-round#1120
        pytorch/TensorRT#3777 pytorch/TensorRT#2976 zhanghang1989/PyTorch-Encoding#363
        chijames/KERPLE#5 pytorch/TensorRT#3483 pytorch/TensorRT#2157 pytorch/TensorRT#2722
        pytorch/TensorRT#2071 pytorch/TensorRT#1818 pytorch/pytorch#133093 pytorch/pytorch#111349
    """,
    Why.NO_CALL: """
        intel/torch-xpu-ops#4904 intel/torch-xpu-ops#3537 pytorch/pytorch#165892
        pytorch/pytorch#168278 intel/torch-xpu-ops#1830 intel/torch-xpu-ops#2083
        intel/torch-xpu-ops#1672 vllm-project/vllm#7670 ROCm/TheRock#2510 ROCm/TheRock#2746
        ROCm/rocm-libraries#2567 pinokiofactory/wan#7 pytorch/pytorch#131027 pytorch/pytorch#136224
        pytorch/TensorRT#2221 pytorch/TensorRT#4393 pytorch/TensorRT#2203 pytorch/TensorRT#2204
        pytorch/TensorRT#2201 pytorch/TensorRT#2208 ROCm/pytorch#2389 pytorch/pytorch#114329
        ROCm/ROCmValidationSuite#956 pytorch/pytorch#159092 pytorch/pytorch#180731 pytorch/ao#3955
        pytorch/pytorch#188742 ROCm/pytorch#1250 vllm-project/vllm#23781
        intel/intel-xpu-backend-for-triton#1553 intel/torch-xpu-ops#774 intel/torch-xpu-ops#2271
        NVIDIA/TensorRT-Incubator#528 pytorch/TensorRT#3189 intel/torch-xpu-ops#3371
        intel/torch-xpu-ops#3369 pytorch/pytorch#96064 pytorch/pytorch#114229
        pytorch/pytorch#125999 pytorch/pytorch#93815 NVIDIA/TensorRT#3452 pytorch/pytorch#183082
        NVIDIA/TransformerEngine#600 pytorch/pytorch#118177 pytorch/pytorch#107768
        pytorch/TensorRT#3662
    """,
    Why.NO_PROGRAM: """
        intel/torch-xpu-ops#4984 intel/torch-xpu-ops#4960 intel/torch-xpu-ops#4342
        intel/torch-xpu-ops#2478 intel/torch-xpu-ops#3837 intel/torch-xpu-ops#1973
        intel/torch-xpu-ops#2529 intel/torch-xpu-ops#4454 intel/ipex-llm-tutorial#78
        ROCm/legacy-rocm-build#2587 ROCm/hip#3418 pytorch/pytorch#148425 pytorch/pytorch#167086
        pytorch/pytorch#196624 pytorch/pytorch#143486 pytorch/pytorch#190964 pytorch/TensorRT#3288
        pytorch/pytorch#170920 ROCm/pytorch#1855 pytorch/pytorch#198196 pytorch/pytorch#117736
        meta-pytorch/torchtune#1202 pytorch/pytorch#113833 intel/torch-xpu-ops#42
        intel/torch-xpu-ops#302 intel/torch-xpu-ops#898 intel/torch-xpu-ops#1951
        intel/torch-xpu-ops#5452 pytorch/TensorRT#4326 pytorch/TensorRT#3251 pytorch/TensorRT#2593
        intel/torch-xpu-ops#3426 pytorch/pytorch#130806 wenet-e2e/wenet#2764 pytorch/pytorch#136443
    """,
    Why.OTHERS: """
        triton-lang/triton#9306 flashinfer-ai/flashinfer#3391 harvardnlp/genbmm#12
        facebookresearch/maskrcnn-benchmark#1048
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#193704 pytorch/pytorch#184265 pytorch/pytorch#171660
        intel/torch-xpu-ops#1147 kaist-dmlab/pcb#3 pytorch/pytorch#137687 pytorch/pytorch#161769
        pytorch/pytorch#109453
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#138908 pytorch/pytorch#113172 ROCm/MIOpen#3943 pytorch/pytorch#35823
        pytorch/pytorch#35826 pytorch/pytorch#63427 ROCm/AMDMIGraphX#2024 ROCm/pytorch#237
        ROCm/pytorch#947 ROCm/pytorch#3376 ROCm/TheRock#2488 ROCm/rocm-jax#278 ROCm/rocSOLVER#453
        jax-ml/jax#38296 ROCm/pytorch#730 ROCm/pytorch#679 ROCm/TheRock#2458 cupy/cupy#10268
        pytorch/pytorch#73159 pytorch/pytorch#42036 pytorch/pytorch#52213 pytorch/pytorch#53194
        pytorch/pytorch#20208 pytorch/pytorch#6688 pytorch/pytorch#96626 pytorch/pytorch#14249
        pytorch/pytorch#75093 pytorch/TensorRT#1576 pytorch/TensorRT#404 pytorch/TensorRT#3062
        pytorch/TensorRT#2254 pytorch/TensorRT#2543 tenstorrent/tt-metal#25893 ROCm/rocFFT#538
        pytorch/pytorch#13511 pytorch/pytorch#89409 pytorch/TensorRT#2401 pytorch/TensorRT#614
        pytorch/TensorRT#2106 pytorch/pytorch#65960 ultralytics/ultralytics#9277
        tenstorrent/pytorch2.0_ttnn#719 tinygrad/tinygrad#9353 rocmarchive/cutorch_hip#8
        candle-org/MindAct#2543 pytorch/TensorRT#4575 pytorch/pytorch#29210 NVIDIA/apex#912
        BaiShuanghao/Prompt-based-Distribution-Alignment#9 pytorch/pytorch#29211 espnet/espnet#1751
        pytorch/TensorRT#2105 NVIDIA-AI-IOT/torch2trt#574 pytorch/TensorRT#2504
        pytorch/TensorRT#2550 pytorch/pytorch#58754 pytorch/pytorch#83730 pytorch/pytorch#69969
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
