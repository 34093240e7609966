"""``opcheck.report/1``: the report as a JSON object, key by key, and back."""

from collections.abc import Mapping

from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import Site, SiteKind, SiteTaken, Taking
from opcheck.model.report import (
    SCHEMA,
    Finding,
    Partition,
    Place,
    Report,
    Segment,
    Summary,
    TargetReport,
    TraceInfo,
)
from opcheck.model.script import SCHEMA as RUN
from opcheck.model.trace import Compilation, CompiledRegion, Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.document.launches import launch_value, read_launch
from opcheck.views.document.model_lists import evidence_value as lists_value
from opcheck.views.document.model_lists import read_lists
from opcheck.views.document.parts import (
    Json,
    evidence_value,
    gap_value,
    kernel_value,
    model_value,
    reason_value,
)
from opcheck.views.document.plan import (
    declined_value,
    plan_value,
    read_declined,
    read_plan,
    read_suggestion,
    suggestion_value,
)
from opcheck.views.document.reading import (
    Node,
    of_schema,
    opened,
    parsed,
    read_evidence,
    read_gap,
    read_kernel,
    read_model,
    read_reason,
)


def taken_value(found: SiteTaken) -> Json:
    """One place on one target as JSON."""
    site = found.site
    return {
        "kind": site.kind.value,
        "op": site.op or None,
        "module": site.module,
        "file": site.file,
        "line": site.line,
        "count": site.count,
        "text": site.text,
        "how": found.how.value,
        "why": found.text,
        "confidence": found.confidence.value,
        "evidence": [evidence_value(evidence) for evidence in found.evidence],
    }


def read_taken(node: Node) -> SiteTaken:
    """One place on one target."""
    op = node.optional("op")
    site = Site(
        kind=node.member("kind", SiteKind),
        op="" if op is None else op.as_text(),
        module=node.text("module"),
        file=node.text("file"),
        line=node.number("line"),
        count=node.number("count"),
        text=node.sentence("text"),
    )
    return SiteTaken(
        site=site,
        how=node.member("how", Taking),
        text=node.sentence("why"),
        confidence=node.member("confidence", Confidence),
        evidence=tuple(map(read_evidence, node.items("evidence"))),
    )


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
        **({"compiled": list(map(_compiled, trace.compiled))} if trace.compiled else {}),
        **({"launches": list(map(launch_value, trace.launches))} if trace.launches else {}),
    }


def _compiled(region: CompiledRegion) -> Json:
    how = region.how
    return {
        "where": region.where,
        "backend": how.backend,
        "mode": how.mode,
        "fullgraph": how.fullgraph,
        "dynamic": how.dynamic,
        "options": list(how.options),
        "function": how.function,
        **({"suppressed": True} if how.suppressed else {}),
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
        **({"stretches": list(map(_partition, target.partitions))} if target.partitions else {}),
        **({"segments": list(map(_segment, target.segments))} if target.segments else {}),
        **({} if target.model is None else {"model_lists": lists_value(target.model)}),
    }


def _partition(partition: Partition) -> Json:
    return {"fallback": partition.fallback, "calls": partition.calls, "module": partition.module}


def _segment(segment: Segment) -> Json:
    return {"verdict": segment.verdict, "calls": segment.calls, "module": segment.module}


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


HINT = Sentence("a report is what opcheck scan --format json writes")


def from_json(text: str, name: str = "report") -> Report:
    """The report that ``text`` holds; keys that this version does not know are passed over.

    ``name`` says in messages which document it was.
    """
    return read_report(opened(text, name, SCHEMA, HINT))


def report_in(text: str, name: str = "report") -> Report:
    """The report that ``text`` is, or has in it, as what ``opcheck run`` writes does."""
    root = parsed(text, name, HINT)
    if root.has("schema") and root.text("schema") == RUN:
        return read_report(of_schema(root.at("report"), SCHEMA))
    return read_report(of_schema(root, SCHEMA))


def read_report(root: Node) -> Report:
    """The report that an object is."""
    return Report(
        opcheck_version=root.text("opcheck_version"),
        torch_version=root.text("torch_version"),
        model=read_model(root.at("model")),
        trace=_read_trace(root.at("trace")),
        targets=tuple(map(_read_target, root.items("targets"))),
    )


def _read_trace(node: Node) -> TraceInfo:
    return TraceInfo(
        mode=node.text("mode"),
        device_type=node.text("device_type"),
        calls=node.number("calls"),
        operators=node.number("operators"),
        gaps=tuple(map(read_gap, node.items("gaps"))),
        modules_not_called=node.texts("modules_not_called"),
        notes=node.sentences("notes"),
        compiled=tuple(map(_read_compiled, node.items("compiled"))) if node.has("compiled") else (),
        launches=tuple(map(read_launch, node.items("launches"))) if node.has("launches") else (),
    )


def _read_compiled(node: Node) -> CompiledRegion:
    how = Compilation(
        node.text("backend"),
        node.text("mode"),
        node.truth("fullgraph"),
        node.text("dynamic"),
        node.texts("options"),
        node.truth("function"),
        node.has("suppressed") and node.truth("suppressed"),
    )
    return CompiledRegion(node.text("where"), how)


def _read_target(node: Node) -> TargetReport:
    kernels = node.optional("kernels")
    return TargetReport(
        target=node.text("target"),
        vendor=node.text("vendor"),
        chip=node.text("chip"),
        sdk=node.text("sdk"),
        torch=node.text("torch"),
        database_digest=node.at("database").text("digest"),
        database_date=node.at("database").text("date"),
        summary=_read_summary(node.at("summary")),
        findings=tuple(map(_read_finding, node.items("findings"))),
        kernels=None if kernels is None else tuple(map(read_kernel, node.items("kernels"))),
        advisories=tuple(map(read_reason, node.items("advisories"))),
        plan=read_plan(node.at("plan")) if node.has("plan") else None,
        elsewhere=node.sentence("elsewhere") if node.has("elsewhere") else "",
        dynamic=tuple(map(read_taken, node.items("dynamic"))) if node.has("dynamic") else (),
        partitions=tuple(map(_read_partition, node.items("stretches")))
        if node.has("stretches")
        else (),
        segments=tuple(map(_read_segment, node.items("segments"))) if node.has("segments") else (),
        model=read_lists(node.at("model_lists")) if node.has("model_lists") else None,
    )


def _read_partition(node: Node) -> Partition:
    return Partition(node.truth("fallback"), node.number("calls"), node.text("module"))


def _read_segment(node: Node) -> Segment:
    left = node.optional("verdict") is not None
    verdict = node.member("verdict", Verdict) if left else None
    return Segment(verdict, node.number("calls"), node.text("module"))


def _read_summary(node: Node) -> Summary:
    rate, runs = node.optional("support_rate"), node.optional("runs")
    return Summary(
        support_rate=None if rate is None else rate.as_rate(),
        runs=None if runs is None else runs.as_bool(),
        operators=_read_counts(node.at("operators")),
        calls=_read_counts(node.at("calls")),
        islands=node.number("islands"),
        fallback_bytes=node.number("fallback_bytes"),
    )


def _read_counts(node: Node) -> Mapping[Verdict, int]:
    return {verdict: node.number(verdict) for verdict in Verdict}


def _read_finding(node: Node) -> Finding:
    return Finding(
        id=node.text("id"),
        op=node.text("op"),
        verdict=node.member("verdict", Verdict),
        confidence=node.member("confidence", Confidence),
        reason=read_reason(node.at("reason")),
        count=node.number("count"),
        phase=node.member("phase", Phase),
        uses=tuple(map(_read_place, node.items("uses"))),
        evidence=tuple(map(read_evidence, node.items("evidence"))),
        suggestions=tuple(map(read_suggestion, node.items("suggestions"))),
        declined=tuple(map(read_declined, node.items("declined"))),
        steps=node.sentences("steps") if node.has("steps") else (),
    )


def _read_place(node: Node) -> Place:
    return Place(
        module=node.text("module"),
        file=node.text("file"),
        line=node.number("line"),
        inputs=node.texts("inputs"),
        decomposed_into=node.texts("decomposed_into"),
        count=node.number("count"),
    )
