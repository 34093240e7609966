"""Whether a condition of the matrix bites on one use."""

from collections.abc import Iterator, Mapping
from math import prod
from typing import assert_never

from opcheck.lang.sentence import Sentence, place_names
from opcheck.model.matrix import Condition, Subject, Test
from opcheck.model.trace import Node, TensorMeta, Value

Bite = tuple[str, str]
"""(argument name, what it actually is)."""


def bites(condition: Condition, node: Node) -> tuple[Bite, ...] | None:
    """Give what each test of the condition bit on; None where the use keeps clear of it."""
    found: list[Bite] = []
    for test in condition.tests:
        bitten = bite(test, node)
        if bitten is None:
            return None
        found.append(bitten)
    return tuple(found)


def sentence(condition: Condition, bitten: tuple[Bite, ...], chip: str) -> Sentence:
    """The condition's sentence for this use."""
    argument, actual = bitten[0] if bitten else ("", "")
    known = {"argument": argument, "actual": actual, "chip": chip}
    named = place_names(condition.text)
    return Sentence(condition.text, **{name: known[name] for name in known if name in named})


def bite(test: Test, node: Node) -> Bite | None:
    """Give the first argument that one test bites on; None where it bites on none."""
    given = dict(node.arguments)
    for name, value in _subjects(test, node):
        for dim in _dims(test, given):
            actual = _measure(test, value, dim)
            if actual is not None and _bitten(test, actual, dim, given):
                return name, actual
    return None


def _bitten(test: Test, actual: str, dim: int, given: Mapping[str, Value]) -> bool:
    return (
        _outside(test, actual)
        or _unfit(test, actual, given)
        or (bool(test.same_as) and _unlike(test, actual, dim, given))
        or bool(test.divisible_by and actual.isdecimal() and int(actual) % test.divisible_by)
    )


def _dims(test: Test, given: Mapping[str, Value]) -> tuple[int, ...]:
    """The dimensions that SIZE looks at; of other subjects it says nothing."""
    named = given.get(test.dim_argument)
    listed = named if isinstance(named, tuple) and named else (named,)
    return tuple(_number(dim, test.dim) for dim in listed)


def _subjects(test: Test, node: Node) -> Iterator[tuple[str, Value]]:
    if test.argument == "return":
        yield from (("the result", tensor) for tensor in node.output_tensors())
    elif test.subject in (Subject.VALUE, Subject.PRODUCT):
        given = [(n, v) for n, v in node.arguments if test.argument in ("*", n)]
        yield from given
        if test.default and not given:
            yield test.argument, test.default
    else:
        yield from ((n, t) for n, t in node.tensors() if test.argument in ("*", n))


def _measure(test: Test, value: Value, dim: int) -> str | None:
    """What the test looks at, as text; None where this argument has no such thing."""
    match test.subject:
        case Subject.VALUE:
            return None if isinstance(value, TensorMeta) else value_text(value)
        case Subject.DTYPE:
            return value.dtype if isinstance(value, TensorMeta) else None
        case Subject.RANK:
            return str(len(value.shape)) if isinstance(value, TensorMeta) else None
        case Subject.SIZE:
            return _size(value, dim)
        case Subject.PRODUCT:
            return _product(value)
        case Subject.LAYOUT:
            return value.layout if isinstance(value, TensorMeta) else None
        case _:
            assert_never(test.subject)


def _size(value: Value, dim: int) -> str | None:
    if not isinstance(value, TensorMeta):
        return None
    here = -len(value.shape) <= dim < len(value.shape)
    return str(value.shape[dim]) if here else None


def _product(value: Value) -> str | None:
    if not isinstance(value, tuple) or not value:
        return None
    numbers = [item for item in value if isinstance(item, int | float)]
    return str(prod(numbers)) if len(numbers) == len(value) else None


def value_text(value: Value) -> str:
    """A constant as conditions and reports spell it: ``True``, ``2``, ``[1, 2]``, ``float64``."""
    if isinstance(value, tuple):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    return str(value)


def _outside(test: Test, actual: str) -> bool:
    if test.one_of and actual not in test.one_of:
        return False
    if test.none_of and actual in test.none_of:
        return False
    if test.minimum is not None or test.maximum is not None:
        try:
            number = float(actual)
        except ValueError:
            return False
        below = test.minimum is not None and number < test.minimum
        above = test.maximum is not None and number > test.maximum
        return below or above
    return bool(test.one_of or test.none_of)


def _unfit(test: Test, actual: str, given: Mapping[str, Value]) -> bool:
    """Whether a size does not divide as the test wants it to."""
    listed = given.get(test.multiple_of or test.factor_of)
    if not isinstance(listed, tuple) or not -len(listed) <= test.dim < len(listed):
        return False
    size, item = int(actual), _number(listed[test.dim], 0)
    if not (size and item):
        return False
    return bool(size % item if test.multiple_of else item % size)


def _unlike(test: Test, actual: str, dim: int, given: Mapping[str, Value]) -> bool:
    """Whether another argument, or one of a list, differs in what the test looks at."""
    other = given.get(test.same_as)
    listed = other if isinstance(other, tuple) else () if other is None else (other,)
    expected = (_measure(test, value, dim) for value in listed)
    return any(value is not None and value != actual for value in expected)


def _number(value: Value, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
