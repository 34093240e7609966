"""``opcheck.gate/1``: what passes a policy, what fails, and what is hidden by what."""

from opcheck.commands.gate.values import (
    SCHEMA,
    Before,
    Breach,
    GateResult,
    Judged,
    TargetGate,
    WaiverUse,
)
from opcheck.model.report import Finding, Place
from opcheck.views.document.parts import Json, as_text, evidence_value, model_value, reason_value
from opcheck.views.formats import PLAIN, Page


def render(found: GateResult, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.gate/1``, which always has what is waived."""
    return as_text(gate_document(found))


def gate_document(found: GateResult) -> Json:
    """The whole document, in the order that the answer has."""
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "model": model_value(found.model),
        "policy": found.policy,
        "baseline": found.baseline,
        "against": found.against,
        "passed": found.passed,
        "counts": {
            **{standing.value: count for standing, count in found.standings.items()},
            "waived_in_part": found.waived_in_part,
            "limits_broken": sum(len(target.broken) for target in found.targets),
            "limits_baselined": found.baselined_limits,
            "limits_unchanged": found.unchanged_limits,
            "fixed": sum(len(target.fixed) for target in found.targets),
        },
        "targets": [_target(target) for target in found.targets],
        "waivers": [_waiver(use) for use in found.waivers],
    }


def _target(target: TargetGate) -> Json:
    summary = target.summary
    return {
        "target": target.target,
        "passed": target.passed,
        "support_rate": summary.support_rate,
        "runs": summary.runs,
        "islands": summary.islands,
        "fallback_bytes": summary.fallback_bytes,
        "findings": [_judged(one) for one in target.judged],
        "limits": [_breach(breach) for breach in target.breaches],
        "baseline_gone": target.gone,
        "before": None if target.before is None else _before(target.before),
    }


def _before(before: Before) -> Json:
    return {
        "target": before.target,
        "same_database": before.same_database,
        "fixed": [_fixed(finding) for finding in before.fixed],
    }


def _fixed(finding: Finding) -> Json:
    return {
        "id": finding.id,
        "op": finding.op,
        "verdict": finding.verdict.value,
        "reason": reason_value(finding.reason),
    }


def _judged(one: Judged) -> Json:
    finding = one.finding
    return {
        "id": finding.id,
        "op": finding.op,
        "standing": one.standing.value,
        "cause": one.cause.value,
        "verdict": finding.verdict.value,
        "confidence": finding.confidence.value,
        "reason": reason_value(finding.reason),
        "count": finding.count,
        "phase": finding.phase.value,
        "uses": [_place(place) for place in finding.uses],
        "evidence": [evidence_value(fact) for fact in finding.evidence],
        "waivers": list(one.waivers),
    }


def _place(place: Place) -> Json:
    return {
        "module": place.module,
        "file": place.file,
        "line": place.line,
        "count": place.count,
    }


def _breach(breach: Breach) -> Json:
    return {
        "limit": breach.limit.value,
        "wanted": breach.wanted,
        "found": breach.found,
        "baselined": breach.baselined,
        "unchanged": breach.unchanged,
    }


def _waiver(use: WaiverUse) -> Json:
    waiver = use.waiver
    return {
        "operator": waiver.operator,
        "finding": waiver.finding,
        "module": waiver.module,
        "target": str(waiver.target),
        "reason": waiver.reason,
        "expires": waiver.expires.isoformat(),
        "expired": use.expired,
        "matched": use.matched,
    }
