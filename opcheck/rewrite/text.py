"""A function as text that stands for itself, and the texts of several rules as one module."""

import ast
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from msgspec import Struct


def standalone(function: Callable[..., Any], *others: Callable[..., Any], name: str = "") -> str:
    """Give Python that defines ``function`` and runs wherever torch does.

    Args:
        function: of a module that needs nothing but its imports and its own functions.
        others: of the same module, to be defined as well.
        name: what to call it there; its own name if empty.
    """
    module = inspect.getmodule(function)
    assert module is not None, "a function of a module"
    statements = _statements(module)
    wanted = set[str]().union(*(_reached(f.__name__, statements) for f in (function, *others)))
    chosen = sorted((statements[n] for n in wanted), key=lambda statement: statement.lineno)
    imports = [s for s in dict.fromkeys(chosen) if isinstance(s, ast.Import | ast.ImportFrom)]
    rest = [s for s in dict.fromkeys(chosen) if s not in imports]
    lines = inspect.getsource(module).splitlines()
    parts = ["\n".join(ast.unparse(_only(s, wanted)) for s in imports)] if imports else []
    parts += [statement_text(statement, lines) for statement in rest]
    text = "\n\n\n".join(parts) + "\n"
    return text if not name else f"{text}\n\n{name} = {function.__name__}\n"


def _only(statement: ast.Import | ast.ImportFrom, wanted: Collection[str]) -> ast.stmt:
    """The statement without names that nothing asks for."""
    names = [a for a in statement.names if (a.asname or a.name.partition(".")[0]) in wanted]
    if isinstance(statement, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(statement.module, names, statement.level)


def needs(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names that the text of ``function`` defines or imports."""
    module = inspect.getmodule(function)
    assert module is not None, "a function of a module"
    return tuple(sorted(_reached(function.__name__, _statements(module))))


@cache
def _statements(module: ModuleType) -> dict[str, ast.stmt]:
    """The statements of a module's top level by the names that they bind."""
    found: dict[str, ast.stmt] = {}
    for statement in ast.parse(inspect.getsource(module)).body:
        for name in _bound(statement):
            found[name] = statement
    return found


def _bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in names)
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _reached(name: str, statements: dict[str, ast.stmt]) -> set[str]:
    found: set[str] = set()
    open_names = [name]
    while open_names:
        wanted = open_names.pop()
        if wanted in found or wanted not in statements:
            continue
        found.add(wanted)
        open_names.extend(_names_used(statements[wanted]))
    return found


@cache
def _names_used(statement: ast.stmt) -> frozenset[str]:
    """Names that a statement takes from the module: not those that it binds for itself."""
    read, own = set[str](), set[str]()
    for node in ast.walk(statement):
        if isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else own).add(node.id)
    return frozenset(read - own)


def statement_text(statement: ast.stmt, lines: Sequence[str]) -> str:
    """The lines of a statement, its decorators first, out of those of its module."""
    assert statement.end_lineno is not None
    start = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
    return "\n".join(lines[start - 1 : statement.end_lineno])


_LINE_END = re.compile(r"\r\n|\r|\n")


class Module:
    """A module being put together; imports come first, then everything else in order."""

    def __init__(self, around: str = "", taken: Iterable[str] = ()) -> None:
        """Put it together alone, or as a part of other code.

        Args:
            around: the text of the module that it becomes a part of; what that has is not added.
            taken: further names that mean something there.
        """
        imports, self._there = _taken_apart(around)
        self._around = {_text(one): one for one in imports if one.name not in self._there}
        self._taken = frozenset((*taken, *self._there, *(one.name for one in imports)))
        self._imports: dict[str, _Import] = {}
        """By its text."""
        self._parts: dict[str, str] = {}
        """Name of what a statement defines -> its text."""
        self._wrapped: dict[str, str] = {}
        """Text of a whole rule -> the name that its function has here."""

    def add(self, code: str, function: str) -> str:
        """Add a rule's text; gives the name by which its function is called here.

        Where one of its names has another meaning already, all of it goes into a function of its
        own.
        """
        if code in self._wrapped:
            return self._wrapped[code]
        imports, parts = _taken_apart(code)
        others = [one for one in imports if not self._may_import(one)]
        self._imports.update({_text(one): one for one in imports if one not in others})
        if not others and all(self._is_free(name, text) for name, text in parts.items()):
            self._parts.update(parts)
            return function
        body = "\n\n".join([*filter(None, [_import_lines(others)]), *parts.values()])
        name = self._wrap(function, textwrap.indent(body, "    "))
        self._wrapped[code] = name
        return name

    def _is_free(self, name: str, text: str) -> bool:
        """Whether a name may come to mean ``text``, or does already."""
        known = self._parts.get(name, self._there.get(name))
        return known == text or (known is None and name not in self._taken)

    def _may_import(self, wanted: "_Import") -> bool:
        """Whether the name of an import means that, or nothing yet."""
        known = [*self._imports.values(), *self._around.values()]
        meant = {one.meaning for one in known if one.name == wanted.name}
        if not meant:
            return wanted.name not in self._taken and wanted.name not in self._parts
        return meant == {wanted.meaning}

    def _wrap(self, function: str, body: str) -> str:
        """Give a function that has all of ``body`` to itself a name, its old one if it has."""
        for name in _numbered(function):
            maker = f"_make_{name}"
            parts = {
                maker: f"def {maker}():\n{body}\n\n    return {function}",
                name: f"{name} = {maker}()",
            }
            if all(self._is_free(key, text) for key, text in parts.items()):
                self._parts.update(parts)
                break
        return name

    @property
    def imports(self) -> str:
        """The import statements, a line each."""
        return _import_lines(o for text, o in self._imports.items() if text not in self._around)

    @property
    def body(self) -> str:
        """Everything that is defined, but for what is there already."""
        return "\n\n\n".join(t for n, t in self._parts.items() if self._there.get(n) != t)


def _numbered(name: str) -> Iterator[str]:
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


class _Import(Struct, frozen=True):
    """One name that an import statement binds."""

    name: str
    module: str
    """Of ``from module import``; "" for ``import``."""
    imported: str
    """What is imported, with its new name."""

    @property
    def meaning(self) -> tuple[str, str]:
        """What the name stands for: ``import a.b`` and ``import a`` both bind ``a``."""
        plain = not self.module and " as " not in self.imported
        return self.module, self.name if plain else self.imported


def _text(one: _Import) -> str:
    text = f"import {one.imported}"
    return f"from {one.module} {text}" if one.module else text


def _import_lines(imports: Iterable[_Import]) -> str:
    """Import statements sorted, those from one module together."""
    plain: set[str] = set()
    named: dict[str, set[str]] = defaultdict(set)
    for one in imports:
        if one.module:
            named[one.module].add(one.imported)
        else:
            plain.add(_text(one))
    froms = [f"from {module} import {', '.join(sorted(named[module]))}" for module in sorted(named)]
    return "\n".join([*sorted(plain), *froms])


def _imported_names(statement: ast.Import | ast.ImportFrom) -> Iterator[_Import]:
    """Each name that an import statement binds, apart."""
    module = ""
    if isinstance(statement, ast.ImportFrom):
        module = "." * statement.level + (statement.module or "")
    for alias in statement.names:
        text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        name = alias.asname or (alias.name if module else alias.name.partition(".")[0])
        yield _Import(name, module, text)


def _taken_apart(code: str) -> tuple[list[_Import], dict[str, str]]:
    """What is imported, and the other statements of the top level by what they define."""
    lines = _LINE_END.split(code)
    imports: list[_Import] = []
    parts: dict[str, str] = {}
    for statement in ast.parse(code).body:
        text = statement_text(statement, lines)
        match statement:
            case ast.Import() | ast.ImportFrom():
                imports += _imported_names(statement)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                parts[name] = text
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                parts[name] = text
            case _:
                parts[text] = text
    return imports, parts
