"""Answers on what models cost, for the formats and the command line."""

from msgspec.structs import replace

from opcheck.commands.tune.values import Advice, ChipFigure, Gain, OperatorCost, TunedTarget, Tuning
from opcheck.costs.roofline import Bound, Limit, MemoryNeed
from opcheck.model.report import ModelInfo, TraceInfo
from opcheck.model.trace import Gap
from opcheck.model.verdict import Evidence, Method

_SHEET = Evidence(Method.DOCUMENTED, "vendor.com", "a-datasheet.pdf", None, "", "2026-01-01")
_CODE = Evidence(
    Method.REGISTERED, "pytorch/pytorch", "aten/native_functions.yaml", 7, "abc1234567"
)
_HALF = Advice(
    "half-precision", "Run in bfloat16", (),
    "100% of 8.18 GFLOP are in float32; the chip does 312 TFLOP/s in bfloat16 and 156 TFLOP/s as "
    "it is",
    Gain(0.5, 0.000107, None, "at most: autocast leaves some operators in float32"),
    (), ("model.to(torch.bfloat16)", 'torch.autocast("cuda", dtype=torch.bfloat16)'), (_SHEET,),
)  # fmt: skip
_FORMAT = Advice(
    "memory-format", "Use the memory format channels_last",
    ("layer4.*.conv2", "layer3.*.conv2", "layer2.*.conv2", "and 14 more"),
    "53 convolutions, 100% of all products, take contiguous tensors; the chip is best in "
    "channels_last, for convolutions in float16 on compute capability 7.0 and newer",
    Gain(text="not known"), (), ("model.to(memory_format=torch.channels_last)",), (_CODE,),
)  # fmt: skip
_LITTLE = Advice(
    "copies", "Keep one layout", ("head",), "1 call to copy tensors as they are; 400 B moved",
    Gain(0.0004, 8.6e-08, None, "at most: without any of them"),
    ("take the views out that make these tensors other than contiguous",),
)  # fmt: skip
_COMPILER = Advice(
    "graph-compiler", "Try torch.compile or Torch-TensorRT", (),
    "120 calls without a product of matrices; 54% of the time goes there; a compiler may fuse what "
    "they read and write",
    Gain(text="not known; 54% at most"),
    ("torch.compile: TorchInductor, with Triton kernels",), (), (_CODE, _SHEET, _CODE),
)  # fmt: skip
_ROOM = Advice(
    "memory", "Make it fit", (),
    "it needs 113 MB; 102 MB of that are weights; the chip has 80 MB",
    Gain(nbytes=33_000_000, text="33 MB are too much"),
    ("a dtype of 16 bits", "weights spread over 2 devices at least"), (), (_SHEET,), True,
)  # fmt: skip
_OPERATORS = (
    OperatorCost(
        "aten::cudnn_convolution", 53, 8_174_272_512, 180_925_184,
        Bound(9.4e-05, Limit.BANDWIDTH), 0.437, "layer4.*.conv2",
    ),
    OperatorCost(
        "aten::relu_", 49, 0, 76_869_632, Bound(3.77e-05, Limit.BANDWIDTH), 0.175, "layer1.*.relu"
    ),
    OperatorCost(
        "vendor::mystery", 1, None, 1_000, Bound(None, Limit.HOST, whole=False), None, "(the model)"
    ),
    *(
        OperatorCost(
            f"aten::small_{i}", 1, 0, 400, Bound(2e-10, Limit.BANDWIDTH), 1e-06, "head"
        )
        for i in range(4)
    ),
)  # fmt: skip
_A100 = TunedTarget(
    target="nvidia-a100@2.13.0+torch2.13", vendor="nvidia", chip="a100", title="NVIDIA A100",
    product="A100 80GB SXM", others=("A100 40GB PCIe", "A100 80GB PCIe"), runs=True,
    figures=(
        ChipFigure("memory", 8e10, (_SHEET,)), ChipFigure("bandwidth", 2.039e12, (_SHEET,)),
        ChipFigure("float32", 1.95e13, (_SHEET,)), ChipFigure("tf32", None),
    ),
    flops=8_178_368_512, elements=27_145_216, moved=427_600_000,
    bound=Bound(0.000214825, Limit.BANDWIDTH), operators=_OPERATORS,
    memory=MemoryNeed(102_228_128, 212_904, 602_112, 10_436_608, batch=1), largest_batch=7_237,
    advice=(_HALF, _COMPILER, _FORMAT),
    unknown=("the operations of 1 call of vendor::mystery are not known",),
)  # fmt: skip
_UNKNOWN = replace(
    _A100, target="vendor-x@1.0+torch2.9", vendor="vendor", chip="x", title="Vendor X", product="",
    others=(), runs=None, figures=(ChipFigure("memory", None), ChipFigure("bandwidth", None)),
    bound=Bound(None, Limit.UNKNOWN, whole=False),
    operators=tuple(
        replace(one, bound=Bound(None, Limit.UNKNOWN, whole=False), share=None)
        for one in _OPERATORS
    ),
    memory=replace(_A100.memory, gradients=5, states=7, batch=None), largest_batch=None, advice=(),
    unknown=("no figure of Vendor X is known, so nothing bounds the run",),
)  # fmt: skip
_SMALL = replace(
    _A100, runs=False, bound=Bound(0.0021, Limit.COMPUTE, whole=False), others=(),
    advice=(_ROOM, _HALF), unknown=("not run there; bounded as if they did: aten::add.Tensor",),
)  # fmt: skip


def _tuning(*targets: TunedTarget) -> Tuning:
    return Tuning(
        "0.1.0", "2.13.0", ModelInfo("torchvision:resnet50", "torchvision", "0123456789abcdef"),
        TraceInfo("inference", "cuda", 175, 9, (Gap("net.py:3", "unseen"),), (), ("a note",)),
        targets,
    )  # fmt: skip


TUNINGS = {
    "little": _tuning(replace(_A100, advice=(_LITTLE,))),
    "advised": _tuning(_A100),
    "unknown": _tuning(_UNKNOWN),
    "several": _tuning(_A100, _SMALL),
}
"""What it costs and what to do; no figure at all; two targets, one of which it does not fit."""
