"""Texts of several rules as one module: what they share once, what they name alike apart."""

import ast
import textwrap
from collections.abc import Iterable


class Module:
    """A module being put together; imports come first, then everything else in order."""

    def __init__(self) -> None:
        self._imports: dict[str, None] = {}
        self._parts: dict[str, str] = {}
        """Name of what a statement defines -> its text."""
        self._wrapped: dict[str, str] = {}
        """Text of a whole rule -> the name that its function has here."""

    def add(self, code: str, function: str) -> str:
        """Add a rule's text; gives the name by which its function is called here.

        Where another rule has defined something else by one of its names, all of it goes into a
        function of its own.
        """
        if code in self._wrapped:
            return self._wrapped[code]
        imports, parts = _taken_apart(code)
        clashes = any(self._parts.get(name, text) != text for name, text in parts.items())
        self._imports.update(dict.fromkeys(imports))
        if not clashes:
            self._parts.update(parts)
            return function
        name = self._unused(function)
        body = textwrap.indent("\n\n".join(parts.values()), "    ")
        maker = f"_make_{name}"
        self._parts[maker] = f"def {maker}():\n{body}\n\n    return {function}"
        self._parts[name] = f"{name} = {maker}()"
        self._wrapped[code] = name
        return name

    def _unused(self, name: str) -> str:
        number = 2
        while f"{name}_{number}" in self._parts:
            number += 1
        return f"{name}_{number}"

    @property
    def imports(self) -> str:
        """The import statements, a line each."""
        plain = sorted(text for text in self._imports if text.startswith("import "))
        named = sorted(text for text in self._imports if not text.startswith("import "))
        return "\n".join([*plain, *named])

    @property
    def body(self) -> str:
        """Everything that is defined."""
        return "\n\n\n".join(self._parts.values())


def _taken_apart(code: str) -> tuple[Iterable[str], dict[str, str]]:
    """Import statements, and the other statements of the top level by what they define."""
    lines = code.splitlines()
    imports: list[str] = []
    parts: dict[str, str] = {}
    for statement in ast.parse(code).body:
        start = min(
            [statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))]
        )
        text = "\n".join(lines[start - 1 : statement.end_lineno])
        match statement:
            case ast.Import() | ast.ImportFrom():
                imports.append(text)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                parts[name] = text
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                parts[name] = text
            case _:
                parts[text] = text
    return imports, parts
