"""A function as text that stands for itself: with the helpers and imports that it needs."""

import ast
import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Any


def standalone(function: Callable[..., Any], name: str = "") -> str:
    """Give Python that defines ``function`` and runs wherever torch does.

    Args:
        function: of a module that needs nothing but its imports and its own functions.
        name: what to call it there; its own name if empty.
    """
    module = inspect.getmodule(function)
    assert module is not None, "a function of a module"
    statements = _statements(module)
    wanted = _reached(function.__name__, statements)
    chosen = sorted((statements[n] for n in wanted), key=lambda statement: statement.lineno)
    imports = [s for s in dict.fromkeys(chosen) if isinstance(s, ast.Import | ast.ImportFrom)]
    others = [s for s in dict.fromkeys(chosen) if s not in imports]
    lines = inspect.getsource(module).splitlines()
    parts = ["\n".join(ast.unparse(_only(s, wanted)) for s in imports)] if imports else []
    parts += [statement_text(statement, lines) for statement in others]
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
        open_names.extend(_asked(statements[wanted]))
    return found


def _asked(statement: ast.stmt) -> set[str]:
    """Names that a statement takes from the module: not those that it binds for itself."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - own


def statement_text(statement: ast.stmt, lines: Sequence[str]) -> str:
    """The lines of a statement, its decorators first, out of those of its module."""
    assert statement.end_lineno is not None
    start = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
    return "\n".join(lines[start - 1 : statement.end_lineno])
