"""Conditions of the database, read without a use, as sentences and as JSON."""

from collections.abc import Iterable, Sequence

from opcheck.lang.sentence import Sentence, place_names
from opcheck.lang.speech import tell
from opcheck.model.amounts import ScaledSize
from opcheck.model.list_bounds import NotEqual, NotFactor, NotMultiple
from opcheck.model.matrix import Condition
from opcheck.model.predicates import (
    ANY,
    RETURN,
    ArgumentValue,
    Fewer,
    More,
    NoneOf,
    NotDivisible,
    OneOf,
    Outside,
    Predicate,
    Remainder,
    Size,
    Unlike,
)
from opcheck.views.document.parts import Json, evidence_value

ANY_TENSOR, RESULT, INPUT, CALL = "any tensor", "the result", "an input", "such a call"
OR = "or"


def sentence(conditions: Sequence[Condition], chip: str) -> str:
    """The text of conditions that share it, for every use that one of them matches, on ``chip``."""
    first = [condition.predicates[0] for condition in conditions if condition.predicates]
    argument = _either(map(_argument, first)) or INPUT
    actual = _either(map(_values, first)) or CALL
    if not isinstance(actual, Sentence):
        actual = Sentence(actual)
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


def _tests(condition: Condition) -> Iterable[Sentence]:
    for predicate in condition.predicates:
        arg, said = _argument(predicate), _values(predicate)
        match predicate:
            case ArgumentValue():
                yield Sentence("{arg}: {said}", arg=arg, said=said)
            case Size() | ScaledSize():
                named = predicate.dim_argument if isinstance(predicate, Size) else ""
                template = f"{predicate.kind} of dimension {{dim}} of {{arg}}: {{said}}"
                yield Sentence(template, dim=named or predicate.dim, arg=arg, said=said)
            case _:
                yield Sentence(f"{predicate.kind} of {{arg}}: {{said}}", arg=arg, said=said)


def _either(names: Iterable[str]) -> str:
    """Any of them; no words for none."""
    different = list(dict.fromkeys(names))
    return _any_of(different) if different else ""


def _any_of(names: Sequence[str]) -> str:
    """Of half of them or of the others: a translation of a long chain would take minutes."""
    if len(names) == 1:
        return names[0]
    half = len(names) // 2
    one, other = _any_of(names[:half]), _any_of(names[half:])
    return Sentence("{said} or {said_other}", said=one, said_other=other)


def _argument(predicate: Predicate) -> str:
    return {ANY: ANY_TENSOR, RETURN: RESULT}.get(predicate.argument, predicate.argument)


def _values(predicate: Predicate) -> str:
    match predicate.bound:
        case OneOf(listed):
            return _alternatives(listed)
        case NoneOf(listed):
            return Sentence("anything but {said}", said=_alternatives(listed))
        case Outside(minimum, maximum):
            return _outside(minimum, maximum)
        case NotMultiple(name):
            return Sentence("no multiple of {figure}", figure=name)
        case NotFactor(name):
            return Sentence("no divisor of {figure}", figure=name)
        case NotEqual(name):
            return Sentence("another than in {figure}", figure=name)
        case NotDivisible(number):
            return Sentence("no multiple of {figure}", figure=number)
        case Remainder(divisor, left):
            text = "{figure} more than a multiple of {figure_divisor}"
            return Sentence(text, figure=left, figure_divisor=divisor)
        case Unlike(name):
            return Sentence("another than that of {arg}", arg=name)
        case Fewer(name):
            return Sentence("below that of {arg}", arg=name)
        case More(name):
            return Sentence("above that of {arg}", arg=name)


def _outside(minimum: float | None, maximum: float | None) -> Sentence:
    if minimum is None:
        return Sentence("above {figure}", figure=maximum)
    if maximum is None:
        return Sentence("below {figure}", figure=minimum)
    return Sentence("below {minimum} or above {maximum}", minimum=minimum, maximum=maximum)


def _alternatives(values: frozenset[str]) -> str:
    *head, last = sorted(values)
    return Sentence("{list} or {last}", list=", ".join(head), last=last) if head else last


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
