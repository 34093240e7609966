"""Gates made by hand: the standard answers that every format is shown on."""

from dataclasses import replace

from opcheck.gate.accepted import baseline_of
from opcheck.gate.judge import judge
from opcheck.model.gate import GateResult
from opcheck.model.policy import Baseline, Limits, Policy, TargetRange
from opcheck.model.report import Reason
from opcheck.model.trace import Gap
from opcheck.model.verdict import Confidence, Verdict
from tests.gate.made import EARLIER, TODAY, finding, report, waiver
from tests.report.samples import STANDARD

_POLICY = Policy(
    path="opcheck.yaml",
    fail_verdicts=frozenset({Verdict.UNSUPPORTED, Verdict.FALLBACK}),
    confidence=Confidence.MEDIUM,
    limits=Limits(0.95, 1, 1024),
    waivers=(
        waiver("aten::view_as_*", module="layers.*"),
        waiver("torchvision::nms", reason="runs on the host for now"),
        waiver("aten::_scaled_dot_product_*", expires=EARLIER),
        waiver(finding="0a1b2c3d4e5f", target=TargetRange.parse("ascend-910*@..26.1")),
    ),
)
_UNSEEN = report(
    finding("aten::foo", Verdict.UNKNOWN, "not-in-target-torch", "encoder.0"),
    gaps=(Gap("encoder.router", "a branch by a value\x1b[31m"),),
    advisories=(Reason("torch-differs", "Traced with torch 2.13, the target has 2.12."),),
)


def _accepting() -> GateResult:
    policy = replace(_POLICY, waivers=())
    accepted = baseline_of(judge(STANDARD["mixed"], policy, None, TODAY))
    return replace(judge(STANDARD["mixed"], policy, accepted, TODAY), accepted=accepted)


def _later() -> GateResult:
    """With a baseline of which one finding is no more."""
    had = baseline_of(judge(report(finding(), finding("aten::gone")), Policy(), None, TODAY))
    known = Baseline(had.opcheck_version, had.targets, "accepted.json")
    return judge(report(finding(), finding("aten::new")), Policy(), known, TODAY)


GATES = {
    "failing": judge(STANDARD["mixed"], _POLICY, None, TODAY),
    "passing": judge(STANDARD["all-native"], Policy(), None, TODAY),
    "accepting": _accepting(),
    "later": _later(),
    "unseen": judge(_UNSEEN, Policy(fail_reasons=("torch-*",)), None, TODAY),
    "targets": judge(STANDARD["three-targets"], Policy(), None, TODAY),
}
"""One answer for each kind, by name."""
