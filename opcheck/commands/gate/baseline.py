"""``opcheck.baseline/1``: what a gate accepts from now on, written and read."""

import json

from opcheck.model.policy import BASELINE_SCHEMA, Accepted, AcceptedTarget, Baseline
from opcheck.model.verdict import Verdict
from opcheck.views.document.parts import Json
from opcheck.views.document.reading import Node, opened

_HINT = "a baseline is what opcheck gate --write-baseline writes"


def baseline_text(baseline: Baseline) -> str:
    """The file of a baseline; every byte follows from it."""
    return json.dumps(baseline_document(baseline), indent=2, allow_nan=False) + "\n"


def baseline_document(baseline: Baseline) -> Json:
    """A baseline as JSON."""
    return {
        "schema": BASELINE_SCHEMA,
        "opcheck_version": baseline.opcheck_version,
        "targets": [_target(target) for target in baseline.targets],
    }


def baseline_from_json(text: str, name: str) -> Baseline:
    """The baseline that ``text`` holds; ``name`` is the file, for messages and answers.

    Raises:
        UsageError: it is none.
    """
    root = opened(text, name, BASELINE_SCHEMA, _HINT)
    targets = tuple(map(_read_target, root.items("targets")))
    return Baseline(root.text("opcheck_version"), targets, name)


def _target(target: AcceptedTarget) -> Json:
    return {
        "target": target.target,
        "support_rate": target.support_rate,
        "islands": target.islands,
        "fallback_bytes": target.fallback_bytes,
        "findings": [_finding(finding) for finding in target.findings],
    }


def _finding(finding: Accepted) -> Json:
    return {
        "id": finding.id,
        "op": finding.op,
        "verdict": finding.verdict.value,
        "reason": finding.reason,
        "modules": list(finding.modules),
    }


def _read_target(node: Node) -> AcceptedTarget:
    rate = node.optional("support_rate")
    return AcceptedTarget(
        target=node.text("target"),
        support_rate=None if rate is None else rate.as_rate(),
        islands=node.number("islands"),
        fallback_bytes=node.number("fallback_bytes"),
        findings=tuple(map(_read_finding, node.items("findings"))),
    )


def _read_finding(node: Node) -> Accepted:
    return Accepted(
        id=node.text("id"),
        op=node.text("op"),
        verdict=node.member("verdict", Verdict),
        reason=node.text("reason"),
        modules=node.texts("modules"),
    )
