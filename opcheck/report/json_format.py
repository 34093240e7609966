"""The report as one JSON document, ``opcheck.report/1``; every byte follows from the report."""

import json
from collections.abc import Mapping, Sequence

from opcheck.model.explanation import Explanation, TargetRow
from opcheck.model.matrix import Condition
from opcheck.model.report import (
    SCHEMA,
    Finding,
    KernelCount,
    ModelInfo,
    Place,
    Reason,
    Report,
    Summary,
    TargetReport,
    TraceInfo,
)
from opcheck.model.verdict import Evidence, Verdict
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.order import arranged

Json = Mapping[str, object]

TARGETS_SCHEMA = "opcheck.targets/1"
EXPLAIN_SCHEMA = "opcheck.explain/1"


class JsonFormat(Format):
    """JSON by the published schemas, ASCII only, so that no terminal or pipe can spoil it."""

    name = "json"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the document, arranged by the contract."""
        return _text(_report(arranged(report)))

    def render_targets(self, rows: Sequence[TargetRow], page: Page = PLAIN) -> str:
        """Give the targets as ``opcheck.targets/1``."""
        return _text({"schema": TARGETS_SCHEMA, "targets": [_row(row) for row in rows]})

    def render_explanations(self, explanations: Sequence[Explanation], page: Page = PLAIN) -> str:
        """Give the explanations as ``opcheck.explain/1``."""
        found = [_explanation(explanation) for explanation in explanations]
        return _text({"schema": EXPLAIN_SCHEMA, "explanations": found})


def _text(document: Json) -> str:
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _report(report: Report) -> Json:
    return {
        "schema": SCHEMA,
        "opcheck_version": report.opcheck_version,
        "torch_version": report.torch_version,
        "model": _model(report.model),
        "trace": _trace(report.trace),
        "targets": [_target(target) for target in report.targets],
    }


def _model(model: ModelInfo) -> Json:
    return {"source": model.source, "kind": model.kind, "digest": model.digest}


def _trace(trace: TraceInfo) -> Json:
    return {
        "mode": trace.mode,
        "device_type": trace.device_type,
        "calls": trace.calls,
        "operators": trace.operators,
        "gaps": [{"where": gap.where, "reason": gap.reason} for gap in trace.gaps],
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
        "findings": [_finding(finding) for finding in target.findings],
        "kernels": None if kernels is None else [_kernel(kernel) for kernel in kernels],
        "advisories": [_reason(advisory) for advisory in target.advisories],
    }


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


def _finding(finding: Finding) -> Json:
    return {
        "id": finding.id,
        "op": finding.op,
        "verdict": finding.verdict.value,
        "confidence": finding.confidence.value,
        "reason": _reason(finding.reason),
        "count": finding.count,
        "phase": finding.phase.value,
        "uses": [_place(place) for place in finding.uses],
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "suggestions": [],
    }


def _reason(reason: Reason) -> Json:
    return {"code": reason.code, "text": reason.text}


def _place(place: Place) -> Json:
    return {
        "module": place.module,
        "file": place.file,
        "line": place.line,
        "inputs": list(place.inputs),
        "decomposed_into": list(place.decomposed_into),
        "count": place.count,
    }


def _evidence(evidence: Evidence) -> Json:
    return {
        "method": evidence.method.value,
        "source": evidence.source,
        "commit": evidence.commit,
        "path": evidence.path,
        "line": evidence.line,
        "date": evidence.date,
    }


def _kernel(kernel: KernelCount) -> Json:
    return {
        "op": kernel.op,
        "verdict": kernel.verdict.value,
        "count": kernel.count,
        "phase": kernel.phase.value,
    }


def _row(row: TargetRow) -> Json:
    return {
        "target": str(row.target),
        "name": row.target.name,
        "vendor": row.target.vendor,
        "chip": row.target.chip,
        "device_name": row.device_name,
        "device_type": row.target.device_type,
        "releases": list(row.releases),
        "torch_versions": list(row.torch_versions),
        "registered": row.registered,
        "date": row.date,
    }


def _explanation(found: Explanation) -> Json:
    span = found.torch_range
    return {
        "target": str(found.target),
        "op": found.op,
        "verdict": found.verdict.value,
        "confidence": found.confidence.value,
        "reason": _reason(found.reason),
        "implementation": list(found.implementation),
        "conditions": [_condition(condition) for condition in found.conditions],
        "evidence": [_evidence(evidence) for evidence in found.evidence],
        "branches": [list(branch) for branch in found.branches],
        "registered_in": list(found.registered_in),
        "torch_range": None if span is None else {"first": span[0], "last": span[1]},
    }


def _condition(condition: Condition) -> Json:
    return {
        "code": condition.code,
        "verdict": condition.verdict.value,
        "confidence": condition.confidence.value,
        "text": condition.text,
        "evidence": [_evidence(evidence) for evidence in condition.evidence],
    }
