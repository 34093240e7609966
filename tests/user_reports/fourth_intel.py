"""What users of Intel's GPUs met, by searches of threads of the fourth round."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Intel XPU torch.linalg qr svd eigh cholesky lu solve falls back to CPU or wrong result Arc",
    "huggingface transformers diffusers test fails on XPU Intel op different result deterministic "
    "scatter conv interpolate skip on xpu",
    "XPU torch.fft complex sparse CSR matmul not implemented or fallback torch-xpu-ops feature "
    "request",
    "torch-xpu-ops accuracy issue sort topk cumsum index_add histc bincount wrong integer result "
    "XPU",
    "LSTM GRU RNN ctc_loss speech training Intel XPU fails or slow, falls back to CPU, ipex",
    "XPU scaled_dot_product_attention GQA mask head_dim flash attention backward unsupported or "
    "NaN Intel GPU 2.8 2.9 2.10",
    "torch-xpu-ops pull request merged fix crash or wrong gradient backward kernel index_put "
    "embedding_bag grid_sampler ctc_loss XPU",
    'Intel Arc stable diffusion or LLM float64 unsupported "Required aspect fp64 is not supported '
    'on the device" torch.xpu 2.6 2.7 operation',
    "torch xpu random multinomial randperm bernoulli quantize int8 dynamic quantized linear XPU "
    "error operator not implemented",
)
MAX = "intel-max"

X = torch.linspace(-1, 1, 24).view(4, 6)
WHERE = torch.arange(8 * 2048).view(8, 2048) % 991 + 33


def _of_flash(q: Tensor) -> Tensor:
    with nn.attention.sdpa_kernel([nn.attention.SDPBackend.FLASH_ATTENTION]):
        return F.scaled_dot_product_attention(q, q, q, is_causal=True)


def _accumulated(start: Tensor, mask: Tensor, at: Tensor, values: Tensor) -> Tensor:
    found: Tensor = torch.ops.aten._unsafe_masked_index_put_accumulate(start, mask, [at], values)
    return found


def _quantized(x: Tensor) -> Tensor:
    found = torch._empty_affine_quantized(
        x.shape, scale=1.0, zero_point=0, dtype=torch.qint8, device=x.device
    )
    return found.int_repr()


REPORTS = (
    Report(
        "Max: eigenvalues", "intel/torch-xpu-ops#1620", 0,
        "`linalg.eigvals` is put on the host, since oneMKL has no routine of it for GPUs",
        f"{MAX}@2.8.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.linalg.eigvals, (torch.eye(4) * 2,),
        ("aten::linalg_eigvals", "aten::_linalg_eigvals"),
    ),
    Report(
        "Max: qr before its kernels", "intel/torch-xpu-ops#4043", 0,
        "`linalg.qr` runs on the host, until kernels of June 2026",
        f"{MAX}@2.12.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.linalg.qr, (X,),
        ("aten::linalg_qr", "aten::geqrf", "aten::linalg_householder_product"),
        mended={f"{MAX}@2.15.0": Met.WORKS},
    ),
    Report(
        "Max: topk of experts", "vllm-project/vllm-xpu-kernels#473", 3,
        "`topk` of 2.13.0 can return wrong indices, so a reference is computed on the CPU",
        f"{MAX}@2.13.0", Met.WRONG, Because.OTHER,
        lambda x: torch.topk(x, 8), (torch.arange(512).remainder(17).float().view(8, 64),),
        ("aten::topk",),
    ),
    Report(
        "Max: logcumsumexp", "intel/torch-xpu-ops#931", 3,
        "`logcumsumexp`, `cummax` and `cummin` have no kernels before a pull request of late 2024",
        f"{MAX}@2.5.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.logcumsumexp(x, 1), (X,), ("aten::logcumsumexp", "aten::_logcumsumexp"),
        mended={f"{MAX}@2.6.0": Met.WORKS},
    ),
    Report(
        "Arc: LSTM in bfloat16", "intel/torch-xpu-ops#4066", 4,
        "oneDNN cannot create a primitive of an LSTM in bfloat16 with 2.13 on a B580",
        "intel-arc@2.13.0", Met.REFUSED, Because.OTHER,
        nn.LSTM(8, 16, batch_first=True).bfloat16().eval(), (torch.ones(2, 5, 8).bfloat16(),),
        ("aten::lstm", "aten::mkldnn_rnn_layer"),
    ),
    Report(
        "Max: training by flash attention", "intel/torch-xpu-ops#1749", 5,
        "flash attention alone is asked for, which has no backward pass: \"grad to be supported\"",
        f"{MAX}@2.8.0", Met.REFUSED, Because.OTHER,
        Learned(_of_flash, torch.ones(3, 4, 6, 8).half()), (),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention"),
        training=True,
    ),
    Report(
        "Max: embeddings of no width, backwards", "intel/torch-xpu-ops#4599", 6,
        "the gradient of a table of width 0 faults the GPU",
        f"{MAX}@2.13.0", Met.REFUSED, Because.SHAPE,
        Learned(lambda table, at: F.embedding(at, table), torch.ones(10, 0)),
        (torch.tensor([1, 2, 3]),), ("aten::embedding_dense_backward", "aten::embedding_backward"),
        training=True,
    ),
    Report(
        "Max: accumulating by a mask", "intel/torch-xpu-ops#4435", 6,
        "`_unsafe_masked_index_put_accumulate`, of an embedding's gradient, crashes the process",
        f"{MAX}@2.13.0", Met.REFUSED, Because.OTHER, _accumulated,
        (torch.zeros(1024, 256), torch.ones(8, 2048, 1, dtype=torch.bool), WHERE,
         torch.ones(8, 2048, 256)),
        ("aten::_unsafe_masked_index_put_accumulate", "aten::index_put", "aten::_unsafe_index_put"),
    ),
    Report(
        "Max: pooling by large windows in half, backwards", "pytorch/pytorch#186087", 6,
        "gradients of overlapping windows are added in float16, and off by up to 0.047",
        f"{MAX}@2.12.1", Met.WRONG, Because.DTYPE,
        Learned(lambda x: F.max_pool2d(x, 13, 1, 2), torch.ones(2, 4, 20, 20).half()), (),
        ("aten::max_pool2d_with_indices_backward",), training=True,
        mended={f"{MAX}@2.14.1": Met.WORKS},
    ),
    Report(
        "Max: an empty quantized tensor", "intel/torch-xpu-ops#2358", 8,
        "`_empty_affine_quantized` cannot run on the backend of quantized tensors of XPUs",
        f"{MAX}@2.9.1", Met.REFUSED, Because.NO_KERNEL, _quantized, (X,),
        ("aten::_empty_affine_quantized",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        intel/torch-xpu-ops#1901 intel/torch-xpu-ops#4893 intel/torch-xpu-ops#1950
        intel/torch-xpu-ops#1887 intel/torch-xpu-ops#2254 intel/torch-xpu-ops#5220
        intel/torch-xpu-ops#3216 intel/torch-xpu-ops#2211 intel/torch-xpu-ops#1210
        intel/torch-xpu-ops#162 intel/torch-xpu-ops#3144 intel/torch-xpu-ops#1125
        pytorch/pytorch#77764 intel/torch-xpu-ops#3081 intel/torch-xpu-ops#1147
        intel/torch-xpu-ops#3530 intel/torch-xpu-ops#4604 intel/torch-xpu-ops#258
        intel/torch-xpu-ops#5090 intel/torch-xpu-ops#2719 intel/torch-xpu-ops#2489
        intel/torch-xpu-ops#4693 intel/torch-xpu-ops#1742 Comfy-Org/ComfyUI#4210
        intel/intel-extension-for-pytorch#699 intel/intel-extension-for-pytorch#257
        intel/torch-xpu-ops#1329 intel/torch-xpu-ops#2469 intel/torch-xpu-ops#2309
        intel/torch-xpu-ops#520 lllyasviel/stable-diffusion-webui-forge#1162
    """,
    Why.NO_TARGET: """
        intel/intel-extension-for-pytorch#358 intel/intel-extension-for-pytorch#566
        intel/intel-extension-for-pytorch#713 pytorch/pytorch#54156 pytorch/pytorch#50690
        intel/torch-xpu-ops#2735 intel/intel-extension-for-pytorch#187 intel/torch-xpu-ops#611
        intel/intel-extension-for-pytorch#302 intel/torch-xpu-ops#338 kulinseth/pytorch#279
        intel/intel-extension-for-pytorch#303 pytorch/pytorch#156487
    """,
    Why.NO_PROGRAM: """
        intel/torch-xpu-ops#3833 intel/torch-xpu-ops#4169 huggingface/transformers#30774
        intel/torch-xpu-ops#2729 intel/torch-xpu-ops#5201 intel/torch-xpu-ops#3972
        pytorch/pytorch#150254 intel/torch-xpu-ops#4201 pytorch/pytorch#163244
        intel/torch-xpu-ops#1270 ljleb/prompt-fusion-extension#79 intel/torch-xpu-ops#275
        intel/torch-xpu-ops#2271 intel/torch-xpu-ops#471
    """,
    Why.UNCONFIRMED: """
        huggingface/transformers#34888 intel/torch-xpu-ops#3329 intel/torch-xpu-ops#3777
        intel/torch-xpu-ops#4694 intel/torch-xpu-ops#4594 intel/torch-xpu-ops#4565
    """,
    Why.NO_CALL: """
        huggingface/transformers#37779 huggingface/transformers#37691 huggingface/diffusers#13892
        intel/intel-xpu-backend-for-triton#3237 huggingface/transformers#46214
        intel/intel-extension-for-pytorch#830 intel/intel-extension-for-pytorch#815
        intel/ipex-llm#10941 OpenMOSS/MOSS-TTS#31 lm-sys/FastChat#3152 bytedance/xpu-perf#141
        NVIDIA/TransformerEngine#3006 Dao-AILab/flash-attention#2004 thu-ml/SageAttention#375
        PaddlePaddle/Paddle#67173 pytorch/pytorch#52647 intel/intel-xpu-backend-for-triton#1840
        vladmandic/sdnext#2011
    """,
    Why.OTHERS: "intel/torch-xpu-ops#2573",
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
