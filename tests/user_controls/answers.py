"""What scans said of the controls: the first one, and what is different now."""

from tests.user_controls.control import Answer

NATIVE = Answer("native")

FIRST = {
    "910A: nms": Answer("fallback", "host-fallback", "torchvision::nms"),
    "DCU: DeepSeek on a Z100": Answer("unknown", "not-in-target-torch", "aten::_grouped_mm"),
    "XPU: rfft of bfloat16": Answer("unknown", "not-traced", "aten::fft_rfft"),
    "MPS: Embedding with a largest norm": Answer(
        "unsupported", "no-kernel", "aten::embedding_renorm_"
    ),
    "MPS: svd": Answer("fallback", "computed-on-host", "aten::linalg_svd"),
    "M1: GPT, trained": Answer("unsupported", "no-kernel", "aten::native_dropout"),
    "TPU: i0e": Answer("fallback", "host-fallback", "aten::special_i0e"),
    "TPU: logaddexp2": Answer("fallback", "host-fallback", "aten::logaddexp2"),
    "TPU: zeta": Answer("fallback", "host-fallback", "aten::special_zeta"),
    "TPU: polygamma": Answer("fallback", "host-fallback", "aten::polygamma"),
    "TPU: embedding_bag": Answer("fallback", "computed-on-host", "aten::embedding_bag.padding_idx"),
    "TPU: unique": Answer("fallback", "host-fallback", "aten::_unique2"),
    "TPU: repeat_interleave": Answer(
        "fallback", "host-fallback", "aten::repeat_interleave.self_Tensor"
    ),
    "TPU: grid_sampler_2d": Answer("fallback", "host-fallback", "aten::grid_sampler_2d"),
    "TPU: scatter_reduce to means": Answer(
        "fallback", "computed-on-host", "aten::scatter_reduce.two"
    ),
    "TPU: nonzero": Answer("fallback", "computed-on-host", "aten::nonzero"),
    "TPU: Llama 2": Answer("fallback", "computed-on-host", "aten::is_nonzero"),
    "TPU: Llama 2, one TPU v4": Answer("fallback", "computed-on-host", "aten::cumsum"),
    "TensorRT: BERT in bfloat16": Answer("fallback", "runs-elsewhere", "aten::all"),
}
"""What the first scan said, on the day that the controls were written down; else native."""

NOW = {
    "MPS: Embedding with a largest norm": Answer(
        "fallback", "computed-on-host", "aten::embedding_renorm_"
    ),
    "M1: GPT, trained": NATIVE,
    "XPU: linalg.solve": Answer("fallback", "computed-on-host", "aten::linalg_solve"),
    "NPU: std with a fraction as correction": Answer(
        "fallback", "computed-on-host", "aten::std.correction"
    ),
}
"""What a scan says now, where that is not what the first one said."""

CAUSES = {
    "MPS: Embedding with a largest norm": (
        "PyTorch's list names no kernel for MPS, and its table of what runs on the host was read up"
        " to torch 2.13, where it has this operator; mended: a copy of 2.15 has it, too, and of"
        " releases after all that was read such operators are unknown."
    ),
    "M1: GPT, trained": (
        "Autograd takes dropout apart before the trace sees it, into the fused kernel that only"
        " CUDA, XPU and PrivateUse1 use; mended: the table of branches has the fused kernel, too,"
        " and what attention runs as with torch 2.4."
    ),
    "DCU: DeepSeek on a Z100": (
        "transformers asks the torch that it runs on whether it has grouped products; with 2.5 it"
        " would go another way, which a trace by a newer torch does not show."
    ),
    "XPU: rfft of bfloat16": "The torch that traces refuses it for every device.",
}
"""Why a scan's first answer is not that it runs, for what is neither native nor falls back."""


def first(name: str) -> Answer:
    """What the first scan said of a control."""
    return FIRST.get(name, NATIVE)


def now(name: str) -> Answer:
    """What a scan says of a control now."""
    return NOW.get(name, first(name))
