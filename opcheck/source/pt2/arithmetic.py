"""Numbers that a graph computes from sizes, computed again from those it was exported with."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opcheck.lang.sentence import Sentence

_GREATEST = 2**63
_LONGEST_SHIFT = 63
_Function = Callable[..., int]


def _power(base: int, exponent: int) -> int:
    if not 0 <= exponent <= _LONGEST_SHIFT:
        raise ValueError(Sentence("it raises a number to the power of {text}", text=exponent))
    return int(base**exponent)


_FUNCTIONS: Mapping[str, tuple[int, _Function]] = {
    "_operator.add": (2, lambda a, b: a + b),
    "_operator.sub": (2, lambda a, b: a - b),
    "_operator.mul": (2, lambda a, b: a * b),
    "_operator.floordiv": (2, lambda a, b: a // b),
    "_operator.mod": (2, lambda a, b: a % b),
    "_operator.pow": (2, _power),
    "_operator.neg": (1, lambda a: -a),
}
"""Target -> how many whole numbers it takes, and what it makes of them."""

_DIVIDING = ("_operator.floordiv", "_operator.mod", "_operator.truediv")
_ROOTS = ("math.sqrt", "torch.sym_sqrt", "torch._sym_sqrt")
_SHIFTS = ("_operator.lshift", "_operator.rshift")


def stated(graph: Mapping[str, Any]) -> dict[str, int]:
    """Whole numbers of a graph by name, where the file says which they were at export."""
    found: dict[str, int] = {}
    for name, held in graph.get("sym_int_values", {}).items():
        number = held.get("as_int")
        if number is None:
            number = ((held.get("as_expr") or {}).get("hint") or {}).get("as_int")
        if type(number) is int:
            found[name] = number
    return found


def check_computed(
    target: str, inputs: Sequence[Mapping[str, Any]], output: str, known: Mapping[str, int]
) -> None:
    """Require that a function on whole numbers can be computed, and gives what the file says.

    Args:
        target: the function; of others than these, only what no number may be is looked at.
        inputs: its arguments, as ``(kind, payload)`` of a ``SymInt`` or an ``int`` hold them.
        output: the name of its result.
        known: whole numbers by name, as :func:`stated` gives them.

    Raises:
        ValueError: it has too many arguments or too few, divides by zero, takes the root of a
            negative number, leaves 64 bits, or gives another number than the file says.
    """
    numbers = [_number(item, known) for item in inputs]
    last = numbers[-1] if numbers else None
    if target in _DIVIDING and last == 0:
        raise ValueError(Sentence("it divides by zero"))
    if last is not None and last < 0 and target in _ROOTS:
        raise ValueError(Sentence("it takes the root of {text}", text=last))
    if last is not None and last < 0 and target in _SHIFTS:
        raise ValueError(Sentence("it shifts by {text}", text=last))
    if target not in _FUNCTIONS:
        return
    wanted, function = _FUNCTIONS[target]
    if len(inputs) != wanted:
        raise ValueError(
            Sentence(
                "{text} takes {text_b} numbers, and gets {count}",
                text=target,
                text_b=wanted,
                count=len(inputs),
            )
        )
    if None in numbers:
        return
    result = function(*numbers)
    if not -_GREATEST <= result < _GREATEST:
        raise ValueError(Sentence("it computes a number of more than 64 bits"))
    if known.get(output, result) != result:
        raise ValueError(
            Sentence(
                "it computes {text}, where the file says {text_b}",
                text=result,
                text_b=known[output],
            )
        )


def _number(argument: Mapping[str, Any], known: Mapping[str, int]) -> int | None:
    """The number of an argument; None where nobody knows it before the model runs."""
    number = argument.get("as_int")
    if number is None:
        held = argument.get("as_sym_int") or {}
        number = held.get("as_int")
        number = known.get(held.get("as_name", "")) if number is None else number
    return number if type(number) is int else None
