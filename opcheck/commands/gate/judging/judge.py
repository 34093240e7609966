"""The gate itself: pure, for the day that it is told."""

from collections import Counter
from datetime import date

from opcheck.commands.gate.judging.accepted import AcceptedHere, accepted_of
from opcheck.commands.gate.judging.causes import cause_of, notable
from opcheck.commands.gate.judging.compared import Earlier
from opcheck.commands.gate.judging.limits import breaches
from opcheck.commands.gate.judging.waivers import Waivers
from opcheck.commands.gate.values import Cause, GateResult, Judged, Standing, TargetGate, WaiverUse
from opcheck.model.policy import Baseline, Policy
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.version import __version__


def judge(
    report: Report,
    policy: Policy,
    baseline: Baseline | None,
    today: date,
    against: Report | None = None,
) -> GateResult:
    """Hold a report against a policy.

    ``baseline`` is what was accepted before, ``against`` a report of what a change is made to:
    what fails there by the same policy does not fail here.
    """
    matched: Counter[int] = Counter()
    earlier = None if against is None else Earlier(judge(against, policy, None, today))
    targets = tuple(
        _target(report, target, policy, baseline, earlier, today, matched)
        for target in report.targets
    )
    return GateResult(
        opcheck_version=__version__,
        report=report,
        policy=policy.path,
        baseline=baseline.path if baseline is not None else "",
        targets=targets,
        waivers=tuple(
            WaiverUse(waiver, waiver.expired(today), matched[i])
            for i, waiver in enumerate(policy.waivers)
        ),
    )


def _target(
    report: Report,
    target: TargetReport,
    policy: Policy,
    baseline: Baseline | None,
    earlier: Earlier | None,
    today: date,
    matched: Counter[int],
) -> TargetGate:
    """One target; ``matched`` counts the findings that each waiver is about."""
    accepted = accepted_of(baseline, target)
    before = accepted_of(None if earlier is None else earlier.accepted, target)
    waivers = Waivers(policy.waivers, target, today)
    found = notable(report, target, policy)
    judged = [_judged(finding, policy, accepted, before, waivers, matched) for finding in found]
    caused = {one.finding.id for one in judged if one.cause is not Cause.NONE}
    return TargetGate(
        target=target.target,
        summary=target.summary,
        judged=tuple(sorted(judged, key=_order)),
        breaches=breaches(target.summary, policy.limits, accepted, before),
        gone=accepted.gone(caused),
        before=None if earlier is None else earlier.of(target, caused),
    )


def _judged(
    finding: Finding,
    policy: Policy,
    accepted: AcceptedHere,
    before: AcceptedHere,
    waivers: Waivers,
    matched: Counter[int],
) -> Judged:
    cause = cause_of(finding, policy)
    if cause is Cause.NONE:
        return Judged(finding, cause, Standing.ALLOWED)
    unknown = finding.verdict is Verdict.UNKNOWN  # how sure that is says nothing
    if not unknown and finding.confidence.rank > policy.confidence.rank:
        return Judged(finding, cause, Standing.UNSURE)
    found = waivers.of(finding)
    matched.update(found.about)
    if found.left is None:
        return Judged(finding, cause, Standing.WAIVED, found.hiding)
    return Judged(found.left, cause, _standing(found.left, accepted, before), found.hiding)


def _standing(finding: Finding, accepted: AcceptedHere, before: AcceptedHere) -> Standing:
    if accepted.has(finding):
        return Standing.BASELINED
    return Standing.UNCHANGED if before.has(finding) else Standing.FAILS


def _order(one: Judged) -> tuple[int, int, str, str, str, str, str]:
    """Worst first, and the same whatever order the findings came in."""
    finding = one.finding
    return (
        list(Standing).index(one.standing), -finding.verdict.rank,
        finding.op, finding.id, finding.phase, finding.reason.code, repr(finding),
    )  # fmt: skip
