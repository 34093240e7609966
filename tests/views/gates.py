"""Gates made by hand: the standard answers that every format is shown on."""

from msgspec.structs import replace

from opcheck.commands.gate.judging.accepted import baseline_of
from opcheck.commands.gate.judging.judge import judge
from opcheck.commands.gate.values import GateResult
from opcheck.model.policy import Baseline, Limits, Policy, TargetRange
from opcheck.model.report import Reason
from opcheck.model.trace import Gap
from opcheck.model.verdict import Confidence, Verdict
from tests.commands.gate.made import EARLIER, TODAY, finding, report, waiver
from tests.views.plans import PLANS
from tests.views.samples import STANDARD

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


def _compared() -> GateResult:
    """With the report of a base: one finding is new, one as before, one fixed."""
    base = report(finding(), finding("aten::gone"), rate=0.9)
    head = report(
        finding(), finding("aten::new", Verdict.UNSUPPORTED, "no-kernel", "head"), rate=0.9
    )
    found = judge(head, Policy(limits=Limits(0.95)), None, TODAY, base)
    return replace(found, against="base.json")


def _planned() -> GateResult:
    """With two suggestions of one finding, and none of the others."""
    policy = Policy(fail_verdicts=frozenset({Verdict.UNSUPPORTED, Verdict.FALLBACK}))
    return judge(PLANS["swap"], policy, None, TODAY)


def _elsewhere() -> GateResult:
    """Compared with a report of another target."""
    base = report(finding(), target="ascend-310p@26.1.0+torch2.12")
    return replace(judge(report(finding()), Policy(), None, TODAY, base), against="base.json")


GATES = {
    "failing": judge(STANDARD["mixed"], _POLICY, None, TODAY),
    "passing": judge(STANDARD["all-native"], Policy(), None, TODAY),
    "accepting": _accepting(),
    "later": _later(),
    "compared": _compared(),
    "elsewhere": _elsewhere(),
    "unseen": judge(_UNSEEN, Policy(fail_reasons=("torch-*",)), None, TODAY),
    "planned": _planned(),
    "targets": judge(STANDARD["three-targets"], Policy(), None, TODAY),
}
"""One answer for each kind, by name."""
