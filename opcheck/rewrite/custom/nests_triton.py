"""Nests of loops in Triton, for a block of places: what differs among them goes by masks."""

import ast
from collections.abc import Iterable, Iterator

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

WORDS = Words(
    functions={name: f"tl.{name}({{0}})" for name in ("abs", "exp", "log", "sqrt", "floor")}
    | {
        "rint": (
            "tl.where({0} - tl.floor({0}) == 0.5, 2.0 * tl.floor((tl.floor({0}) + 1.0) * 0.5), "
            "tl.floor({0} + 0.5))"
        )
    },
    where="tl.where({0}, {1}, {2})",
    constant="tl.full([], {0}, kind)",
    lowest='tl.full([], float("-inf"), kind)',
    quotient="({0} // {1})",
    number="(({0}) + nothing).to(kind)",
    whole="({0}).to(WHOLE)",
    both="({0} & {1})",
    either="({0} | {1})",
)
_READ = "tl.load({0}_at + ({1}) + nothing, mask=MASK, other=0)"
LANGUAGE = Language(WORDS, _READ, f"{_READ}.to(WHOLE)")
"""``nothing`` is a block of zeros, ``kind`` the dtype of numbers; WHOLE and MASK are filled in."""


def lines(text: str, names: Names, whole: str) -> tuple[str, ...]:
    """What computes a text for the lanes of ``place`` that are ``inside``.

    Args:
        text: of the nest.
        names: what it may read.
        whole: the dtype of integers.

    Raises:
        UntranslatableError: Triton lacks a function of it.
    """
    writer = _Writer(Scribe(LANGUAGE, names), assigned_often(text), whole)
    return tuple(writer.block(statements(text), "inside"))


class _Writer(Struct):
    scribe: Scribe
    often: frozenset[str]
    whole: str
    masks: int = 0
    declared: dict[str, str] = {}
    """Name -> the mask that it was first assigned under."""

    def block(self, given: Iterable[ast.stmt], mask: str) -> Iterator[str]:
        """The statements of one scope, for the lanes of a mask."""
        before, declared = dict(self.scribe.known), dict(self.declared)
        for node in given:
            yield from self._statement(node, mask)
        self.scribe.known, self.declared = before, declared

    def _statement(self, node: ast.stmt, mask: str) -> Iterator[str]:
        match node:
            case ast.For():
                yield from self._loop(node, mask)
            case ast.If(test=test, body=body, orelse=[]) if self.scribe.expression(test).even:
                yield f"if {self._said(test, mask).text}:"
                yield from (f"    {line}" for line in self.block(body, mask))
            case ast.If(test=test, body=body, orelse=[]):
                inner = self._mask()
                yield f"{inner} = {mask} & {self._said(test, mask).text}"
                yield from self.block(body, inner)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield self._assigned(name, value, mask)
            case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                left = ast.Name(id=name)
                yield self._assigned(name, ast.BinOp(left=left, op=operator, right=value), mask)
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=name), slice=at)], value=value
            ):
                yield self._written(name, self._said(at, mask).text, value, mask)
            case _:
                raise ValueError(f"no part of a nest: {ast.unparse(node)}")

    def _loop(self, node: ast.For, mask: str) -> Iterator[str]:
        name, given = bounds(node)
        start, stop = (self._said(each, mask) for each in given)
        known = dict(self.scribe.known)
        if start.even and stop.even:
            self.scribe.known[name] = Text(name, Kind.WHOLE, even=True)
            yield f"for {name} in range({start.text}, {stop.text}):"
            yield from (f"    {line}" for line in self.block(node.body, mask))
        else:
            inner, span = self._mask(), f"({stop.text}) - ({start.text})"
            self.scribe.known[name] = Text(name, Kind.WHOLE)
            yield f"for {name}_step in range(0, tl.max(tl.where({mask}, {span}, 0), 0)):"
            yield f"    {name} = ({start.text}) + {name}_step + nothing"
            yield f"    {inner} = {mask} & ({name} < ({stop.text}))"
            yield from (f"    {line}" for line in self.block(node.body, inner))
        self.scribe.known = known

    def _assigned(self, name: str, value: ast.expr, mask: str) -> str:
        if name in self.scribe.names.results:
            return self._written(name, "place", value, mask)
        found = self._said(value, mask)
        if name not in self.scribe.known:
            self.declared[name] = mask
            self.scribe.known[name] = Text(name, found.kind, found.even and name not in self.often)
            return f"{name} = {self._block(found) if name in self.often else found.text}"
        if self.scribe.known[name].kind is Kind.NUMBER:
            found = self.scribe.number(found)
        if self.declared[name] == mask:
            return f"{name} = {found.text}"
        return f"{name} = tl.where({mask}, {found.text}, {name})"

    def _written(self, name: str, at: str, value: ast.expr, mask: str) -> str:
        found = self._said(value, mask).text
        return f"tl.store({name}_at + ({at}) + nothing, {found}, mask={mask})"

    def _block(self, found: Text) -> str:
        """A value for each lane, which stays of one type when it is assigned anew."""
        if found.kind is Kind.NUMBER:
            return f"({found.text}) + tl.zeros([BLOCK], kind)"
        return f"({found.text}) + nothing"

    def _said(self, node: ast.expr, mask: str) -> Text:
        found = self.scribe.expression(node)
        text = found.text.replace("MASK", mask).replace("WHOLE", self.whole)
        return Text(text, found.kind, found.even)

    def _mask(self) -> str:
        self.masks += 1
        return f"inside_{self.masks}"
