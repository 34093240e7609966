"""Standard plans, one for each kind, and two rules."""

from collections.abc import Mapping
from math import inf

from msgspec.structs import replace

from opcheck.lang.sentence import from_data
from opcheck.model.plan import (
    AfterTier,
    Declined,
    Difference,
    Label,
    Measured,
    PlanSummary,
    RuleCheck,
    RuleInfo,
    Suggestion,
    Tier,
)
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.verdict import Verdict
from tests.views.samples import STANDARD

_CODE = '''\
import torch


def roll(x: torch.Tensor, shift: int) -> torch.Tensor:
    """Join the two parts the other way round."""

    return torch.cat((x[-shift:], x[:-shift]))
'''
_NOT_HERE = Declined("by-another-way", Tier.SWAP, "2,048 elements are more than it takes")
_SWAP = Suggestion(
    rule="roll-by-joining",
    tier=Tier.SWAP,
    label=Label.EXACT,
    replaces="aten::roll",
    summary="Join the two parts the other way round",
    code=_CODE,
    function="roll",
    runs_as=("aten::cat", "aten::slice.Tensor"),
    calls=3,
    memory=4096,
    measured=Measured(("self: float32[8,16]",), Difference(0.0, 0.0), Difference(0.0, 0.0)),
    places=(0,),
    declined=(
        Declined(
            "pytorch-decomposition(roll)",
            Tier.SWAP,
            from_data("it needs aten::fmod.Tensor: missing"),
        ),
    ),
)
_ROUNDED = replace(
    _SWAP,
    rule="roll-by-matmul",
    label=Label.TOLERANCE,
    runs_as=("aten::mm",),
    calls=1,
    memory=0,
    measured=Measured(("self: float32[8,16]",), Difference(1e-6, 2.5e-7), Difference(0.0, 0.0)),
    declined=(),
)
_STRUCTURAL = replace(
    _ROUNDED,
    rule="compute-in-float32",
    tier=Tier.STRUCTURAL,
    label=Label.APPROXIMATE,
    summary="Compute in float32",
    gives_up="the digits beyond the seventh",
    measured=None,
    unmeasured=from_data("too large to compute beside the scan: 8,388,608 elements"),
)

_OWN = replace(
    _STRUCTURAL,
    rule="custom-operator",
    tier=Tier.CUSTOM,
    label=Label.TOLERANCE,
    summary="opcheck fix --custom-op aten::roll writes a project for Ascend C, with its kernel",
    code="",
    function="",
    gives_up="A kernel to build and to maintain, which nothing has proved",
    runs_as=(),
    calls=0,
    unmeasured="nothing computes until it is built; its own test holds it against the CPU",
)


def _planned(target: TargetReport, *ways: Suggestion) -> TargetReport:
    """The first finding that is off the device gets the ways, the others none."""
    bad = [finding for finding in target.findings if not finding.verdict.on_device]

    def with_ways(finding: Finding) -> Finding:
        if not bad or finding != bad[0]:
            return finding
        return replace(finding, suggestions=tuple(replace(w, replaces=finding.op) for w in ways))

    def without(finding: Finding) -> Finding:
        if finding.verdict.on_device or finding.suggestions:
            return finding
        return replace(finding, declined=(_NOT_HERE,))

    proven = any(way.tier is not Tier.CUSTOM for way in ways)
    stuck = tuple(sorted({f.op for f in (bad[1:] if proven else bad)}))
    helped = (bad[0].op,) if ways else ()
    first = min((way.tier for way in ways), default=Tier.SWAP)
    tiers = tuple(
        AfterTier(
            tier,
            0.75 if tier >= first else 0.5,
            None if stuck else True,
            helped if tier == first else (),
        )
        for tier in Tier
    )
    findings = tuple(without(with_ways(finding)) for finding in target.findings)
    return replace(target, findings=findings, plan=PlanSummary(tiers, stuck))


def _plan(report: Report, *ways: Suggestion) -> Report:
    return replace(report, targets=tuple(_planned(target, *ways) for target in report.targets))


def _harmed(report: Report) -> Report:
    """What runs, and better otherwise: every finding gets a way that has no gradient."""
    way = replace(
        _SWAP,
        label=Label.TOLERANCE,
        measured=Measured(("self: float32[2]",), Difference(1e-7, 2e-7), None),
        unmeasured=from_data("the stand-in has no gradient: RuntimeError: none is known"),
    )

    def with_way(finding: Finding) -> Finding:
        return replace(finding, suggestions=(replace(way, replaces=finding.op),))

    planned = _plan(report)
    return replace(
        planned,
        targets=tuple(
            replace(target, findings=tuple(map(with_way, target.findings)))
            for target in planned.targets
        ),
    )


PLANS: Mapping[str, Report] = {
    "nothing": _plan(STANDARD["all-native"]),
    "stuck": _plan(STANDARD["mixed"]),
    "swap": _plan(STANDARD["mixed"], _SWAP, _ROUNDED),
    "structural": _plan(STANDARD["three-targets"], _STRUCTURAL),
    "own": _plan(STANDARD["mixed"], _OWN),
    "harmed": _harmed(STANDARD["all-native"]),
}
"""By what they are about."""
assert all(
    any(f.verdict is not Verdict.NATIVE for t in PLANS[name].targets for f in t.findings)
    for name in ("stuck", "swap", "structural", "own")
)
FAR = Measured(("self: float32[2]",), Difference(inf, inf), None)
"""What JSON has no number for."""

RULES = (
    RuleInfo(
        name="roll-by-joining",
        tier=Tier.SWAP,
        label=Label.EXACT,
        tolerance=0.0,
        replaces=("aten::roll",),
        summary="Join the two parts the other way round",
        gives_up="",
        page="Each shift cuts a dimension in two.\n\nThe parts are joined the other way round.",
        spellings=("torch.roll", "Tensor.roll"),
        code=_CODE,
        references=("https://example.org/threads/1",),
    ),
    RuleInfo(
        name="compute-in-float32",
        tier=Tier.STRUCTURAL,
        label=Label.TOLERANCE,
        tolerance=8.0,
        replaces=("aten::erf", "aten::exp"),
        summary="Compute in float32",
        gives_up="the digits beyond the seventh",
        page="Casts before and after.",
        spellings=(),
        code="def erf(self):\n    return self.float().erf().double()\n",
        references=(),
    ),
)

CHECKS = (
    RuleCheck("roll-by-joining", "aten::roll", 200, 187, 0, ""),
    RuleCheck("compute-in-float32", "aten::erf", 200, 200, 3, "float32[2]: results are off by 1"),
    RuleCheck("compute-in-float32", "aten::exp", 200, 0, 0, ""),
)
