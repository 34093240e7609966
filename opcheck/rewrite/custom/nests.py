"""Nested loops said in the languages of toolchains: one place of a result, or a block of places.

A text is Python: assignments, ``for name in range(start, stop)``, ``if`` without ``else``, reads
of tensors (``self[index]``) and writes of results (``result0 = value`` at the place itself, or
``result0[index] = value``). Integers are apart from numbers, which are of the dtype that is
computed in: ``number(i)`` and ``whole(x)`` convert, ``//`` and ``%`` are of integers from 0 on.
``least`` and ``most`` choose among two, ``where`` among two that are computed both, so that it
reads no tensor.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from msgspec import Struct

from opcheck.rewrite.custom.definitions import UntranslatableError

_SIGNS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip


class Kind(Enum):
    """What an expression gives."""

    NUMBER = auto()
    WHOLE = auto()
    TRUTH = auto()


class Names(Struct, frozen=True):
    """What a text may read."""

    sizes: tuple[str, ...]
    values: tuple[str, ...]
    tensors: tuple[str, ...]
    wholes: tuple[str, ...]
    """The tensors among them that hold integers."""
    results: tuple[str, ...]


class Text(Struct, frozen=True):
    """An expression in a language."""

    text: str
    kind: Kind
    even: bool = False
    """Whether it is the same for all places, since it depends on sizes and values alone."""


class Words(Struct, frozen=True):
    """How a language says the parts of an expression; {0}, {1}, ... are those it is made of."""

    functions: Mapping[str, str]
    """Function of numbers -> how it is called; others cannot be said."""
    where: str
    constant: str
    """A number that is written down."""
    lowest: str
    quotient: str
    number: str
    """An integer as a number."""
    whole: str
    """A number as an integer, cut off."""
    both: str
    either: str


class Language(Struct, frozen=True):
    """A language in which nests of loops are written."""

    words: Words
    read: str
    """Of a tensor {0} at {1}."""
    read_whole: str = ""
    """The same of a tensor of integers, where it differs."""


def assigned_often(text: str) -> frozenset[str]:
    """The names that a text assigns more than once."""
    names = [name for node in ast.walk(ast.parse(text)) for name in _assigned(node)]
    return frozenset(name for name in names if names.count(name) > 1)


def _assigned(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            yield name


@dataclass(slots=True)
class Scribe:
    """Writes expressions; what a statement becomes is for the languages."""

    language: Language
    names: Names
    known: dict[str, Text] = field(default_factory=dict)
    """Names that were assigned, and the variables of loops."""

    def __post_init__(self) -> None:
        self.known["place"] = Text("place", Kind.WHOLE)
        self.known |= {name: Text(name, Kind.WHOLE, even=True) for name in self.names.sizes}
        self.known |= {name: Text(name, Kind.NUMBER, even=True) for name in self.names.values}

    def expression(self, node: ast.expr) -> Text:
        """An expression in the language.

        Raises:
            UntranslatableError: the language lacks a function of it.
        """
        words = self.language.words
        match node:
            case ast.Name(id="lowest"):
                return Text(words.lowest, Kind.NUMBER, even=True)
            case ast.Name(id=name):
                return self.known[name]
            case ast.Constant(value=int() as value):
                return Text(str(value), Kind.WHOLE, even=True)
            case ast.Constant(value=float() as value):
                return Text(words.constant.format(repr(value)), Kind.NUMBER, even=True)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                given = self.expression(operand)
                return Text(f"(-{given.text})", given.kind, given.even)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._two(self.expression(left), operator, self.expression(right))
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                one, other = self._alike(self.expression(left), self.expression(right))
                text = f"({one.text} {_SIGNS[type(operator)]} {other.text})"
                return Text(text, Kind.TRUTH, one.even and other.even)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self._read(name, self.expression(index))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._called(name, [self.expression(a) for a in args])
            case _:
                raise ValueError(f"no part of an expression: {ast.unparse(node)}")

    def number(self, given: Text) -> Text:
        """A value as a number."""
        if given.kind is Kind.NUMBER:
            return given
        return Text(self.language.words.number.format(given.text), Kind.NUMBER)

    def _alike(self, *given: Text) -> tuple[Text, ...]:
        """Values of one kind: numbers, unless all are integers."""
        if all(each.kind is Kind.WHOLE for each in given):
            return given
        return tuple(self.number(each) for each in given)

    def _two(self, left: Text, operator: ast.operator, right: Text) -> Text:
        even, words = left.even and right.even, self.language.words
        match operator:
            case ast.BitAnd() | ast.BitOr():
                form = words.both if isinstance(operator, ast.BitAnd) else words.either
                return Text(form.format(left.text, right.text), Kind.TRUTH, even)
            case ast.FloorDiv():
                return Text(words.quotient.format(left.text, right.text), Kind.WHOLE, even)
            case ast.Mod():
                return Text(f"({left.text} % {right.text})", Kind.WHOLE, even)
            case ast.Div():
                one, other = self.number(left), self.number(right)
                return Text(f"({one.text} / {other.text})", Kind.NUMBER, one.even and other.even)
            case _:
                one, other = self._alike(left, right)
                text = f"({one.text} {_SIGNS[type(operator)]} {other.text})"
                return Text(text, one.kind, one.even and other.even)

    def _read(self, name: str, index: Text) -> Text:
        if name in self.names.wholes:
            read = self.language.read_whole or self.language.read
            return Text(read.format(name, index.text), Kind.WHOLE)
        return Text(self.language.read.format(name, index.text), Kind.NUMBER)

    def _called(self, name: str, given: list[Text]) -> Text:
        words, even = self.language.words, all(each.even for each in given)
        match name, given:
            case "where", [condition, *values]:
                one, other = self._alike(*values)
                text = words.where.format(condition.text, one.text, other.text)
                return Text(text, one.kind, even)
            case "least" | "most", [left, right]:
                one, other = self._alike(left, right)
                sign = "<" if name == "least" else ">"
                first = f"({one.text} {sign} {other.text})"
                return Text(words.where.format(first, one.text, other.text), one.kind, even)
            case "number", [value]:
                return self.number(value)
            case "whole", [value]:
                return Text(words.whole.format(value.text), Kind.WHOLE)
            case _:
                if name not in words.functions:
                    raise UntranslatableError(name)
                numbers = [self.number(each).text for each in given]
                return Text(words.functions[name].format(*numbers), Kind.NUMBER)


def statements(text: str) -> Iterable[ast.stmt]:
    """The statements of a text."""
    return ast.parse(text).body


def bounds(node: ast.For) -> tuple[str, list[ast.expr]]:
    """The variable of a loop, and what its range begins and ends with."""
    match node:
        case ast.For(
            target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=given)
        ):
            return name, [ast.Constant(value=0), *given] if len(given) == 1 else given
        case _:
            raise ValueError(f"no loop over a range: {ast.unparse(node)}")
