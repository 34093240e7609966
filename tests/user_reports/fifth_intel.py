"""What users of Intel's GPUs met, by searches of threads of the fifth round."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "XPU NotImplementedError operator not currently implemented for the XPU device grouped_mm "
    "scaled_grouped_mm int_mm weight quantized",
    "torch-xpu-ops fix incorrect result conv_transpose conv3d channels_last BatchNorm XPU wrong "
    "output 2.9 2.10 2.11",
    "XPU torch.histogramdd torch.linalg.lstsq torch.unique torch.bincount torch.searchsorted "
    "operator falls back to CPU Intel GPU feature request implement",
    "[ai_generated] torch XPU returns different from CPU intel/torch-xpu-ops nightly reproducer "
    "inconsistency backend",
    "torch-xpu-ops pull request merged fix segfault out of bounds crash kernel empty tensor "
    "index_select gather scatter embedding XPU",
    "[XPU alignment] XPU-specific bug confirmed torch XPU nightly eager operator silent wrong "
    "result dtype complex half",
    'torch-xpu-ops "not implemented for" ComplexFloat OR Half XPU logaddexp upsample lerp cummax '
    "pow bitwise issue RuntimeError 2.10 2.11",
    "Intel Arc B580 ComfyUI XPU torch 2.8 2.9 RuntimeError operator fails workaround cpu conv3d "
    "group_norm interpolate VAE decode",
    "pytorch XPU scatter scatter_reduce deterministic algorithms error integer RuntimeError does "
    "not have a deterministic implementation xpu",
    "Add aten operator XPU kernel instead of CPU fallback torch-xpu-ops pull request merged "
    "special_ igamma erfcx kthvalue mode segment_reduce 2024",
    "XPU backward gradient wrong or missing kernel torch-xpu-ops grid_sampler_3d "
    "upsample_trilinear3d max_unpool conv_tbc fold unfold pixel_unshuffle dtype",
    "vllm xpu Intel GPU torch operator not supported float8 int8 topk index_copy bincount error "
    "workaround PyTorch 2.9 2.10 2.11 aten",
    "torch-xpu-ops torch.median nanmedian mode kthvalue sort stable cumsum prod any all reduction "
    "XPU incorrect or NotImplementedError issue reproducer",
    "xpu: implement aten:: for XPU backend huggingface transformers models fallback dvrogozh "
    "pytorch issue module: xpu",
)
MAX = "intel-max"
ARC = "intel-arc"
IN_2_5 = {f"{MAX}@2.5.1": Met.WORKS}
IN_2_6 = {f"{MAX}@2.6.0": Met.WORKS}

X = torch.linspace(-1, 1, 24).view(4, 6)
WHERE = torch.tensor([[0, 1, 2, 0, 1, 2], [1, 1, 3, 2, 0, 0]])


def _each_time_the_same(call: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def run(*inputs: Tensor) -> Tensor:
        before = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(True)
        try:
            return call(*inputs)
        finally:
            torch.use_deterministic_algorithms(before)

    return run


REPORTS = (
    Report(
        "Max: histograms of points", "intel/torch-xpu-ops#2249", 2,
        "`_histogramdd_bin_edges` is not implemented, which `histogramdd` asks for",
        f"{MAX}@2.9.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.histogramdd(x, [2, 3]).hist, (X.view(12, 2),),
        ("aten::_histogramdd_bin_edges", "aten::histogramdd"),
    ),
    Report(
        "Max: histc", "intel/torch-xpu-ops#739", 2,
        "`histc` gets a kernel by a pull request of August 2024",
        f"{MAX}@2.4.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.histc(x, 8), (X,), ("aten::histc",), mended=IN_2_6,
    ),
    Report(
        "Max: logaddexp of complex numbers", "intel/torch-xpu-ops#2376", 6,
        "`logaddexp_xpu` is not implemented for complex dtypes",
        f"{MAX}@2.10.0", Met.REFUSED, Because.DTYPE,
        torch.logaddexp, (X.to(torch.complex64), X.to(torch.complex64)), ("aten::logaddexp",),
    ),
    Report(
        "Max: sums of integers at indices, each time the same", "intel/torch-xpu-ops#2568", 8,
        "`scatter_reduce` of integers has no deterministic implementation, until March 2026",
        f"{MAX}@2.11.0", Met.REFUSED, Because.OTHER,
        _each_time_the_same(lambda x, at, y: x.scatter_reduce(0, at, y, "sum")),
        (torch.zeros(4, 6, dtype=torch.int64), WHERE, torch.arange(12).view(2, 6)),
        ("aten::scatter_reduce", "aten::scatter_reduce_"),
        mended={f"{MAX}@2.12.1": Met.WORKS},
    ),
    Report(
        "Max: sums at indices, each time the same", "pytorch/pytorch#137966", 8,
        "`scatter_add_kernel` has no deterministic implementation, until a change of October 2024",
        f"{MAX}@2.5.1", Met.REFUSED, Because.OTHER,
        _each_time_the_same(lambda x, at, y: x.scatter_add(0, at, y)),
        (torch.zeros(4), torch.tensor([0, 1, 0, 2]), torch.ones(4)),
        ("aten::scatter_add", "aten::scatter_add_"), mended=IN_2_6,
    ),
    Report(
        "Max: nextafter", "intel/torch-xpu-ops#641", 9,
        "`nextafter` needs the host no longer from July 2024 on",
        f"{MAX}@2.4.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.nextafter, (X, X + 1), ("aten::nextafter",), mended=IN_2_5,
    ),
    Report(
        "Max: erf and erfc", "intel/torch-xpu-ops#406", 9,
        "`erf` and `erfc` get kernels in June 2024",
        f"{MAX}@2.5.1", Met.WORKS, Because.NO_KERNEL,
        lambda x: torch.erf(x) + torch.erfc(x), (X,), ("aten::erf", "aten::erfc"),
    ),
    Report(
        "Max: trilinear interpolation, with its gradient", "intel/torch-xpu-ops#993", 10,
        "`upsample_trilinear3d` and its gradient get kernels in October 2024",
        f"{MAX}@2.6.0", Met.WORKS, Because.NO_KERNEL,
        Learned(lambda x: F.interpolate(x, scale_factor=2.0, mode="trilinear"),
                torch.ones(1, 1, 2, 4, 4)), (),
        ("aten::upsample_trilinear3d", "aten::upsample_trilinear3d_backward"), training=True,
    ),
    Report(
        "Max: the median", "intel/torch-xpu-ops#605", 12,
        "`median` and `nanmedian` get kernels in July 2024",
        f"{MAX}@2.4.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.median, (X,), ("aten::median",), mended=IN_2_5,
    ),
    Report(
        "Arc: medians of rows", "intel/llm-scaler#473", 12,
        "`median` along a dimension is far slower than sorting, the median of all is not",
        f"{ARC}@2.12.1", Met.SLOW, Because.OTHER,
        lambda x: torch.median(x, dim=1).values, (torch.linspace(0, 1, 8192).view(8, 1024),),
        ("aten::median.dim",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        intel/torch-xpu-ops#1574 intel/torch-xpu-ops#5077 intel/torch-xpu-ops#1550
        pytorch/pytorch#187095 intel/torch-xpu-ops#4693 intel/torch-xpu-ops#3349
        NVIDIA/TensorRT#3478 pytorch/pytorch#134580 pytorch/pytorch#53194
        flagos-ai/FlagGems#6181 pytorch/pytorch#1382 intel/torch-xpu-ops#383
        intel/torch-xpu-ops#1988 intel/intel-xpu-backend-for-triton#2236
        intel/torch-xpu-ops#3216 intel/torch-xpu-ops#889 intel/torch-xpu-ops#878
        intel/torch-xpu-ops#3206 intel/torch-xpu-ops#1656 intel/torch-xpu-ops#2926
        intel/intel-extension-for-pytorch#713 sgl-project/sglang#31751
        intel/torch-xpu-ops#4694 intel/torch-xpu-ops#4599 intel/torch-xpu-ops#4594
        intel/torch-xpu-ops#4480 intel/torch-xpu-ops#2487 intel/torch-xpu-ops#3537
        intel/torch-xpu-ops#3098 intel/torch-xpu-ops#3144 intel/torch-xpu-ops#2377
        intel/torch-xpu-ops#2279 Comfy-Org/ComfyUI#4154 Comfy-Org/ComfyUI#409
        Comfy-Org/ComfyUI#556 cubiq/ComfyUI_IPAdapter_plus#604 pytorch/pytorch#108569
        pytorch/pytorch#50469 renezurbruegg/icg_net#7 intel/torch-xpu-ops#1038
        intel/torch-xpu-ops#1031 intel/torch-xpu-ops#57 intel/torch-xpu-ops#898
        intel/torch-xpu-ops#5475 flagos-ai/FlagGems#5760 intel/llm-scaler#383
        Haoming02/sd-webui-forge-classic#408 intel/torch-xpu-ops#1939
        vllm-project/vllm#28856 pytorch/pytorch#169656 pytorch/pytorch#191871
        intel/torch-xpu-ops#222 pytorch/pytorch#46814 intel/torch-xpu-ops#611
        huggingface/transformers#31237 pytorch/pytorch#127931 intel/torch-xpu-ops#372
        pytorch/pytorch#128914 pytorch/pytorch#127937 pytorch/pytorch#136065
        intel/intel-xpu-backend-for-triton#1553 vllm-project/vllm#7670
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#99519 pytorch/pytorch#62594 pytorch/pytorch#22184 elixir-nx/axon#419
        PaddlePaddle/Paddle#27961 flexflow/flexflow-train#1676 PaddlePaddle/Paddle#79064
        pytorch/pytorch#91683 huggingface/diffusers#11424 snicolast/ComfyUI-Ovi#10
        intel/intel-extension-for-pytorch#510 pytorch/pytorch#88244 pytorch/pytorch#133204
        pytorch/pytorch#98060 flagos-ai/FlagGems#3965 flagos-ai/FlagGems#3219
        pytorch/xla#284 pytorch/pytorch#38373 flagos-ai/FlagGems#6256
        flagos-ai/FlagGems#5287 flagos-ai/FlagGems#3261 pytorch/pytorch#136294
        vllm-project/llm-compressor#2048 pytorch/pytorch#45084 pytorch/pytorch#188087
        pytorch/pytorch#1741 pytorch/pytorch#38018 flagos-ai/FlagGems#2796
    """,
    Why.NO_PROGRAM: """
        intel/torch-xpu-ops#3060 intel/torch-xpu-ops#5339 intel/torch-xpu-ops#738
        intel/torch-xpu-ops#3488 pytorch/pytorch#179146 intel/torch-xpu-ops#2266
        intel/torch-xpu-ops#2386 pytorch/pytorch#145039 Comfy-Org/ComfyUI#10756
        IGCIT/Intel-GPU-Community-Issue-Tracker-IGCIT#1538 intel/torch-xpu-ops#1041
        ai-joe-git/ComfyUI-Intel-Arc-Clean-Install-Windows-venv-XPU-#10
        intel/torch-xpu-ops#906
    """,
    Why.UNCONFIRMED: """
        intel/torch-xpu-ops#742 intel/torch-xpu-ops#3445 intel/torch-xpu-ops#4778
        intel/torch-xpu-ops#4620 intel/torch-xpu-ops#2045 intel/torch-xpu-ops#3154
        intel/torch-xpu-ops#3117
    """,
    Why.NO_CALL: """
        pytorch/pytorch#195428 pytorch/pytorch#181557 intel/torch-xpu-ops#3172
        pytorch/pytorch#153022 intel/torch-xpu-ops#4666 intel/torch-xpu-ops#4671
        intel/torch-xpu-ops#4680 intel/torch-xpu-ops#4655 intel/torch-xpu-ops#4466
        intel/torch-xpu-ops#4668 intel/torch-xpu-ops#5018 intel/torch-xpu-ops#1928
        intel/torch-xpu-ops#2602 huggingface/transformers#31238 huggingface/kernels#403
    """,
    Why.OTHERS: "intel/torch-xpu-ops#1551",
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
