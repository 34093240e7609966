"""Read a report back from the JSON that this package writes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, TypeVar

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

E = TypeVar("E", bound=StrEnum)


def from_json(text: str, name: str = "report") -> Report:
    """The report that ``text`` holds; keys that this version does not know are passed over.

    ``name`` says in messages which document it was.
    """
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}", _HINT) from error
    root = _Node(document, name)
    if (schema := root.text("schema")) != SCHEMA:
        root.at("schema").fail(f"expected {SCHEMA!r}, got {schema!r}")
    return Report(
        opcheck_version=root.text("opcheck_version"),
        torch_version=root.text("torch_version"),
        model=_model(root.at("model")),
        trace=_trace(root.at("trace")),
        targets=tuple(map(_target, root.items("targets"))),
    )


_HINT = "a report is what opcheck scan --format json writes"


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


@dataclass(frozen=True, slots=True)
class _Node:
    """A JSON value and the path to it, so that every complaint says where."""

    value: object
    path: str

    def fail(self, problem: str) -> NoReturn:
        raise UsageError(f"{self.path}: {problem}", _HINT)

    def at(self, key: str) -> "_Node":
        if not isinstance(self.value, Mapping):
            self.fail(f"expected an object, got {_kind(self.value)}")
        if key not in self.value:
            self.fail(f"the key {key!r} is missing")
        return _Node(self.value[key], f"{self.path}.{key}")

    def items(self, key: str) -> tuple["_Node", ...]:
        node = self.at(key)
        if not isinstance(node.value, list):
            node.fail(f"expected an array, got {_kind(node.value)}")
        return tuple(_Node(item, f"{node.path}[{i}]") for i, item in enumerate(node.value))

    def as_text(self) -> str:
        if not isinstance(self.value, str):
            self.fail(f"expected a string, got {_kind(self.value)}")
        return self.value

    def as_number(self) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 0:
            self.fail(f"expected a whole number from 0 on, got {_kind(self.value)}")
        return self.value

    def as_rate(self) -> float:
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.fail(f"expected a number from 0 to 1, got {_kind(value)}")
        return float(value)

    def as_bool(self) -> bool:
        if not isinstance(self.value, bool):
            self.fail(f"expected true or false, got {_kind(self.value)}")
        return self.value

    def text(self, key: str) -> str:
        return self.at(key).as_text()

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(item.as_text() for item in self.items(key))

    def number(self, key: str) -> int:
        return self.at(key).as_number()

    def optional(self, key: str) -> "_Node | None":
        node = self.at(key)
        return None if node.value is None else node

    def member(self, key: str, kind: type[E]) -> E:
        node = self.at(key)
        text = node.as_text()
        if text not in set(kind):
            node.fail(f"expected one of {', '.join(kind)}, got {text!r}")
        return kind(text)


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool() | int() | float():
            return json.dumps(value)
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def _model(node: _Node) -> ModelInfo:
    return ModelInfo(node.text("source"), node.text("kind"), node.text("digest"))


def _trace(node: _Node) -> TraceInfo:
    return TraceInfo(
        mode=node.text("mode"),
        device_type=node.text("device_type"),
        calls=node.number("calls"),
        operators=node.number("operators"),
        gaps=tuple(Gap(gap.text("where"), gap.text("reason")) for gap in node.items("gaps")),
        modules_not_called=node.texts("modules_not_called"),
        notes=node.texts("notes"),
    )


def _target(node: _Node) -> TargetReport:
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


def _summary(node: _Node) -> Summary:
    rate, runs = node.optional("support_rate"), node.optional("runs")
    return Summary(
        support_rate=None if rate is None else rate.as_rate(),
        runs=None if runs is None else runs.as_bool(),
        operators=_counts(node.at("operators")),
        calls=_counts(node.at("calls")),
        islands=node.number("islands"),
        fallback_bytes=node.number("fallback_bytes"),
    )


def _counts(node: _Node) -> Mapping[Verdict, int]:
    return {verdict: node.number(verdict) for verdict in Verdict}


def _finding(node: _Node) -> Finding:
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


def _reason(node: _Node) -> Reason:
    return Reason(node.text("code"), node.text("text"))


def _place(node: _Node) -> Place:
    return Place(
        module=node.text("module"),
        file=node.text("file"),
        line=node.number("line"),
        inputs=node.texts("inputs"),
        decomposed_into=node.texts("decomposed_into"),
        count=node.number("count"),
    )


def _evidence(node: _Node) -> Evidence:
    line = node.optional("line")
    return Evidence(
        method=node.member("method", Method),
        source=node.text("source"),
        path=node.text("path"),
        line=None if line is None else line.as_number(),
        commit=node.text("commit"),
        date=node.text("date"),
    )


def _kernel(node: _Node) -> KernelCount:
    return KernelCount(
        op=node.text("op"),
        verdict=node.member("verdict", Verdict),
        count=node.number("count"),
        phase=node.member("phase", Phase),
    )
