"""Suggestions laid beside the findings that they are for, and what they come to. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from opcheck.model.plan import (
    AfterTier,
    Declined,
    Difference,
    Measured,
    NodePlan,
    PlanSummary,
    Remedy,
    Suggestion,
    Tier,
)
from opcheck.model.report import Finding, Place, TargetReport
from opcheck.model.trace import Trace
from opcheck.model.verdict import Verdict
from opcheck.resolve.compiled_fixes import fixes
from opcheck.resolve.findings import argument_text

_Call = tuple[str, tuple[str, ...]]
"""Operator and arguments, as findings show them."""
_Needed = Mapping[str, Tier | None]
"""Id of a finding -> the tier that it takes; None: none does."""


def planned(
    report: TargetReport,
    trace: Trace,
    plans: Sequence[NodePlan],
    remedies: Sequence[Remedy] = (),
) -> TargetReport:
    """The same report with a suggestion beside each finding that has one, and the plan's sum.

    ``remedies`` are those of the target, some of which are for code that is compiled.
    """
    by_call: dict[_Call, list[NodePlan]] = defaultdict(list)
    for plan in plans:
        node = trace.nodes[plan.node]
        arguments = tuple(argument_text(name, value) for name, value in node.arguments)
        by_call[str(node.op), arguments].append(plan)
    compiled = {f.id: found for f in report.findings if (found := tuple(fixes(f, remedies)))}
    findings = tuple(
        replace(finding, suggestions=compiled[finding.id])
        if finding.id in compiled
        else _finding(finding, by_call)
        for finding in report.findings
    )
    bad = [finding for finding in report.findings if not finding.verdict.on_device]
    stays = {f.id: _tier_of(f, by_call, on_device=True) for f in bad}
    runs = {f.id: _tier_of(f, by_call, on_device=False) for f in bad}
    proven = {key: _lowest(found) for key, found in compiled.items()}
    stays, runs = {**stays, **proven}, {**runs, **proven}
    return replace(report, findings=findings, plan=_summary(report, stays, runs, bool(trace.gaps)))


def _finding(finding: Finding, by_call: Mapping[_Call, list[NodePlan]]) -> Finding:
    found: dict[tuple[int, int, str, str, str], list[tuple[int, Suggestion]]] = defaultdict(list)
    for index, place in enumerate(finding.uses):
        for plan in _plans(finding, place, by_call):
            for way in plan.suggestions:
                key = (way.tier, way.label.rank, way.rule, way.replaces, way.summary)
                found[key].append((index, way))
    merged = (_merged(found[key]) for key in sorted(found))
    plans = [plan for place in finding.uses for plan in _plans(finding, place, by_call)]
    declined = dict.fromkeys(way for plan in plans if plan.stuck for way in plan.declined)
    return replace(finding, suggestions=tuple(merged), declined=tuple(declined))


def _plans(
    finding: Finding, place: Place, by_call: Mapping[_Call, list[NodePlan]]
) -> list[NodePlan]:
    """The plans that hold for one place of a finding."""
    sites = ("", f"{place.file}:{place.line}")
    return [plan for plan in by_call.get((finding.op, place.inputs), ()) if plan.site in sites]


def _merged(ways: Sequence[tuple[int, Suggestion]]) -> Suggestion:
    """One suggestion for all places that it holds for, with the worst figures of them."""
    first = ways[0][1]
    declined: dict[Declined, None] = {}
    for _, way in ways:
        declined.update(dict.fromkeys(way.declined))
    measured = [way.measured for _, way in ways if way.measured is not None]
    return replace(
        first,
        runs_as=tuple(sorted({op for _, way in ways for op in way.runs_as})),
        calls=max(way.calls for _, way in ways),
        memory=max(way.memory for _, way in ways),
        measured=_worst(measured) if measured else None,
        unmeasured=_unmeasured([way for _, way in ways]),
        places=tuple(sorted({index for index, _ in ways})),
        declined=tuple(declined),
    )


def _unmeasured(ways: Sequence[Suggestion]) -> str:
    """What could not be measured anywhere, or not of what was measured."""
    known = [way for way in ways if way.measured is not None] or ways
    return next((way.unmeasured for way in known if way.unmeasured), "")


def _worst(measured: Sequence[Measured]) -> Measured:
    def badness(found: Measured) -> tuple[float, float]:
        return found.forward.relative, found.backward.relative if found.backward else 0.0

    worst = max(measured, key=badness)
    backward = [found.backward for found in measured if found.backward is not None]
    return replace(worst, backward=max(backward, key=_relative) if backward else None)


def _relative(found: Difference) -> float:
    return found.relative


# --- what it comes to ----------------------------------------------------------------------------


def _tier_of(
    finding: Finding, by_call: Mapping[_Call, list[NodePlan]], *, on_device: bool
) -> Tier | None:
    """The tier by which every call of a finding stays on the device, or at least runs."""
    worst = Tier.SWAP
    for place in finding.uses:
        plans = _plans(finding, place, by_call)
        tiers = [_tier(plan, finding.op, on_device) for plan in plans]
        if not tiers or None in tiers:
            return None
        worst = max(worst, *(tier for tier in tiers if tier is not None))
    return worst


def _lowest(ways: Iterable[Suggestion]) -> Tier | None:
    """The lowest tier of what is more than advice."""
    return min((way.tier for way in ways if not way.is_advice), default=None)


def _tier(plan: NodePlan, op: str, on_device: bool) -> Tier | None:
    """The lowest tier that replaces the call itself, or everything inside it that has to go."""
    lowest: dict[str, Tier] = {}
    for way in plan.suggestions:
        if not way.is_advice and (way.on_device or not on_device):
            lowest[way.replaces] = min(way.tier, lowest.get(way.replaces, way.tier))
    whole = lowest.pop(op, None)
    inside = max(lowest.values(), default=None) if lowest.keys() >= set(plan.stuck) else None
    return min((tier for tier in (whole, inside) if tier is not None), default=None)


def _summary(report: TargetReport, needed: _Needed, to_run: _Needed, gaps: bool) -> PlanSummary:
    operators = {finding.op for finding in report.findings}
    tiers = []
    proven = good_before = _good(report.findings, needed, None)
    for tier in Tier:
        good = _good(report.findings, needed, tier)
        tiers.append(
            AfterTier(
                tier,
                round(len(good) / len(operators), 4) if operators else None,
                _runs(report.findings, to_run, tier, gaps),
                tuple(sorted(good - good_before)),
            )
        )
        good_before = good
        proven = proven if tier is Tier.CUSTOM else good
    return PlanSummary(tuple(tiers), tuple(sorted(operators - proven)))


def _left(findings: Iterable[Finding], needed: _Needed, tier: Tier | None) -> Iterator[Finding]:
    """Findings that stay off the device once all up to a tier is done."""
    for finding in findings:
        if finding.verdict.on_device:
            continue
        way = needed[finding.id]
        if tier is None or way is None or way > tier:
            yield finding


def _good(findings: Sequence[Finding], needed: _Needed, tier: Tier | None) -> set[str]:
    return {f.op for f in findings} - {f.op for f in _left(findings, needed, tier)}


def _runs(findings: Sequence[Finding], needed: _Needed, tier: Tier, gaps: bool) -> bool | None:
    """Whether the model runs then; what a trace could not see stays unknown."""
    left = {finding.verdict for finding in _left(findings, needed, tier)}
    if Verdict.UNSUPPORTED in left:
        return False
    return None if Verdict.UNKNOWN in left or gaps else True
