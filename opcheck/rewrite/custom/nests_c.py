"""Nests of loops in C, for one place of the result."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from opcheck.rewrite.custom.nests import (
    Kind,
    Language,
    Names,
    Scribe,
    Text,
    Words,
    assigned_often,
    bounds,
    statements,
)

_FUNCTIONS = ("exp", "log", "sqrt", "floor", "rint")


class InC(Struct, frozen=True):
    """C++ with ``T`` for the type of a number."""

    language: Language
    whole: str = "int64_t"
    """The type of integers."""
    write: str = "{0}_at[{1}] = {2};"
    """Of a result {0} at {1}, the value {2}."""

    def lines(self, text: str, names: Names) -> tuple[str, ...]:
        """What computes a text.

        Raises:
            UntranslatableError: the language lacks a function of it.
        """
        scribe = Scribe(self.language, names)
        return tuple(_Writer(self, scribe, assigned_often(text)).block(statements(text)))


class _Writer(Struct):
    how: InC
    scribe: Scribe
    often: frozenset[str]

    def block(self, given: Iterable[ast.stmt]) -> Iterator[str]:
        """The statements of one scope: a name that it assigns first is not known behind it."""
        before = dict(self.scribe.known)
        for node in given:
            yield from self._statement(node)
        self.scribe.known = before

    def _statement(self, node: ast.stmt) -> Iterator[str]:
        expression = self.scribe.expression
        match node:
            case ast.For(body=body):
                name, (start, stop) = bounds(node)
                begin, end = expression(start).text, expression(stop).text
                yield f"for ({self.how.whole} {name} = {begin}; {name} < {end}; ++{name}) {{"
                before = dict(self.scribe.known)
                self.scribe.known[name] = Text(name, Kind.WHOLE)
                yield from (f"  {line}" for line in self.block(body))
                self.scribe.known = before
                yield "}"
            case ast.If(test=test, body=body, orelse=[]):
                yield f"if {expression(test).text} {{"
                yield from (f"  {line}" for line in self.block(body))
                yield "}"
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield self._assigned(name, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=operator, value=value):
                read = ast.Name(id=target.id)
                yield self._assigned(name, ast.BinOp(left=read, op=operator, right=value))
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=name), slice=at)], value=value
            ):
                yield self._written(name, expression(at).text, value)
            case _:
                raise ValueError(f"no part of a nest: {ast.unparse(node)}")

    def _assigned(self, name: str, value: ast.expr) -> str:
        if name in self.scribe.names.results:
            return self._written(name, "place", value)
        found = self.scribe.expression(value)
        if name in self.scribe.known:
            wanted = self.scribe.known[name].kind
            text = self.scribe.number(found).text if wanted is Kind.NUMBER else found.text
            return f"{name} = {text};"
        self.scribe.known[name] = Text(name, found.kind)
        kind = "T" if found.kind is Kind.NUMBER else self.how.whole
        return f"{'' if name in self.often else 'const '}{kind} {name} = {found.text};"

    def _written(self, name: str, at: str, value: ast.expr) -> str:
        return self.how.write.format(name, at, self.scribe.expression(value).text)


def words(functions: Mapping[str, str], whole: str = "int64_t", constant: str = "T({0})") -> Words:
    """How C says the parts of an expression, with these functions."""
    return Words(
        functions=functions,
        where="({0} ? {1} : {2})",
        constant=constant,
        lowest="-T(INFINITY)",
        quotient="({0} / {1})",
        number="T({0})",
        whole=f"{whole}({{0}})",
        both="({0} && {1})",
        either="({0} || {1})",
    )


PLAIN = words({"abs": "fabs({0})", **{name: f"{name}({{0}})" for name in _FUNCTIONS}})
"""With the functions of C's ``math.h``."""
OWN = words({name: f"{name}_of({{0}})" for name in ("abs", "exp", "floor", "rint")})
"""With those alone that a template spells out, where a core computes single numbers."""
