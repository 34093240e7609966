"""Runs on emulated devices made by hand: the standard ones that every format is shown on."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from opcheck.lang.sentence import from_data
from opcheck.model.emulation import (
    Agreement,
    Caution,
    Difference,
    Disagreement,
    Emulation,
    HostCalls,
    Refusal,
    Site,
)
from opcheck.model.report import KernelCount, ModelInfo, Reason
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict

ATTENTION = Site("layers.*.attention", "examples/rope/model.py", 145)
ROTARY = Site("layers.*.attention.rotary", "examples/rope/model.py", 171)
NORM = Site("final_norm", "", 0)
BOXES = Site("roi_heads", "detect/boxes.py", 54)
STEP = Site("", "train.py", 31)
NOT_COMPLEX = "The result has dtype complex64, which {op} does not take on 910a."
NO_KERNEL = "ascend registers no kernel for {op}, so every call runs on the host CPU"


def kernel(
    op: str, count: int, verdict: Verdict = Verdict.NATIVE, phase: Phase = Phase.FORWARD
) -> KernelCount:
    return KernelCount(op, verdict, count, phase)


def refused(op: str, count: int, *sites: Site, phase: Phase = Phase.FORWARD) -> Refusal:
    reason = Reason("dtype-not-supported", from_data(NOT_COMPLEX.format(op=op)))
    kernel_name = op.partition("::")[2]
    error = (
        f"RuntimeError: call aclnn_{kernel_name} failed, detail:EZ1001: dtype COMPLEX64 is not in\n"
        "[FLOAT, FLOAT16].\n  [ERROR] 2026-05-12 (PID:7, Device:0) ERR01100 OPS call acl api failed"
    )
    return Refusal(op, reason, error, count, phase, sites)


def on_host(op: str, count: int, nbytes: int, *sites: Site) -> HostCalls:
    reason = Reason("host-fallback", from_data(NO_KERNEL.format(op=op)))
    return HostCalls(op, reason, count, nbytes, Phase.FORWARD, sites)


def run(**changes: Any) -> Emulation:
    plain = Emulation(
        opcheck_version="0.1.0",
        torch_version="2.13.0",
        target="ascend-910b@26.1.0+torch2.12",
        database_digest="0f1e2d3c4b5a6978",
        model=ModelInfo("torchvision:resnet50", "torchvision", ""),
        mode="inference",
        values=False,
        finished=True,
        error="",
        error_site=None,
        refusals=(),
        host_calls=(),
        cautions=(),
        islands=1,
        kernels=(
            kernel("aten::relu_", 49),
            kernel("aten::convolution_overrideable", 53),
            kernel("aten::addmm", 1),
        ),
    )
    return replace(plain, **changes)


ROPE = ModelInfo("examples/rope/model.py:build", "python", "89abcdef01234567")
MIXED = run(
    model=ROPE,
    target="ascend-910a@26.1.0+torch2.12",
    values=True,
    refusals=(
        refused("aten::view_as_complex", 161, ATTENTION, ROTARY, NORM),
        refused("aten::mul.Tensor", 64, ROTARY),
        Refusal(
            "aten::_scaled_dot_product_efficient_attention",
            Reason("fallback-crashes", "There is no kernel on the target, nor one for the CPU."),
            "NotImplementedError: Could not run 'aten::_scaled_dot_product_efficient_attention' "
            "with arguments from the 'CPU' backend.",
            12,
            Phase.FORWARD,
            (ATTENTION, replace(ATTENTION, line=150), replace(ATTENTION, line=152), ROTARY),
        ),
    ),
    host_calls=(
        on_host("torchvision::nms", 5, 24_000, BOXES),
        on_host("torchvision::roi_align", 4, 13_107_200, replace(BOXES, line=55)),
    ),
    cautions=(
        Caution(
            "aten::_to_copy",
            Reason("float64-becomes-float32", "float64 is computed as float32 on 910a"),
            3,
            Phase.FORWARD,
            (ATTENTION,),
        ),
    ),
    islands=7,
    kernels=(
        kernel("aten::addmm", 240),
        kernel("torchvision::nms", 5, Verdict.FALLBACK),
        kernel("torchvision::roi_align", 4, Verdict.FALLBACK),
        kernel("aten::_scaled_dot_product_efficient_attention", 12, Verdict.UNSUPPORTED),
    ),
    differences=(
        Difference("output[0]", (1, 128, 4096), "float32", 1.1920929e-07),
        Difference("output[1]", (1, 128), "float16", None),
    ),
    notes=(from_data("no inputs given: 1x128:int64, as embed (Embedding) wants"),),
)
TRAINING = run(
    memory_peak=12_582_912,
    model=ModelInfo("hf:bert/config.json", "hf", "89abcdef01234567"),
    mode="train",
    values=True,
    host_calls=(on_host("aten::_foreach_lerp_.Scalar", 44, 0, STEP),),
    islands=2,
    kernels=(
        kernel("aten::addmm", 74),
        kernel("aten::mm", 148, phase=Phase.BACKWARD),
        kernel("aten::_foreach_lerp_.Scalar", 44, Verdict.FALLBACK, Phase.OPTIMIZER),
    ),
    differences=(
        Difference("output.loss", (), "float32", 0.0),
        Difference("grad of encoder.weight", (768, 768), "float32", 3.7252903e-09),
        Difference("grad of encoder.bias", (768,), "float32", 0.0),
        *(Difference(f"layer.{i}.w after the step", (3,), "float32", None) for i in range(8)),
    ),
    agreement=Agreement(native=41, missing=1, refused=0, disagreements=()),
    notes=("the loss is the sum of the outputs", "torch.Generator on the device is not emulated"),
)
DISAGREEING = run(
    agreement=Agreement(
        native=3,
        missing=1,
        refused=1,
        disagreements=(
            Disagreement("aten::relu_", "native", Phase.FORWARD, 48, 49),
            Disagreement("aten::mm", "native", Phase.BACKWARD, 1, 0),
            Disagreement(
                "aten::_scaled_dot_product_efficient_attention.an_overload_of_some_length",
                "missing",
                Phase.FORWARD,
                0,
                12_000,
            ),
        ),
    ),
)
ENDED = run(
    model=ROPE,
    finished=False,
    error="ValueError: heads must divide 7\nbut they are 2",
    error_site=ROTARY,
    error_source='raise ValueError(f"heads must divide {n}\\nbut they are {heads}")',
    kernels=(),
    islands=0,
)
UNCONFIRMED = replace(
    ENDED, agreement=Agreement(native=2, missing=0, refused=0, disagreements=(), ended=ENDED.error)
)
_FIRST = refused("aten::view_as_complex", 1, ATTENTION)
STOPPED = run(
    model=ROPE,
    target="ascend-910a@26.1.0+torch2.12",
    finished=False,
    error=_FIRST.error,
    error_site=ATTENTION,
    error_source="q = torch.view_as_complex(q.float().reshape(*q.shape[:-1], -1, 2))",
    refusals=(_FIRST,),
    kernels=(kernel("aten::addmm", 3),),
)

EMULATIONS: Mapping[str, Emulation] = {
    "clean": run(),
    "mixed": MIXED,
    "training": TRAINING,
    "disagreeing": DISAGREEING,
    "ended": ENDED,
    "unconfirmed": UNCONFIRMED,
    "stopped": STOPPED,
    "nothing": run(kernels=(), islands=0, values=True, differences=()),
}
