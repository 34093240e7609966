"""Conditions read without a use: their sentences filled in with what they test for."""

from collections.abc import Iterable, Sequence

from opcheck.model.matrix import Condition, Subject, Test

ANY_TENSOR, RESULT, INPUT, CALL = "any tensor", "the result", "an input", "such a call"
OR, OTHER_THAN, BELOW, ABOVE = "or", "anything but", "below", "above"
NO_MULTIPLE_OF, NO_DIVISOR_OF = "no multiple of", "no divisor of"
OTHER_THAN_OF = "another than that of"


def sentence(conditions: Sequence[Condition], chip: str) -> str:
    """The text of conditions that share it, for every use that one of them bites, on ``chip``."""
    first = [condition.tests[0] for condition in conditions if condition.tests]
    argument = _either(map(_argument, first)) or INPUT
    actual = _either(map(_values, first)) or CALL
    text = conditions[0].text.replace("{argument}", argument).replace("{actual}", actual)
    return text.replace("{chip}", chip)


def when(condition: Condition) -> str:
    """What must hold for the condition to bite; empty where it always does."""
    return "; ".join(f"{_subject(test)}: {_values(test)}" for test in condition.tests)


def _either(names: Iterable[str]) -> str:
    return f" {OR} ".join(dict.fromkeys(names))


def _argument(test: Test) -> str:
    match test.argument:
        case "*":
            return ANY_TENSOR
        case "return":
            return RESULT
        case name:
            return name


def _subject(test: Test) -> str:
    if test.subject is Subject.VALUE:
        return _argument(test)
    place = test.dim_argument or test.dim
    dim = f" of dimension {place}" if test.subject is Subject.SIZE else ""
    return f"{test.subject.value}{dim} of {_argument(test)}"


def _values(test: Test) -> str:
    parts = []
    if test.one_of:
        parts.append(_alternatives(test.one_of))
    if test.none_of:
        parts.append(f"{OTHER_THAN} {_alternatives(test.none_of)}")
    if test.minimum is not None:
        parts.append(f"{BELOW} {test.minimum}")
    if test.maximum is not None:
        parts.append(f"{ABOVE} {test.maximum}")
    if test.multiple_of:
        parts.append(f"{NO_MULTIPLE_OF} {test.multiple_of}")
    if test.factor_of:
        parts.append(f"{NO_DIVISOR_OF} {test.factor_of}")
    if test.divisible_by is not None:
        parts.append(f"{NO_MULTIPLE_OF} {test.divisible_by}")
    if test.same_as:
        parts.append(f"{OTHER_THAN_OF} {test.same_as}")
    return f" {OR} ".join(parts) or CALL


def _alternatives(values: frozenset[str]) -> str:
    *head, last = sorted(values)
    return f"{', '.join(head)} {OR} {last}" if head else last
