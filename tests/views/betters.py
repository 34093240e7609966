"""Standard answers of ``opcheck fix --better``, one for each kind of outcome."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.commands.fix.fused import Better
from opcheck.model.fusing import FusedCalls, LeftCalls, ModelCheck, ValueCheck
from opcheck.model.plan import Label
from opcheck.model.verdict import Evidence, Method
from tests.views.samples import STANDARD

_REPORT = STANDARD["mixed"]
_CHECK = ModelCheck(2, 3, "result 0", 3.5e-07, 2e-05, holds=True)
_NORMS = FusedCalls(
    rule="rms-norm-npu",
    summary="Use npu_rms_norm",
    kernel="npu::npu_rms_norm",
    kernels=("npu::npu_rms_norm",),
    label=Label.TOLERANCE,
    tolerance=4.0,
    modules=("layers.0.norm", "layers.1.norm", "norm"),
    calls_before=18,
    calls_after=3,
    bytes_before=999_424,
    bytes_after=167_936,
    checks=(ValueCheck("float32", 3, 0.0, 4.0), ValueCheck("bfloat16", 3, 0.5425, 4.0)),
    references=("https://gitcode.com/Ascend/op-plugin/blob/26.1.0/docs/page.md#L12",),
    evidence=(
        Evidence(
            Method.REGISTERED, "Ascend/op-plugin", "op_plugin/config/op_plugin_functions.yaml",
            6844, "09024aa99e234be0456a41f02585f060389d488f", "2026-08-21",
        ),
    ),
    seconds=5.2e-07,
)  # fmt: skip
_WRITTEN = Better(
    opcheck_version=_REPORT.opcheck_version,
    torch_version=_REPORT.torch_version,
    model=_REPORT.model,
    target="ascend-910b@26.1.0+torch2.12",
    files=("net.pt2", "net_operators.py"),
    fused=(_NORMS,),
    left=(
        LeftCalls(
            "swiglu-npu",
            "layers.0.mlp",
            "it would move 172,032 bytes, and as it is written 122,880",
        ),
        LeftCalls("attention-torch", "", "something else uses what is computed on the way"),
    ),
    check=_CHECK,
    newly_off=(),
    calls=103,
    moved=3_020_000,
    product="Ascend910B2",
)
BETTERS: Mapping[str, Better] = {
    "written": _WRITTEN,
    "told": replace(_WRITTEN, files=(), left=(), check=replace(_CHECK, difference=0.0)),
    "sources": replace(
        _WRITTEN, files=("net.py",), layers=("net.py:14 Norm", "net.py:31 Gate"), left=()
    ),
    "nothing": replace(_WRITTEN, files=(), fused=(), left=(), check=None, product=""),
    "failed": replace(
        _WRITTEN,
        files=(),
        fused=(
            replace(_NORMS, seconds=None, checks=(ValueCheck("float16", 3, float("nan"), 4.0),)),
        ),
        check=replace(_CHECK, difference=None, holds=False),
        newly_off=("aten::_thnn_fused_lstm_cell",),
        product="",
    ),
}
