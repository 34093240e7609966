"""Conditions of the database as JSON."""

from opcheck.model.matrix import Condition, Test
from opcheck.views.conditions import sentence
from opcheck.views.document.parts import Json, evidence_value


def condition_value(condition: Condition, chip: str) -> Json:
    """A condition as JSON, its sentence for uses on ``chip``."""
    return {
        "code": condition.code,
        "verdict": condition.verdict.value,
        "confidence": condition.confidence.value,
        "text": sentence([condition], chip),
        "tests": [test_value(test) for test in condition.tests],
        "evidence": [evidence_value(evidence) for evidence in condition.evidence],
    }


def test_value(test: Test) -> Json:
    """What a condition looks at as JSON."""
    return {
        "subject": test.subject.value,
        "argument": test.argument,
        "dim": test.dim,
        "one_of": sorted(test.one_of),
        "none_of": sorted(test.none_of),
        "minimum": test.minimum,
        "maximum": test.maximum,
    }
