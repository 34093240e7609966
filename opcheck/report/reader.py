"""Read a report back from the JSON that this package writes."""

import json
from collections.abc import Mapping
from typing import NoReturn

from opcheck.errors import UsageError
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
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.report.document.node import HINT, Node


def from_json(text: str, name: str = "report") -> Report:
    """The report that ``text`` holds; keys that this version does not know are passed over.

    ``name`` says in messages which document it was.
    """
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}", HINT) from error
    root = Node(document, name)
    if (schema := root.text("schema")) != SCHEMA:
        root.at("schema").fail(f"expected {SCHEMA!r}, got {schema!r}")
    return Report(
        opcheck_version=root.text("opcheck_version"),
        torch_version=root.text("torch_version"),
        model=_model(root.at("model")),
        trace=_trace(root.at("trace")),
        targets=tuple(map(_target, root.items("targets"))),
    )


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _model(node: Node) -> ModelInfo:
    return ModelInfo(node.text("source"), node.text("kind"), node.text("digest"))


def _trace(node: Node) -> TraceInfo:
    return TraceInfo(
        mode=node.text("mode"),
        device_type=node.text("device_type"),
        calls=node.number("calls"),
        operators=node.number("operators"),
        gaps=tuple(Gap(gap.text("where"), gap.text("reason")) for gap in node.items("gaps")),
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
        kernels=None if kernels is None else tuple(map(_kernel, node.items("kernels"))),
        advisories=tuple(map(_reason, node.items("advisories"))),
    )


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
        reason=_reason(node.at("reason")),
        count=node.number("count"),
        phase=node.member("phase", Phase),
        uses=tuple(map(_place, node.items("uses"))),
        evidence=tuple(map(_evidence, node.items("evidence"))),
    )


def _reason(node: Node) -> Reason:
    return Reason(node.text("code"), node.text("text"))


def _place(node: Node) -> Place:
    return Place(
        module=node.text("module"),
        file=node.text("file"),
        line=node.number("line"),
        inputs=node.texts("inputs"),
        decomposed_into=node.texts("decomposed_into"),
        count=node.number("count"),
    )


def _evidence(node: Node) -> Evidence:
    line = node.optional("line")
    return Evidence(
        method=node.member("method", Method),
        source=node.text("source"),
        path=node.text("path"),
        line=None if line is None else line.as_number(),
        commit=node.text("commit"),
        date=node.text("date"),
    )


def _kernel(node: Node) -> KernelCount:
    return KernelCount(
        op=node.text("op"),
        verdict=node.member("verdict", Verdict),
        count=node.number("count"),
        phase=node.member("phase", Phase),
    )
