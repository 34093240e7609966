"""Conditions of the database as JSON."""

from opcheck.model.matrix import Condition
from opcheck.model.predicates import NoneOf, OneOf, Outside, Predicate, Size
from opcheck.views.conditions import sentence
from opcheck.views.document.parts import Json, evidence_value


def condition_value(condition: Condition, chip: str) -> Json:
    """A condition as JSON, its sentence for uses on ``chip``."""
    return {
        "code": condition.code,
        "verdict": condition.verdict.value,
        "confidence": condition.confidence.value,
        "text": sentence([condition], chip),
        "tests": [predicate_value(predicate) for predicate in condition.predicates],
        "evidence": [evidence_value(evidence) for evidence in condition.evidence],
    }


def predicate_value(predicate: Predicate) -> Json:
    """What a condition looks at as JSON."""
    bound = predicate.bound
    return {
        "subject": predicate.kind,
        "argument": predicate.argument,
        "dim": predicate.dim if isinstance(predicate, Size) else 0,
        "one_of": sorted(bound.listed) if isinstance(bound, OneOf) else [],
        "none_of": sorted(bound.listed) if isinstance(bound, NoneOf) else [],
        "minimum": bound.minimum if isinstance(bound, Outside) else None,
        "maximum": bound.maximum if isinstance(bound, Outside) else None,
    }
