"""Values that the reader of coremltools' converters knows, and what the code asks of them."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

KINDS = {
    "is_int": frozenset({"int32"}), "is_float": frozenset({"fp16", "fp32"}),
    "is_bool": frozenset({"bool"}), "is_complex": frozenset[str](),
}  # fmt: skip
_NUMBERS: Mapping[type, str] = {bool: "bool", int: "int32", float: "fp32"}
ORDER = ("bool", "int32", "fp16", "fp32")
"""What dtypes are promoted to: the later of two."""


class Var(Struct, frozen=True):
    """A tensor of MIL, of a known dtype."""

    dtype: str


class Dtype(Struct, frozen=True):
    """A dtype of MIL."""

    name: str


class Constant(Struct, frozen=True):
    """A value of Python."""

    value: Any


class Items(Struct):
    """A list or a tuple of known length."""

    items: list[Any]


class Given(Struct):
    """What a call is given, of which it may leave out the last ones."""

    items: list[Any]
    fewest: int = 0
    """It leaves out none of so many."""


class AtLeast(Struct, frozen=True):
    """A count that is not known, but is no less than this."""

    count: int


class Function(Struct):
    """A function of the source, with the names around it."""

    node: ast.FunctionDef
    around: dict[str, Any]


class Unknown(Struct, frozen=True):
    """Anything else."""


UNKNOWN = Unknown()


def dtype_of(value: Any) -> str:
    """The dtype of a tensor, or of the constant that a number of Python becomes; "" of others."""
    if isinstance(value, Var):
        return value.dtype
    number = value.value if isinstance(value, Constant) else None
    return _NUMBERS.get(type(number), "")


def truth(value: Any) -> bool | None:
    """Whether a value holds; None where that is not known."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, Items):
        return bool(value.items)
    return None


def module(name: str, functions: Mapping[str, ast.FunctionDef]) -> Any:
    """The function of the source that a name means."""
    return Function(functions[name], {}) if name in functions else UNKNOWN


def bind(target: ast.expr, value: Any, names: dict[str, Any]) -> None:
    """Give the names of a target their values."""
    match target:
        case ast.Name(name):
            names[name] = value
        case ast.Tuple(targets) | ast.List(targets):
            known = isinstance(value, Items | Given) and not any(
                isinstance(each, ast.Starred) for each in targets
            )
            for place, each in enumerate(targets):
                inner = each.value if isinstance(each, ast.Starred) else each
                bind(inner, item(value, Constant(place)) if known else UNKNOWN, names)
        case ast.Subscript(ast.Name(name), ast.Constant(place)):
            held = names.get(name)
            if not isinstance(held, Items | Given) or not isinstance(place, int):
                return
            if place < len(held.items):
                items = [*held.items]
                items[place] = value
                names[name] = type(held)(items)


def item(value: Any, place: Any) -> Any:
    """One item of a list, or of what a call is given; the last ones of that may be absent."""
    if isinstance(value, Items | Given) and isinstance(place, Constant):
        index = place.value
        first = -len(value.items) if isinstance(value, Items) else 0
        if isinstance(index, int) and first <= index < len(value.items):
            return value.items[index]
    return UNKNOWN


def compared(op: ast.cmpop, left: Any, right: Any) -> Any:
    """What a comparison gives, where that is known."""
    match op:
        case ast.Is() | ast.IsNot():
            if isinstance(right, Constant) and right.value is None and not _open(left):
                none = isinstance(left, Constant) and left.value is None
                return Constant(none is isinstance(op, ast.Is))
        case ast.Eq() | ast.NotEq():
            both = isinstance(left, Dtype) and isinstance(right, Dtype)
            if both or (isinstance(left, Constant) and isinstance(right, Constant)):
                return Constant((left == right) is isinstance(op, ast.Eq))
        case ast.Gt() | ast.Lt() | ast.GtE() | ast.LtE():
            return _counted(op, left, right)
        case ast.In() | ast.NotIn():
            if isinstance(left, Dtype) and isinstance(right, Items):
                return Constant((left in right.items) is isinstance(op, ast.In))
    return UNKNOWN


def _counted(op: ast.cmpop, left: Any, right: Any) -> Any:
    """Whether a count is above a number, where what is known of it says that."""
    number = right.value if isinstance(right, Constant) else None
    if not isinstance(left, AtLeast) or not isinstance(number, int):
        return UNKNOWN
    above = left.count > number or (left.count == number and isinstance(op, ast.GtE | ast.Lt))
    return Constant(isinstance(op, ast.Gt | ast.GtE)) if above else UNKNOWN


def _open(value: Any) -> bool:
    return isinstance(value, Unknown | Given)


def _get_inputs(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    return names[""]


def _get_kwinputs(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """What is given by name, else the default: known where that is a tensor."""
    default = passed.get("default")
    if isinstance(default, Items) and all(isinstance(each, Var) for each in default.items):
        return default
    return UNKNOWN


def _promote(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    if not args or not isinstance(args[0], Items):
        return UNKNOWN
    items = args[0].items
    dtypes = [each.dtype for each in items if isinstance(each, Var)]
    if len(dtypes) < len(items) or not all(each in ORDER for each in dtypes):
        return Items([UNKNOWN for _ in items])
    highest = max(dtypes, key=ORDER.index)
    return Items([Var(highest) for _ in items])


def _cast_to(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    to = args[1] if len(args) > 1 else UNKNOWN
    return Var(to.value) if isinstance(to, Constant) and to.value in ORDER else UNKNOWN


def _all(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """Known to be false by one item; true only of a list of known length."""
    if not args or not isinstance(args[0], Items | Given):
        return UNKNOWN
    held = [truth(item) for item in args[0].items]
    if False in held:
        return Constant(value=False)
    return Constant(value=True) if isinstance(args[0], Items) and all(held) else UNKNOWN


def _any(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """Known to be true by one item; false only of a list of known length."""
    if not args or not isinstance(args[0], Items | Given):
        return UNKNOWN
    held = [truth(item) for item in args[0].items]
    if True in held:
        return Constant(value=True)
    none = isinstance(args[0], Items) and not any(each is None for each in held)
    return Constant(value=False) if none else UNKNOWN


def _len(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    held = args[0] if args else UNKNOWN
    return AtLeast(held.fewest) if isinstance(held, Given) else UNKNOWN


def _isinstance(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    return UNKNOWN


OWN: Mapping[str, Callable[[list[Any], Mapping[str, Any], Mapping[str, Any]], Any]] = {
    "_get_inputs": _get_inputs,
    "_get_kwinputs": _get_kwinputs,
    "promote_input_dtypes": _promote,
    "_cast_to": _cast_to,
    "isinstance": _isinstance,
    "len": _len,
    "all": _all,
    "any": _any,
}
"""Functions whose work is told here, not read."""
