"""Expressions said in the languages of toolchains: for one number, or for whole vectors."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from opcheck.rewrite.custom.definitions import UntranslatableError, spelled
from opcheck.rewrite.custom.expressions import Statement

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip
_COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


class Dialect(Struct, frozen=True):
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
    assignment_of_any: str = ""
    """The same for a value that may be an integer; "" where types are not written."""
    joint: Mapping[str, str] = msgspec.field(default_factory=lambda: {"&": "&", "|": "|"})
    """How conditions are joined."""
    condition: str = "{0}"
    """How a condition becomes a number."""
    chosen: str = "{0}"
    """How a number is written that ``where`` gives, where it has no type of its own there."""

    def spelled(self, given: Iterable[Statement]) -> tuple[Statement, ...]:
        """An expression in words that the language has.

        Raises:
            UntranslatableError: it cannot be said in them.
        """
        return spelled(given, self.functions)

    def lines(self, given: Iterable[Statement]) -> tuple[str, ...]:
        """What computes an expression; a value without a name is a line of its own.

        Raises:
            UntranslatableError: the language lacks a function of it.
        """
        found = []
        for name, value in self.spelled(given):
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
            case ast.Call(func=ast.Name(id="where"), args=[condition, *values]):
                return self.where.format(self._text(condition), *map(self._chosen, values))
            case ast.Call(func=ast.Name(id=name), args=args):
                return f"{self.functions[name]}({', '.join(map(self._text, args))})"
            case _:
                raise ValueError(f"no part of an expression: {ast.unparse(node)}")

    def _chosen(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())):
                whole = self.chosen != "{0}"  # then it may be the type of integers
                return self.chosen.format(ast.unparse(node) if whole else self._text(node))
            case ast.Constant() | ast.UnaryOp(operand=ast.Constant() | ast.Name(id="inf")):
                return self.chosen.format(self._text(node))
            case ast.Name(id="inf" | "nan" | "pi"):
                return self.chosen.format(self._text(node))
            case _:
                return self._text(node)


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


class Program(Struct, frozen=True):
    """Instructions on whole vectors, one after the other."""

    lines: tuple[str, ...]
    values: Mapping[str, str]
    """Name of each result -> where it is after them; "" for what has no name."""
    buffers: int
    """Vectors that they need beside their inputs."""


class VectorDialect(Struct, frozen=True):
    """A language of instructions on whole vectors: each step goes into a buffer of its own."""

    unary: Mapping[str, str]
    """Function -> lines with {d} for where to, {a} for what from."""
    binary: Mapping[str, str]
    """Sign or function -> lines with {d}, {a} and {b}."""
    scalar: Mapping[str, str]
    """``+`` and ``*`` -> line with {d}, {a} and the number {value}."""
    fill: str
    """Line that fills {d} with the number {value}."""
    buffer: str
    """How the buffer {0} is called."""
    inf: str
    nan: str
    choose: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Comparison -> lines that choose {x} or {y} into {d} by comparing {a} with {b}; empty where
    the language cannot choose without computing with what is not chosen."""

    def spelled(self, given: Iterable[Statement]) -> tuple[Statement, ...]:
        """An expression in words that the language has.

        Raises:
            UntranslatableError: it cannot be said in them.
        """
        return spelled(given, {*self.unary, *self.binary})

    def program(
        self,
        given: Iterable[Statement],
        inputs: Mapping[str, str],
        numbers: Mapping[str, str] | None = None,
        results: Iterable[str] = ("",),
    ) -> Program:
        """What computes an expression.

        Args:
            given: the expression, by lines.
            inputs: its tensors -> vectors that hold them.
            numbers: its other arguments -> what they are in the language.
            results: names in it whose values are wanted.

        Raises:
            UntranslatableError: the language lacks a step of it.
        """
        writer = _Writer(self, dict(inputs), dict(numbers or {}))
        for name, value in self.spelled(given):
            writer.names[name] = writer.write(value)
        places = {name: writer.names[name] for name in results}
        return _laid_out(writer.steps, places, self.buffer)


_Place = str | int
"""An input by its name, or the number of the step that computes it."""


class _Step(Struct, frozen=True):
    lines: str
    value: str
    used: tuple[tuple[str, _Place], ...]


@dataclass(slots=True)
class _Writer:
    """Writes depth first; what has been computed once is not computed again."""

    dialect: VectorDialect
    names: dict[str, _Place]
    numbers: dict[str, str]
    steps: dict[_Step, int] = field(default_factory=dict)

    def write(self, node: ast.expr) -> _Place:
        """Where the value of an expression is, once the steps so far have run."""
        number = self._number(node)
        if number:
            return self._step(self.dialect.fill, value=number)
        match node:
            case ast.Name(id=name):
                return self.names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._step(self.dialect.unary["-"], a=self.write(operand))
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr()) | ast.Compare():
                return self._choice(node, ast.Constant(value=1), ast.Constant(value=0))
            case ast.BinOp(left=left, op=operator, right=right):
                return self._two(_BINARY[type(operator)], left, right)
            case ast.Call(func=ast.Name(id="where"), args=[condition, first, second]):
                return self._choice(condition, first, second)
            case ast.Call(func=ast.Name(id=name), args=[operand]):
                return self._step(self.dialect.unary[name], a=self.write(operand))
            case ast.Call(func=ast.Name(id=name), args=[left, right]):
                return self._two(name, left, right)
            case _:
                raise UntranslatableError(ast.unparse(node))

    def _number(self, node: ast.expr) -> str:
        """A number in the language; "" for what is none."""
        match node:
            case ast.Name(id="inf"):
                return self.dialect.inf
            case ast.Name(id="nan"):
                return self.dialect.nan
            case ast.Name(id="pi"):
                return "3.141592653589793f"
            case ast.Name(id=name):
                return self.numbers.get(name, "")
            case ast.Constant(value=int() | float() as value):
                return f"{float(value)!r}f"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self._number(operand)
                return number and (number[1:] if number.startswith("-") else f"-{number}")
            case _:
                return ""

    def _two(self, name: str, left: ast.expr, right: ast.expr) -> _Place:
        if name == "-" and self._number(right):
            name, right = "+", ast.UnaryOp(op=ast.USub(), operand=right)
        if name in ("+", "*"):
            for one, other in ((left, right), (right, left)):
                if (number := self._number(one)) and not self._number(other):
                    return self._step(self.dialect.scalar[name], number, a=self.write(other))
        if self._number(left):  # later, so that it does not wait in a buffer
            second = self.write(right)
            return self._step(self.dialect.binary[name], a=self.write(left), b=second)
        return self._step(self.dialect.binary[name], a=self.write(left), b=self.write(right))

    def _choice(self, condition: ast.expr, first: ast.expr, second: ast.expr) -> _Place:
        match condition:
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                return self._choice(left, _where(right, first, second), second)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._choice(left, first, _where(right, first, second))
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                sign = _COMPARE[type(operator)]
                if sign not in self.dialect.choose:
                    raise UntranslatableError(sign)
                x, y = self.write(first), self.write(second)
                a, b = self.write(left), self.write(right)
                return self._step(self.dialect.choose[sign], x=x, y=y, a=a, b=b)
            case _:
                raise UntranslatableError(ast.unparse(condition))

    def _step(self, lines: str, value: str = "", **used: _Place) -> int:
        return self.steps.setdefault(_Step(lines, value, tuple(used.items())), len(self.steps))


def _laid_out(steps: Mapping[_Step, int], results: Mapping[str, _Place], buffer: str) -> Program:
    """Give each step a buffer, which is free again after the last step that uses it."""
    last = {place: number for step, number in steps.items() for _, place in step.used}
    last |= dict.fromkeys(results.values(), len(steps))
    free: list[int] = []
    buffers: dict[_Place, int] = {}
    most = 0
    lines: list[str] = []

    def named(place: _Place) -> str:
        return place if isinstance(place, str) else buffer.format(buffers[place])

    for step, number in steps.items():
        if not free:
            free.append(most)
            most += 1
        buffers[number] = free.pop()
        places = {letter: named(place) for letter, place in step.used}
        lines += step.lines.format(d=named(number), value=step.value, **places).splitlines()
        done = {place for _, place in step.used if last[place] == number}
        free += sorted(buffers[place] for place in done if place in buffers)
    return Program(tuple(lines), {name: named(place) for name, place in results.items()}, most)


def _where(condition: ast.expr, first: ast.expr, second: ast.expr) -> ast.expr:
    return ast.Call(func=ast.Name(id="where"), args=[condition, first, second], keywords=[])


def names_of(given: Iterable[Statement]) -> frozenset[str]:
    """Every name that an expression reads."""
    return frozenset(
        node.id for _, value in given for node in ast.walk(value) if isinstance(node, ast.Name)
    )
