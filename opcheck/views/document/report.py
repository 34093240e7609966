"""``opcheck.report/1``: the report as a JSON object, key by key."""

from collections.abc import Mapping

from opcheck.model.report import (
    SCHEMA,
    Finding,
    Place,
    Report,
    Stretch,
    Summary,
    TargetReport,
    TraceInfo,
)
from opcheck.model.verdict import Verdict
from opcheck.views.document.dynamic import taken_value
from opcheck.views.document.parts import (
    Json,
    evidence_value,
    gap_value,
    kernel_value,
    model_value,
    reason_value,
)
from opcheck.views.document.plan import declined_value, plan_value, suggestion_value


def report_document(report: Report) -> Json:
    """The whole document, in the order that the report has."""
    return {
        "schema": SCHEMA,
        "opcheck_version": report.opcheck_version,
        "torch_version": report.torch_version,
        "model": model_value(report.model),
        "trace": trace_value(report.trace),
        "targets": [_target(target) for target in report.targets],
    }


def trace_value(trace: TraceInfo) -> Json:
    """What the findings rest on as JSON."""
    return {
        "mode": trace.mode,
        "device_type": trace.device_type,
        "calls": trace.calls,
        "operators": trace.operators,
        "gaps": list(map(gap_value, trace.gaps)),
        "modules_not_called": list(trace.modules_not_called),
        "notes": list(trace.notes),
    }


def _target(target: TargetReport) -> Json:
    kernels = target.kernels
    return {
        "target": target.target,
        "vendor": target.vendor,
        "chip": target.chip,
        "sdk": target.sdk,
        "torch": target.torch,
        "database": {"digest": target.database_digest, "date": target.database_date},
        "summary": _summary(target.summary),
        "findings": [finding_value(finding) for finding in target.findings],
        "kernels": None if kernels is None else [kernel_value(kernel) for kernel in kernels],
        "advisories": [reason_value(advisory) for advisory in target.advisories],
        **({} if target.plan is None else {"plan": plan_value(target.plan)}),
        **({"elsewhere": target.elsewhere} if target.elsewhere else {}),
        **({"dynamic": list(map(taken_value, target.dynamic))} if target.dynamic else {}),
        **({"stretches": list(map(_stretch, target.stretches))} if target.stretches else {}),
    }


def _stretch(stretch: Stretch) -> Json:
    return {"fallback": stretch.fallback, "calls": stretch.calls, "module": stretch.module}


def _summary(summary: Summary) -> Json:
    return {
        "support_rate": summary.support_rate,
        "runs": summary.runs,
        "operators": _counts(summary.operators),
        "calls": _counts(summary.calls),
        "islands": summary.islands,
        "fallback_bytes": summary.fallback_bytes,
    }


def _counts(counts: Mapping[Verdict, int]) -> Json:
    return {verdict.value: counts[verdict] for verdict in Verdict}


def finding_value(finding: Finding) -> Json:
    """One finding as JSON."""
    return {
        "id": finding.id,
        "op": finding.op,
        "verdict": finding.verdict.value,
        "confidence": finding.confidence.value,
        "reason": reason_value(finding.reason),
        "count": finding.count,
        "phase": finding.phase.value,
        "uses": [_place(place) for place in finding.uses],
        "evidence": [evidence_value(evidence) for evidence in finding.evidence],
        "suggestions": [suggestion_value(found) for found in finding.suggestions],
        "declined": [declined_value(found) for found in finding.declined],
        **({"steps": list(finding.steps)} if finding.steps else {}),
    }


def _place(place: Place) -> Json:
    return {
        "module": place.module,
        "file": place.file,
        "line": place.line,
        "inputs": list(place.inputs),
        "decomposed_into": list(place.decomposed_into),
        "count": place.count,
    }
