"""Probes to render, and for commands to answer with."""

from msgspec.structs import replace

from opcheck.model.probe import Differs, Noted, Observed, Outcome, Probe
from opcheck.model.target import Target
from opcheck.model.trace import Phase, TensorMeta
from opcheck.model.verdict import Verdict

TENSOR = TensorMeta("float64", (2, 3), (3, 1))
REFUSED = Observed(
    "aten::erfinv", (("self", TENSOR),), Phase.FORWARD, Outcome.RAISES,
    "RuntimeError: float64 is not taken", registered=True,
)  # fmt: skip
BETTER = Observed("aten::sum.dim_IntList", (("self", TENSOR), ("dim", (0, 1))), Phase.BACKWARD,
                  Outcome.WORKS, registered=True)  # fmt: skip
TARGET = Target("ascend", "910b", "26.1.0", "2.12", "npu")
PROBES = {
    "npu": Probe(
        "npu:0", TARGET, "probe/probe-ascend-910b.yaml", "probe/probe-ascend-910b.jsonl", 1234, 5,
        {Outcome.WORKS: 30, Outcome.FALLS_BACK: 2, Outcome.RAISES: 1}, (Noted(7, REFUSED),), 210,
        (Differs(9, BETTER, Verdict.UNSUPPORTED, "self is float64, which it does not take"),),
    ),
    "worst": Probe(
        "npu:0", TARGET, "probe/probe-ascend-910b.yaml", "probe/probe-ascend-910b.jsonl", 9, 1,
        {Outcome.WRONG: 1, Outcome.CRASHES: 1, Outcome.HANGS: 1},
        tuple(
            Noted(line, replace(REFUSED, outcome=outcome, text=""))
            for line, outcome in enumerate((Outcome.WRONG, Outcome.CRASHES, Outcome.HANGS), 1)
        ),
        3, (),
    ),
    "cpu": Probe(
        "cpu", None, "probe/probe-cpu.yaml", "probe/probe-cpu.jsonl", 1, 0, {Outcome.WORKS: 1}, (),
        0, (),
    ),
}  # fmt: skip
