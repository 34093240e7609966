"""Sizes that an exported graph leaves open, brought down to the numbers it was exported with."""

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

ASSUMED_SIZE = 2
"""Taken for a size that depends on data: the smallest that PyTorch does not treat apart."""
_SIZE_BITS = 64


def _power(base: int, exponent: int) -> int:
    """``base ** exponent``, refused where no size could be that large."""
    if exponent * base.bit_length() > _SIZE_BITS:
        raise ValueError(f"a size is {base} to the power of {exponent}")
    return int(base**exponent)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "Integer": int,
    "Add": lambda *terms: sum(terms),
    "Mul": lambda *factors: math.prod(factors),
    "Pow": _power,
    "PowByNatural": _power,
    "Max": max,
    "Min": min,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "CeilDiv": lambda number, by: -(-number // by),
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "ModularIndexing": lambda number, by, modulus: number // by % modulus,
    "Identity": lambda value: value,
}
"""What sympy and torch.utils._sympy.functions write into a size (torch 2.13)."""

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}


class Sizes:
    """Resolves the schema's ``SymInt`` and keeps account of what was taken for granted."""

    def __init__(self, ranges: Mapping[str, tuple[int | None, int | None]]) -> None:
        self._ranges = ranges
        self._known: dict[str, int | None] = {}
        self.exported: dict[str, int] = {}
        """Dynamic dimensions by symbol, at the size they were exported with."""
        self.assumed: dict[str, int] = {}
        """Data-dependent sizes by symbol, at the size assumed here."""

    def resolve(self, sym_int: Mapping[str, Any]) -> int:
        """The number that stands for a ``SymInt``."""
        number = sym_int.get("as_int")
        if number is not None:
            return int(number)
        expression = sym_int["as_expr"]
        text, hint = str(expression["expr_str"]), _hint(expression.get("hint"))
        if hint is None:
            return self._evaluate(text)
        self._note(text, hint)
        return hint

    def depends_on_data(self, sym_int: Mapping[str, Any]) -> bool:
        """Whether nobody could know the number before the model ran."""
        expression = sym_int.get("as_expr")
        return expression is not None and _hint(expression.get("hint")) is None

    def notes(self) -> Iterator[str]:
        """What was taken for granted, a sentence each."""
        if self.exported:
            yield f"dynamic sizes are those of the export: {_assignments(self.exported)}"
        if self.assumed:
            yield f"sizes that depend on data are assumed: {_assignments(self.assumed)}"

    def _note(self, text: str, hint: int) -> None:
        if text not in self._known:
            self._known[text] = hint
            symbol = _symbol(ast.parse(text, mode="eval").body)
            if symbol:
                self.exported[symbol] = hint

    def _evaluate(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = max(0, int(self._value(ast.parse(text, mode="eval").body)))
        return known

    def _value(self, node: ast.expr) -> Any:
        symbol = _symbol(node)
        if symbol:
            return self._size_of(symbol)
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self._value(left), self._value(right))
            case ast.Call(func=ast.Name(id=name), args=args) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(self._value, args))
            case _:
                raise ValueError(f"a size is written as {ast.unparse(node)}")

    def _size_of(self, symbol: str) -> int:
        if symbol in self.exported:
            return self.exported[symbol]
        least, most = self._ranges.get(symbol, (None, None))
        size = max(ASSUMED_SIZE, least or 0)
        self.assumed[symbol] = size if most is None else min(size, most)
        return self.assumed[symbol]


def _assignments(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sorted(sizes.items()))


def _symbol(node: ast.expr) -> str:
    """The symbol's name where ``node`` is one: ``Symbol('s0', integer=True)`` or ``s0``."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(name))]):
            return name
        case _:
            return ""


def _hint(hint: Any) -> int | None:
    """The number in a ``SymExprHint``; older schemas wrote it bare."""
    if isinstance(hint, Mapping):
        hint = hint.get("as_int")
    return None if hint is None else int(hint)
