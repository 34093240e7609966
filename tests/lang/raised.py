"""What errors are made with: read from the sources, through the names that hold it on its way."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path

from tests.lang.messages import PACKAGE, PLACE, Message, text_of

TAKEN_OVER = (
    "BoundsError",
    "FieldError",
    "ShapeError",
    "SizeError",
    "UnreadableError",
    "UntranslatableError",
)
"""Errors that are none of ours to show, but whose text one of ours takes over."""
HANDED = {"message", "hint", "what", "why", "wanted", "problem", "reason", "wrong", "expected"}
"""What a function calls a text that it is given for an error."""


@dataclass(slots=True)
class Scope:
    """A module, or a function in it: what its names hold, what it calls, and what it gives."""

    path: str
    outer: "Scope | None" = None
    takes: frozenset[str] = frozenset()
    held: dict[str, list[ast.expr]] = field(default_factory=dict)
    calls: list[ast.Call] = field(default_factory=list)
    gives: list[ast.expr] = field(default_factory=list)


class _Reader(ast.NodeVisitor):
    """Reads the modules of the package, each node once."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.functions: dict[str, list[Scope]] = {}
        self.bases: dict[str, set[str]] = {}

    def read(self, path: Path) -> None:
        self.scopes.append(Scope(path.relative_to(PACKAGE.parent).as_posix()))
        self.inside = self.scopes[-1]
        self.generic_visit(ast.parse(path.read_text(encoding="utf-8")))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.inside
        takes = frozenset(one.arg for one in (*node.args.args, *node.args.kwonlyargs))
        self.inside = Scope(outer.path, outer, takes)
        self.scopes.append(self.inside)
        self.functions.setdefault(node.name, []).append(self.inside)
        self.generic_visit(node)
        self.inside = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bases[node.name] = {_last(base) for base in node.bases}
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.inside.calls.append(node)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.inside.gives.append(node.value)
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        for name, value in _assigned(node):
            self.inside.held.setdefault(name, []).append(value)
        super().generic_visit(node)


@cache
def raised() -> Sequence[Message]:
    """Every sentence, or part of one, that an error is made with somewhere in the package."""
    reader = _Reader()
    for path in sorted(PACKAGE.rglob("*.py")):
        reader.read(path)
    makers = _makers(reader)
    found = [
        message
        for scope in reader.scopes
        for call in scope.calls
        if _last(call.func) in makers
        for given in _given(call)
        for message in _said(given, scope, reader, frozenset())
    ]
    return tuple({(one.path, one.line, one.text): one for one in found}.values())


def says(text: str) -> bool:
    """Whether a text has words between its places: what has none is a name, or code."""
    return (
        " " in text
        and "\n" not in text
        and bool(re.search(r"(?:^|\s)[a-z]{2,}(?=[\s,;:)]|$)", text))
    )


def _makers(reader: _Reader) -> frozenset[str]:
    """The errors, and the functions that hand a text that they are given to one."""
    known = {"OpcheckError", *TAKEN_OVER}
    while more := {name for name, above in reader.bases.items() if above & known} - known:
        known |= more
    own = {name: found[0] for name, found in reader.functions.items() if len(found) == 1}
    while more := {name for name, scope in own.items() if _hands_on(scope, known)} - known:
        known |= more
    return frozenset(known)


def _hands_on(scope: Scope, makers: set[str]) -> bool:
    """Whether what a function takes reaches an error that it makes, as it is or in a text."""
    taken = scope.takes & HANDED
    return bool(taken) and any(
        _bare(given) & taken
        for call in scope.calls
        if _last(call.func) in makers
        for given in _given(call)
    )


def _said(
    value: ast.expr, scope: Scope, reader: _Reader, seen: frozenset[str]
) -> Iterator[Message]:
    match value:
        case ast.Constant(value=str()) | ast.JoinedStr():
            for text in _wordings(value, scope, seen):
                if says(text):
                    yield Message(text, scope.path, value.lineno)
        case ast.Name(id=name) if name not in seen:
            for where, inner in _held(name, scope, reader):
                yield from _said(inner, where, reader, seen | {name})
        case ast.Call(func=ast.Name(id=name)) if name not in seen:
            for function in reader.functions.get(name, ()):
                for inner in function.gives if function.path == scope.path else ():
                    yield from _said(inner, function, reader, seen | {name})
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from _said(one, scope, reader, seen)
            yield from _said(other, scope, reader, seen)
        case ast.BoolOp(values=values) | ast.Tuple(elts=values):
            for inner in values:
                yield from _said(inner, scope, reader, seen)


def _wordings(value: ast.expr, scope: Scope, seen: frozenset[str]) -> Iterator[str]:
    """A literal, with whatever texts a function's own names bring into it."""
    match value:
        case ast.JoinedStr(values=values):
            ways = (tuple(_wordings(part, scope, seen)) for part in values)
            yield from map("".join, product(*ways))
        case ast.FormattedValue(value=ast.Name(id=name), conversion=-1) if name not in seen:
            held = scope.held.get(name, ()) if scope.outer else ()
            yield from [text for one in held for text in _wordings(one, scope, seen | {name})] or [
                PLACE
            ]
        case ast.FormattedValue():
            yield text_of(ast.JoinedStr([value]))
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from _wordings(one, scope, seen)
            yield from _wordings(other, scope, seen)
        case _:
            yield PLACE


def _held(name: str, scope: Scope, reader: _Reader) -> Iterator[tuple[Scope, ast.expr]]:
    """What a name may hold: here, around here, or in the module that it is imported from."""
    around: Scope | None = scope
    while around is not None:
        if name in around.held:
            yield from ((around, value) for value in around.held[name])
            return
        around = around.outer
    for other in reader.scopes:
        if other.outer is None and name.isupper():
            yield from ((other, value) for value in other.held.get(name, ()))


def _last(node: ast.expr) -> str:
    """The name of what is called or derived from, without its module."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _given(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def _bare(value: ast.expr) -> set[str]:
    """The names that an argument is, or that stand in its text as they are."""
    match value:
        case ast.Name(id=name):
            return {name}
        case ast.JoinedStr(values=values):
            places = [part for part in values if isinstance(part, ast.FormattedValue)]
            return set().union(*(_bare(part.value) for part in places if part.conversion == -1))
        case ast.IfExp(body=one, orelse=other):
            return _bare(one) | _bare(other)
        case _:
            return set()


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            for one, value in zip(names, values, strict=False):
                if isinstance(one, ast.Name):
                    yield one.id, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value
