"""``opcheck.explain/1``: how operators fare, by what the database says."""

from collections.abc import Sequence

from opcheck.model.database import BackendRow, Explanation, Statement
from opcheck.model.matrix import Choice
from opcheck.views.conditions import condition_value, predicate_value
from opcheck.views.document.parts import Json, as_text, evidence_value, reason_value
from opcheck.views.formats import PLAIN, Page

EXPLAIN_SCHEMA = "opcheck.explain/1"


def render(explanations: Sequence[Explanation], page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.explain/1``."""
    return as_text(explanations_document(explanations))


def explanations_document(explanations: Sequence[Explanation]) -> Json:
    """Operators explained, one object for each overload on each target."""
    found = [_explanation(explanation) for explanation in explanations]
    return {"schema": EXPLAIN_SCHEMA, "explanations": found}


def _explanation(found: Explanation) -> Json:
    span = found.torch_range
    document = {
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
    backend = [_backend_row(row) for row in found.backend]
    return {**document, "backend": backend} if backend else document


def _backend_row(row: BackendRow) -> Json:
    return {
        "verdict": row.verdict.value,
        "text": row.text,
        "evidence": [evidence_value(evidence) for evidence in row.evidence],
    }


def _choice(choice: Choice) -> Json:
    return {
        "asks": None if choice.asks is None else list(choice.asks),
        "text": choice.text,
        "confidence": choice.confidence.value,
        "preferred": choice.preferred,
        "tests": [predicate_value(predicate) for predicate in choice.predicates],
        "evidence": [evidence_value(evidence) for evidence in choice.evidence],
    }


def _statement(statement: Statement) -> Json:
    return {
        "origin": statement.origin,
        "says": statement.says,
        "reason": statement.reason,
        "evidence": [evidence_value(evidence) for evidence in statement.evidence],
    }
