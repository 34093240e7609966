"""Conditions read without a use: their sentences filled in with what they test for."""

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
