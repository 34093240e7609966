"""``opcheck.targets/1`` and ``opcheck.explain/1``: what the database says by itself."""

from collections.abc import Sequence

from opcheck.model.explanation import Explanation, Statement, TargetRow
from opcheck.model.matrix import Choice, Condition, Test
from opcheck.report.conditions import sentence
from opcheck.report.document.parts import Json, evidence_value, reason_value

TARGETS_SCHEMA = "opcheck.targets/1"
EXPLAIN_SCHEMA = "opcheck.explain/1"


def targets_document(rows: Sequence[TargetRow]) -> Json:
    """The targets of the database."""
    return {"schema": TARGETS_SCHEMA, "targets": [_row(row) for row in rows]}


def explanations_document(explanations: Sequence[Explanation]) -> Json:
    """Operators explained, one object for each overload on each target."""
    found = [_explanation(explanation) for explanation in explanations]
    return {"schema": EXPLAIN_SCHEMA, "explanations": found}


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
        "reason": reason_value(found.reason),
        "implementation": list(found.implementation),
        "package": found.package,
        "conditions": [condition_value(c, found.target.chip) for c in found.conditions],
        "evidence": [evidence_value(evidence) for evidence in found.evidence],
        "branches": [list(branch) for branch in found.branches],
        "recorded_on": found.recorded_on,
        "choices": [_choice(choice) for choice in found.choices],
        "registered_in": list(found.registered_in),
        "torch_range": None if span is None else {"first": span[0], "last": span[1]},
        "statements": [_statement(statement) for statement in found.statements],
    }


def _choice(choice: Choice) -> Json:
    return {
        "asks": None if choice.asks is None else list(choice.asks),
        "text": choice.text,
        "confidence": choice.confidence.value,
        "preferred": choice.preferred,
        "tests": [_test(test) for test in choice.tests],
        "evidence": [evidence_value(evidence) for evidence in choice.evidence],
    }


def _statement(statement: Statement) -> Json:
    return {
        "origin": statement.origin,
        "says": statement.says,
        "reason": statement.reason,
        "evidence": [evidence_value(evidence) for evidence in statement.evidence],
    }


def condition_value(condition: Condition, chip: str) -> Json:
    """A condition as JSON, its sentence for uses on ``chip``."""
    return {
        "code": condition.code,
        "verdict": condition.verdict.value,
        "confidence": condition.confidence.value,
        "text": sentence([condition], chip),
        "tests": [_test(test) for test in condition.tests],
        "evidence": [evidence_value(evidence) for evidence in condition.evidence],
    }


def _test(test: Test) -> Json:
    return {
        "subject": test.subject.value,
        "argument": test.argument,
        "dim": test.dim,
        "one_of": sorted(test.one_of),
        "none_of": sorted(test.none_of),
        "minimum": test.minimum,
        "maximum": test.maximum,
    }
