"""A size of an exported graph as an expression: its number, its text, and what it costs sympy."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import add, mul

from msgspec import Struct

from opcheck.lang.sentence import Sentence, sentence_of

GREATEST = 2**63
"""No size, and no part of one that is a number, is larger."""
HIGHEST_DEGREE = 64
"""Most factors that an expression with powers stands for."""

Number = int | float


class Symbol(Struct, frozen=True):
    """An open size such as ``s0``, with what sympy is to assume of it."""

    name: str
    assumptions: tuple[str, ...] = ()
    bare: bool = False
    """Written as a name alone."""


class Call(Struct, frozen=True):
    """A function or an operator of the grammar, and what it is applied to."""

    function: str
    arguments: tuple["Expression", ...]


Expression = Symbol | Call | int | float | bool

NAMED = frozenset(
    {"Integer", "Float", "Rational", "Add", "Mul", "Pow", "PowByNatural", "FloatPow", "Max", "Min",
     "FloorDiv", "CleanDiv", "CeilDiv", "IntTrueDiv", "FloatTrueDiv", "TruncToInt", "TruncToFloat",
     "RoundToInt", "FloorToInt", "CeilToInt", "ToFloat", "Mod", "PythonMod", "ModularIndexing",
     "Identity", "Abs", "floor", "ceiling", "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "And", "Or", "Not",
     "Equality", "Unequality", "GreaterThan", "LessThan", "StrictGreaterThan", "StrictLessThan",
     "LShift", "RShift", "Where"}
)  # fmt: skip
"""What torch.export writes into the expressions of a file (2.3 to 2.15)."""
LEVELS: Mapping[str, int] = {
    "|": 1, "&": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3,
    "+": 4, "-": 4, "*": 5, "/": 5, "//": 5, "%": 5, "**": 7,
}  # fmt: skip
_DIVISIONS = frozenset(
    {"/", "//", "%", "FloorDiv", "CleanDiv", "CeilDiv", "IntTrueDiv", "FloatTrueDiv", "Mod",
     "PythonMod", "ModularIndexing", "Rational"}
)  # fmt: skip
_POWERS = frozenset({"**", "Pow", "PowByNatural", "FloatPow", "LShift"})


def written(expression: Expression) -> str:
    """Write an expression as sympy reads it; nothing of the text that it was read from is left."""
    match expression:
        case Symbol(name, _, True):
            return name
        case Symbol(name, assumptions):
            return f"Symbol({', '.join((repr(name), *(f'{a}=True' for a in assumptions)))})"
        case Call("neg", (one,)):
            return f"(-{written(one)})"
        case Call("~", (one,)):
            return f"(~{written(one)})"
        case Call(function, arguments) if function in LEVELS:
            return f"({f' {function} '.join(map(written, arguments))})"
        case Call("Float", (number,)):
            return f"Float('{number}', precision=53)"
        case Call(function, arguments):
            return f"{function}({', '.join(map(written, arguments))})"
        case _:
            return str(expression)


def value(expression: Expression, size_of: Callable[[str], int]) -> int:
    """Give the number that an expression comes to, downwards where it is none of whole.

    Raises:
        ValueError: it is no number, or one that no size could be.
    """
    try:
        return math.floor(_value(expression, size_of))
    except (RefusedError, ArithmeticError, TypeError) as error:
        text = short(written(expression))
        raise ValueError(
            Sentence(
                "a size is {text}, which is no number: {text_b}",
                text=text,
                text_b=sentence_of(error),
            )
        ) from None


def symbols_of(expression: Expression) -> Iterator[str]:
    """The names of the open sizes in an expression, each as often as it is there."""
    match expression:
        case Symbol(name):
            yield name
        case Call(_, arguments):
            for part in arguments:
                yield from symbols_of(part)


class RefusedError(Exception):
    """Why a text is no expression."""


# --- what sympy would have to work for ----------------------------------------------------------


def measured(expression: Expression) -> tuple[bool, int]:
    """Whether an expression is a number, and of which degree; refuses powers that explode."""
    match expression:
        case Symbol():
            return False, 1
        case Call(function, arguments):
            parts = [measured(part) for part in arguments]
            constant = all(known for known, _ in parts)
            if function in _DIVISIONS and any(map(_is_zero, arguments[1:])):
                raise RefusedError(Sentence("it divides by zero"))
            if constant and function not in _LOGICAL:
                try:
                    _value(expression, _no_symbol)
                except (ArithmeticError, TypeError) as error:
                    raise RefusedError(sentence_of(error)) from None
            degrees = [degree for _, degree in parts]
            degree = _degree(function, arguments, degrees)
            if degree > HIGHEST_DEGREE:
                raise RefusedError(Sentence("a power of more than {text}", text=HIGHEST_DEGREE))
            return constant, degree
        case _:
            return True, 0


def _is_zero(expression: Expression) -> bool:
    match expression:
        case Call("Integer", (number,)):
            return number == 0
        case _:
            return expression == 0


def _degree(function: str, arguments: tuple[Expression, ...], degrees: list[int]) -> int:
    if function in _POWERS:
        return max(1, degrees[0]) * _exponent(arguments)
    return sum(degrees) if function in ("*", "Mul") else max(degrees)


def _exponent(arguments: tuple[Expression, ...]) -> int:
    match arguments:
        case (_, Symbol()):
            return 1
        case (_, exponent):
            number = abs(_value(exponent, _no_symbol))
            return math.ceil(number) if number <= HIGHEST_DEGREE else HIGHEST_DEGREE + 1
        case _:
            raise RefusedError(Sentence("a power of something else than two numbers"))


def _no_symbol(name: str) -> int:
    raise RefusedError(Sentence("a power that depends on {text}", text=name))


# --- arithmetic --------------------------------------------------------------------------------


def _value(expression: Expression, size_of: Callable[[str], int]) -> Number:
    match expression:
        case Symbol(name):
            return size_of(name)
        case bool():
            raise RefusedError(Sentence("it is a truth value"))
        case Call(function, arguments):
            compute = _FUNCTIONS.get(function)
            if compute is None:
                raise RefusedError(Sentence("{text} gives no number", text=function))
            found = compute(*(_value(part, size_of) for part in arguments))
            if not -GREATEST <= found <= GREATEST:
                raise RefusedError(Sentence("it is beyond 2**63"))
            return found
        case _:
            return expression


def _power(base: Number, exponent: Number) -> Number:
    if abs(base) > 1 and exponent * math.log2(abs(base)) > 64:
        raise RefusedError(Sentence("it is beyond 2**63"))
    found: Number = base**exponent
    return found


def _divide(left: Number, right: Number) -> Number:
    exact = isinstance(left, int) and isinstance(right, int) and right and left % right == 0
    return left // right if exact else left / right


_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "Integer": lambda number: number,
    "Float": float,
    "Rational": _divide,
    "neg": lambda number: -number,
    "Add": lambda *terms: reduce(add, terms),
    "+": add,
    "-": lambda left, right: left - right,
    "Mul": lambda *factors: reduce(mul, factors),
    "*": mul,
    "Pow": _power,
    "PowByNatural": _power,
    "FloatPow": _power,
    "**": _power,
    "/": _divide,
    "IntTrueDiv": _divide,
    "FloatTrueDiv": _divide,
    "//": lambda left, right: left // right,
    "FloorDiv": lambda left, right: left // right,
    "CleanDiv": lambda left, right: left // right,
    "CeilDiv": lambda left, right: -(-left // right),
    "%": lambda left, right: left % right,
    "Mod": lambda left, right: left % right,
    "PythonMod": lambda left, right: left % right,
    "ModularIndexing": lambda number, by, modulus: number // by % modulus,
    "LShift": lambda left, right: left * _power(2, right),
    "RShift": lambda left, right: left // _power(2, right),
    "Max": lambda *numbers: max(numbers),
    "Min": lambda *numbers: min(numbers),
    "Abs": abs,
    "Identity": lambda number: number,
    "ToFloat": float,
    "TruncToInt": math.trunc,
    "TruncToFloat": math.trunc,
    "RoundToInt": round,
    "FloorToInt": math.floor,
    "floor": math.floor,
    "CeilToInt": math.ceil,
    "ceiling": math.ceil,
}
"""What sympy and torch.utils._sympy.functions write into a size (torch 2.13), as numbers."""
_LOGICAL = (NAMED | set(LEVELS) | {"~"}) - _FUNCTIONS.keys()
"""What compares sizes; a size is none of them."""


def short(text: str) -> str:
    """The text in quotes, or as much of it as fits a message."""
    return repr(text if len(text) <= 60 else f"{text[:57]}…")
