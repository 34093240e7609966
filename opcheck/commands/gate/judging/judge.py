"""The gate itself, pure: findings, limits and an earlier report against a policy, for a day."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Set
from datetime import date
from fnmatch import fnmatchcase

from opcheck.commands.gate.judging.accepted import (
    AcceptedHere,
    Waivers,
    accepted_of,
    baseline_of,
    short,
)
from opcheck.commands.gate.values import (
    GAP,
    Before,
    Breach,
    Cause,
    GateResult,
    Judged,
    Limit,
    Standing,
    TargetGate,
    WaiverUse,
)
from opcheck.model.policy import Baseline, Limits, Policy
from opcheck.model.report import Finding, Place, Reason, Report, Summary, TargetReport
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.resolution import PLAIN
from opcheck.version import __version__


def notable(report: Report, target: TargetReport, policy: Policy) -> Iterator[Finding]:
    """Whatever is no plain good news: findings, gaps, advisories on the target that are asked for.

    A policy that names reasons may name those of good news.
    """
    for finding in target.findings:
        plain = finding.verdict.on_device and finding.reason.code in PLAIN
        if not plain or cause_of(finding, policy) is not Cause.NONE:
            yield finding
    yield from map(_of_gap, dict.fromkeys(report.trace.gaps))
    for advisory in map(_of_target, dict.fromkeys(target.advisories)):
        if cause_of(advisory, policy) is not Cause.NONE:
            yield advisory


def cause_of(finding: Finding, policy: Policy) -> Cause:
    """What in the policy a finding runs against."""
    code = finding.reason.code
    if finding.verdict in policy.fail_verdicts and finding.verdict is not Verdict.UNKNOWN:
        return Cause.VERDICT
    if any(fnmatchcase(code, pattern) for pattern in policy.fail_reasons):
        return Cause.REASON
    if finding.verdict is Verdict.UNKNOWN and not policy.allow_unknown:
        return Cause.UNKNOWN
    if finding.verdict.on_device and is_advisory(finding.reason) and not policy.allow_advisories:
        return Cause.ADVISORY
    return Cause.NONE


def is_advisory(reason: Reason) -> bool:
    """Whether an advisory of the database says this, which names itself in its sentences."""
    return f"(advisory {reason.code}" in reason.text


def _of_gap(gap: Gap) -> Finding:
    """What the trace could not see, as a finding that is unknown."""
    return Finding(
        id=_identity(GAP, gap.where, gap.reason),
        op="",
        verdict=Verdict.UNKNOWN,
        confidence=Confidence.HIGH,
        reason=Reason(GAP, gap.reason),
        count=0,
        phase=Phase.FORWARD,
        uses=(Place(gap.where, "", 0, (), (), 0),),
        evidence=(),
    )


def _of_target(advisory: Reason) -> Finding:
    """What holds for the whole target, as a finding that runs."""
    return Finding(
        id=_identity("target", advisory.code),
        op="",
        verdict=Verdict.NATIVE,
        confidence=Confidence.HIGH,
        reason=advisory,
        count=0,
        phase=Phase.FORWARD,
        uses=(),
        evidence=(),
    )


def _identity(*parts: str) -> str:
    """12 hex digits, as findings have them."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:12]


def breaches(
    summary: Summary, limits: Limits, accepted: AcceptedHere, before: AcceptedHere
) -> tuple[Breach, ...]:
    """Every figure beyond its limit; one that was accepted no better is no news.

    ``accepted`` is what a baseline has, ``before`` the report that this one is compared with.
    """
    return tuple(_breaches(summary, limits, accepted, before))


def _breaches(
    summary: Summary, limits: Limits, accepted: AcceptedHere, before: AcceptedHere
) -> Iterator[Breach]:
    least, rate = limits.min_support_rate, summary.support_rate
    if least is not None and (rate is None or rate < least):
        known, same = (
            any(was is None or (rate is not None and rate >= was) for was in had.support_rates)
            for had in (accepted, before)
        )
        yield Breach(Limit.SUPPORT_RATE, least, rate, known, same and not known)
    for limit, most, found, had, was in (
        (Limit.ISLANDS, limits.max_islands, summary.islands, accepted.islands, before.islands),
        (
            Limit.FALLBACK_BYTES,
            limits.max_fallback_bytes,
            summary.fallback_bytes,
            accepted.fallback_bytes,
            before.fallback_bytes,
        ),
    ):
        if most is not None and found > most:
            known, same = (worst is not None and found <= worst for worst in (had, was))
            yield Breach(limit, most, found, known, same and not known)


class Earlier:
    """What failed, by the same policy, before the change."""

    def __init__(self, judged: GateResult) -> None:
        self._judged = judged
        self.accepted = baseline_of(judged)
        """What the change need not answer for."""

    def of(self, target: TargetReport, caused: Set[str]) -> Before:
        """One target before; ``caused``: ids of what runs against the policy now."""
        there = list(zip(self._judged.targets, self._judged.report.targets, strict=True))
        found = [pair for pair in there if pair[0].target == target.target]
        found = found or [pair for pair in there if short(pair[0].target) == short(target.target)]
        fixed = {
            one.finding.id: one.finding
            for gate, _ in found
            for one in gate.failing
            if one.finding.id not in caused
        }
        return Before(
            target=", ".join(gate.target for gate, _ in found),
            same_database=all(one.database_digest == target.database_digest for _, one in found),
            fixed=tuple(fixed.values()),
        )


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
