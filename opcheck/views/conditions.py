"""Conditions of the database, read without a use, as sentences and as JSON."""

from collections.abc import Iterable, Sequence

from opcheck.lang.sentence import Sentence, place_names
from opcheck.lang.speech import tell
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
    actual = Sentence(_either(map(_values, first)) or CALL)
    template = conditions[0].text
    known = {"argument": argument, "actual": actual, "chip": chip}
    named = place_names(template)
    return Sentence(template, **{name: known[name] for name in known if name in named})


def when(conditions: Iterable[Condition]) -> str:
    """What must hold for one of the conditions to match, in the reader's language.

    Empty where each of them always does.
    """
    tests = ("; ".join(map(tell, _tests(condition))) for condition in conditions)
    return f" {tell(OR)} ".join(filter(None, tests))


def _tests(condition: Condition) -> Iterable[str]:
    return (f"{_subject(predicate)}: {_values(predicate)}" for predicate in condition.predicates)


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
