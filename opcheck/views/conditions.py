"""Conditions of the database, read without a use, as sentences and as JSON."""

from collections.abc import Iterable, Sequence

from opcheck.model.matrix import Condition
from opcheck.model.predicates import (
    ANY,
    RETURN,
    ArgumentValue,
    NoneOf,
    NotDivisible,
    NotFactor,
    NotMultiple,
    OneOf,
    Outside,
    Predicate,
    Size,
    Unlike,
)
from opcheck.views.document.parts import Json, evidence_value

ANY_TENSOR, RESULT, INPUT, CALL = "any tensor", "the result", "an input", "such a call"
OR, OTHER_THAN, BELOW, ABOVE = "or", "anything but", "below", "above"
NO_MULTIPLE_OF, NO_DIVISOR_OF = "no multiple of", "no divisor of"
OTHER_THAN_OF = "another than that of"


def sentence(conditions: Sequence[Condition], chip: str) -> str:
    """The text of conditions that share it, for every use that one of them matches, on ``chip``."""
    first = [condition.predicates[0] for condition in conditions if condition.predicates]
    argument = _either(map(_argument, first)) or INPUT
    actual = _either(map(_values, first)) or CALL
    text = conditions[0].text.replace("{argument}", argument).replace("{actual}", actual)
    return text.replace("{chip}", chip)


def when(condition: Condition) -> str:
    """What must hold for the condition to match; empty where it always does."""
    return "; ".join(
        f"{_subject(predicate)}: {_values(predicate)}" for predicate in condition.predicates
    )


def _either(names: Iterable[str]) -> str:
    return f" {OR} ".join(dict.fromkeys(names))


def _argument(predicate: Predicate) -> str:
    return {ANY: ANY_TENSOR, RETURN: RESULT}.get(predicate.argument, predicate.argument)


def _subject(predicate: Predicate) -> str:
    match predicate:
        case ArgumentValue():
            return _argument(predicate)
        case Size(dim=dim, dim_argument=named):
            return f"{predicate.kind} of dimension {named or dim} of {_argument(predicate)}"
        case _:
            return f"{predicate.kind} of {_argument(predicate)}"


def _values(predicate: Predicate) -> str:
    match predicate.bound:
        case OneOf(listed):
            return _alternatives(listed)
        case NoneOf(listed):
            return f"{OTHER_THAN} {_alternatives(listed)}"
        case Outside(minimum, maximum):
            ends = [(BELOW, minimum), (ABOVE, maximum)]
            return f" {OR} ".join(f"{word} {end}" for word, end in ends if end is not None)
        case NotMultiple(name):
            return f"{NO_MULTIPLE_OF} {name}"
        case NotFactor(name):
            return f"{NO_DIVISOR_OF} {name}"
        case NotDivisible(number):
            return f"{NO_MULTIPLE_OF} {number}"
        case Unlike(name):
            return f"{OTHER_THAN_OF} {name}"


def _alternatives(values: frozenset[str]) -> str:
    *head, last = sorted(values)
    return f"{', '.join(head)} {OR} {last}" if head else last


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
