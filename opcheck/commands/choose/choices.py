"""One target's choice: what a report says of it, its chip, and what the model costs there."""

from collections.abc import Sequence

from opcheck.commands.choose.offers import fit_of, offers, untold
from opcheck.commands.choose.values import Choice, Way
from opcheck.costs.roofline import Leaf, MemoryNeed
from opcheck.model.costs import Chip
from opcheck.model.plan import AfterTier, Tier
from opcheck.model.report import TargetReport
from opcheck.model.trace import Gap
from opcheck.model.verdict import Verdict


def choice_of(
    report: TargetReport,
    chip: Chip,
    device_type: str,
    leaves: Sequence[Leaf],
    need: MemoryNeed,
    gaps: Sequence[Gap] = (),
) -> Choice:
    """The target without its place; ``report`` has a plan where one was made."""
    found = offers(chip, device_type, leaves, need.total)
    way, tier = _way(report)
    after = _tiers(report)
    return Choice(
        target=report.target,
        vendor=report.vendor,
        chip=report.chip,
        name=chip.name,
        way=way,
        fit=fit_of(found),
        need=need,
        offers=found,
        support_rate=report.summary.support_rate,
        repaired_rate=after[-1].support_rate if after else None,
        tier=tier,
        blocking=_blocking(report, way),
        host_calls=report.summary.calls.get(Verdict.FALLBACK, 0),
        host_bytes=report.summary.fallback_bytes,
        unseen=_unseen(report, gaps),
        untold=untold(found),
    )


def _tiers(report: TargetReport) -> list[AfterTier]:
    """What a plan comes to without an operator of one's own."""
    tiers = report.plan.tiers if report.plan else ()
    return [after for after in tiers if after.tier < Tier.CUSTOM]


def _way(report: TargetReport) -> tuple[Way, Tier | None]:
    runs = report.summary.runs
    if runs:
        on_host = report.summary.calls.get(Verdict.FALLBACK, 0)
        return (Way.HOST if on_host else Way.ITSELF), None
    after = _tiers(report)
    for each in after:
        if each.runs:
            return Way.REPAIRED, each.tier
    runs = after[-1].runs if after else runs
    return (Way.UNKNOWN if runs is None else Way.NOT), None


def _blocking(report: TargetReport, way: Way) -> tuple[str, ...]:
    """Operators that keep it from running, the most called first."""
    hinders = {Way.NOT: Verdict.UNSUPPORTED, Way.UNKNOWN: Verdict.UNKNOWN}.get(way)
    found = [finding for finding in report.findings if finding.verdict is hinders]
    stuck = set(report.plan.stuck) if report.plan else set()
    left = [finding for finding in found if finding.op in stuck] or found
    return tuple(dict.fromkeys(f.op for f in sorted(left, key=lambda f: (-f.count, f.op))))


def _unseen(report: TargetReport, gaps: Sequence[Gap]) -> tuple[str, ...]:
    unknown = report.summary.operators.get(Verdict.UNKNOWN, 0)
    said = []
    if unknown:
        operators = "1 operator" if unknown == 1 else f"{unknown:,} operators"
        said.append(f"nobody has said whether it has {operators} of the model's")
    if gaps:
        said.append("parts of the model were not seen, and may ask for more")
    return tuple(said)
