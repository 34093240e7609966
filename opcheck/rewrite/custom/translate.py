"""Expressions said in the languages of toolchains: for one number, or for whole vectors."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from opcheck.rewrite.custom.expressions import statements


class UntranslatableError(Exception):
    """A language has no word for a part of an expression."""


_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip
_COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language in which an expression is written as it reads, for one number at a time."""

    functions: Mapping[str, str]
    """Function of an expression -> its name there; ``where`` apart."""
    where: str
    """With {0} for the condition, {1} and {2} for the values."""
    number: str
    """With {0} for a number, {0!r} as Python writes it."""
    inf: str
    nan: str
    assignment: str
    """With {0} for the name and {1} for the value."""
    joint: Mapping[str, str] = field(default_factory=lambda: {"&": "&", "|": "|"})
    """How conditions are joined."""
    condition: str = "{0}"
    """How a condition becomes a number."""

    def lines(self, op: str) -> tuple[str, ...]:
        """What computes an overload, the value in the last line.

        Raises:
            UntranslatableError: the language lacks a function of it.
        """
        found = []
        for name, value in statements(op):
            text = self._text(value)
            if _is_condition(value):
                text = self.condition.format(text)
            found.append(self.assignment.format(name, text) if name else text)
        return tuple(found)

    def _text(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id="inf"):
                return self.inf
            case ast.Name(id="nan"):
                return self.nan
            case ast.Name(id="pi"):
                return self.number.format(3.141592653589793)
            case ast.Name(id=name):
                return name
            case ast.Constant(value=int() | float() as value):
                return self.number.format(float(value))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"(-{self._text(operand)})"
            case ast.BinOp(left=left, op=operator, right=right):
                sign = _BINARY[type(operator)]
                return f"({self._text(left)} {self.joint.get(sign, sign)} {self._text(right)})"
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return f"({self._text(left)} {_COMPARE[type(operator)]} {self._text(right)})"
            case ast.Call(func=ast.Name(id="where"), args=args):
                return self.where.format(*map(self._text, args))
            case ast.Call(func=ast.Name(id=name), args=args) if name in self.functions:
                return f"{self.functions[name]}({', '.join(map(self._text, args))})"
            case ast.Call(func=ast.Name(id=name)):
                raise UntranslatableError(name)
            case _:
                raise ValueError(f"no part of an expression: {ast.unparse(node)}")


def _is_condition(node: ast.expr) -> bool:
    match node:
        case ast.Compare():
            return True
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            return True
        case ast.Call(func=ast.Name(id="signbit")):
            return True
        case _:
            return False


@dataclass(frozen=True, slots=True)
class VectorDialect:
    """A language of instructions on whole vectors: each step is a line, into a buffer."""

    unary: Mapping[str, str]
    """Function -> line with {d} for where to, {a} for what from."""
    binary: Mapping[str, str]
    """Sign or function -> line with {d}, {a} and {b}."""
    fill: str
    """Line that fills {d} with the number {value}."""
    buffer: str
    """How the buffer {0} is called."""
    choose: Mapping[str, str] = field(default_factory=dict)
    """Comparison -> lines that choose {x} or {y} into {d} by comparing {a} with {b}; empty where
    the language cannot choose without computing with what is not chosen."""

    def program(self, op: str, inputs: Mapping[str, str]) -> tuple[tuple[str, ...], str, int]:
        """Lines, where the value then is, and how many buffers they need.

        Args:
            op: the overload.
            inputs: its arguments -> vectors that hold them; a number in ``repr`` as well.

        Raises:
            UntranslatableError: the language lacks a step of it.
        """
        writer = _Writer(self, dict(inputs))
        result = ""
        for name, value in statements(op):
            result = writer.write(value)
            if name:
                writer.keep(name, result)
        return tuple(writer.lines), result, writer.most


@dataclass(slots=True)
class _Writer:
    """Writes depth first; a buffer is free again once its value has been used."""

    dialect: VectorDialect
    names: dict[str, str]
    lines: list[str] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    most: int = 0

    def keep(self, name: str, place: str) -> None:
        self.names[name] = place
        self.kept.add(place)

    def write(self, node: ast.expr) -> str:
        """Where the value of an expression is, once the lines so far have run."""
        match node:
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Name(id="inf" | "nan" | "pi" as name):
                return self._filled({"inf": "inf", "nan": "nan", "pi": "3.141592653589793"}[name])
            case ast.Constant(value=int() | float() as value):
                return self._filled(repr(float(value)))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._one("-", operand)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._two(_BINARY[type(operator)], left, right)
            case ast.Call(func=ast.Name(id="where"), args=[condition, first, second]):
                return self._choice(condition, first, second)
            case ast.Call(func=ast.Name(id=name), args=[operand]):
                return self._one(name, operand)
            case ast.Call(func=ast.Name(id=name), args=[left, right]):
                return self._two(name, left, right)
            case ast.Compare():
                return self._choice(node, ast.Constant(value=1), ast.Constant(value=0))
            case _:
                raise UntranslatableError(ast.unparse(node))

    def _one(self, name: str, operand: ast.expr) -> str:
        line = self._known(self.dialect.unary, name)
        place = self.write(operand)
        return self._line(line, a=place)

    def _two(self, name: str, left: ast.expr, right: ast.expr) -> str:
        line = self._known(self.dialect.binary, name)
        if isinstance(left, ast.Constant):  # later, so that it does not wait in a buffer
            second = self.write(right)
            return self._line(line, a=self.write(left), b=second)
        first = self.write(left)
        return self._line(line, a=first, b=self.write(right))

    def _choice(self, condition: ast.expr, first: ast.expr, second: ast.expr) -> str:
        match condition:
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                inner = _where(right, first, second)
                return self._choice(left, inner, second)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                inner = _where(right, first, second)
                return self._choice(left, first, inner)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                line = self._known(self.dialect.choose, _COMPARE[type(operator)])
                x, y = self.write(first), self.write(second)
                return self._line(line, x=x, y=y, a=self.write(left), b=self.write(right))
            case _:
                raise UntranslatableError(ast.unparse(condition))

    def _filled(self, value: str) -> str:
        return self._line(self.dialect.fill, value=value)

    def _line(self, line: str, value: str = "", **used: str) -> str:
        """Write a step into a buffer of its own, then free those that it used."""
        place = self._taken()
        self.lines += line.format(d=place, value=value, **used).splitlines()
        for done in dict.fromkeys(used.values()):
            self._release(done)
        return place

    def _taken(self) -> str:
        if self.free:
            return self.dialect.buffer.format(self.free.pop())
        self.most += 1
        return self.dialect.buffer.format(self.most - 1)

    def _release(self, place: str) -> None:
        if place in self.kept:
            return
        for number in range(self.most):
            if self.dialect.buffer.format(number) == place and number not in self.free:
                self.free.append(number)

    @staticmethod
    def _known(words: Mapping[str, str], name: str) -> str:
        if name not in words:
            raise UntranslatableError(name)
        return words[name]


def _where(condition: ast.expr, first: ast.expr, second: ast.expr) -> ast.expr:
    return ast.Call(func=ast.Name(id="where"), args=[condition, first, second], keywords=[])


def names_of(op: str) -> frozenset[str]:
    """Every name that an expression reads."""
    return frozenset(
        node.id
        for _, value in statements(op)
        for node in ast.walk(value)
        if isinstance(node, ast.Name)
    )
