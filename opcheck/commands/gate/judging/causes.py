"""Which findings a policy is about, and what in it they run against."""

import hashlib
from collections.abc import Iterator
from fnmatch import fnmatchcase

from opcheck.commands.gate.values import GAP, Cause
from opcheck.model.policy import Policy
from opcheck.model.report import Finding, Place, Reason, Report, TargetReport
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.resolution import PLAIN


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
