"""Read a report back from the JSON that this package writes."""

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
from opcheck.model.trace import Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.document.dynamic import read_taken
from opcheck.views.document.node import Node
from opcheck.views.document.plan import read_declined, read_plan, read_suggestion
from opcheck.views.document.reading import (
    opened,
    read_evidence,
    read_gap,
    read_kernel,
    read_model,
    read_reason,
)

HINT = "a report is what opcheck scan --format json writes"


def from_json(text: str, name: str = "report") -> Report:
    """The report that ``text`` holds; keys that this version does not know are passed over.

    ``name`` says in messages which document it was.
    """
    root = opened(text, name, SCHEMA, HINT)
    return Report(
        opcheck_version=root.text("opcheck_version"),
        torch_version=root.text("torch_version"),
        model=read_model(root.at("model")),
        trace=_trace(root.at("trace")),
        targets=tuple(map(_target, root.items("targets"))),
    )


def _trace(node: Node) -> TraceInfo:
    return TraceInfo(
        mode=node.text("mode"),
        device_type=node.text("device_type"),
        calls=node.number("calls"),
        operators=node.number("operators"),
        gaps=tuple(map(read_gap, node.items("gaps"))),
        modules_not_called=node.texts("modules_not_called"),
        notes=node.texts("notes"),
    )


def _target(node: Node) -> TargetReport:
    kernels = node.optional("kernels")
    return TargetReport(
        target=node.text("target"),
        vendor=node.text("vendor"),
        chip=node.text("chip"),
        sdk=node.text("sdk"),
        torch=node.text("torch"),
        database_digest=node.at("database").text("digest"),
        database_date=node.at("database").text("date"),
        summary=_summary(node.at("summary")),
        findings=tuple(map(_finding, node.items("findings"))),
        kernels=None if kernels is None else tuple(map(read_kernel, node.items("kernels"))),
        advisories=tuple(map(read_reason, node.items("advisories"))),
        plan=read_plan(node.at("plan")) if node.has("plan") else None,
        elsewhere=node.text("elsewhere") if node.has("elsewhere") else "",
        dynamic=tuple(map(read_taken, node.items("dynamic"))) if node.has("dynamic") else (),
        stretches=tuple(map(_stretch, node.items("stretches"))) if node.has("stretches") else (),
    )


def _stretch(node: Node) -> Stretch:
    return Stretch(node.truth("fallback"), node.number("calls"), node.text("module"))


def _summary(node: Node) -> Summary:
    rate, runs = node.optional("support_rate"), node.optional("runs")
    return Summary(
        support_rate=None if rate is None else rate.as_rate(),
        runs=None if runs is None else runs.as_bool(),
        operators=_counts(node.at("operators")),
        calls=_counts(node.at("calls")),
        islands=node.number("islands"),
        fallback_bytes=node.number("fallback_bytes"),
    )


def _counts(node: Node) -> Mapping[Verdict, int]:
    return {verdict: node.number(verdict) for verdict in Verdict}


def _finding(node: Node) -> Finding:
    return Finding(
        id=node.text("id"),
        op=node.text("op"),
        verdict=node.member("verdict", Verdict),
        confidence=node.member("confidence", Confidence),
        reason=read_reason(node.at("reason")),
        count=node.number("count"),
        phase=node.member("phase", Phase),
        uses=tuple(map(_place, node.items("uses"))),
        evidence=tuple(map(read_evidence, node.items("evidence"))),
        suggestions=tuple(map(read_suggestion, node.items("suggestions"))),
        declined=tuple(map(read_declined, node.items("declined"))),
        steps=node.texts("steps") if node.has("steps") else (),
    )


def _place(node: Node) -> Place:
    return Place(
        module=node.text("module"),
        file=node.text("file"),
        line=node.number("line"),
        inputs=node.texts("inputs"),
        decomposed_into=node.texts("decomposed_into"),
        count=node.number("count"),
    )
