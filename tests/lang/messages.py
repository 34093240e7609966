"""What the code can say: read from its sources, as templates whose places have no names."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.app import guide
from opcheck.app.main import application
from opcheck.db.files.document import uncollected
from opcheck.source.load import kinds

PACKAGE = Path(__file__).parents[2] / "opcheck"
PLACE = "{}"


@dataclass(frozen=True, slots=True)
class Message:
    """A text in the sources that people read."""

    text: str
    path: str
    line: int

    @property
    def shape(self) -> str:
        """The text with places that have no names."""
        return shape(self.text)


def shape(text: str) -> str:
    """A template with its places nameless, so that a catalogue may name them as it likes."""
    return re.sub(r"\{[^{}]*\}", PLACE, text)


def is_prose(text: str) -> bool:
    """Whether a literal is a sentence or part of one: two words of letters with a space between."""
    return bool(re.search(r"[A-Za-z]{2,},? [a-z]", text)) and not text.startswith(
        ("http", "opcheck ", "<")
    )


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a module, itself the first; read once for all that look for something in it."""
    with uncollected():
        return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def literals(path: Path) -> tuple[Message, ...]:
    """Every text of a module but docstrings, an f-string as a template."""
    return tuple(_literals(path))


def _literals(path: Path) -> Iterator[Message]:
    nodes = nodes_of(path)
    quiet = {
        id(part) for part in nodes if isinstance(part, ast.Expr) for part in (part, part.value)
    }
    inside: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            for value in node.values:
                if isinstance(value, ast.FormattedValue) and value.format_spec is not None:
                    inside.add(id(value.format_spec))
                    inside |= {id(p) for p in ast.walk(value.format_spec)}
    where = path.relative_to(PACKAGE.parent).as_posix()
    for node in nodes:
        if id(node) in quiet or id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            yield Message(text_of(node), where, node.lineno)


def text_of(node: ast.Constant | ast.JoinedStr) -> str:
    """The text of a literal; of an f-string, a template."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
        elif isinstance(value, ast.FormattedValue):
            parts.append("'{}'" if value.conversion == ord("r") else PLACE)
    return "".join(parts)


def help_messages() -> frozenset[str]:
    """Every text of the help: of commands, options, their defaults, and what stands below."""
    found: set[str] = set()
    for command in _commands(application()):
        found.update(inspect.cleandoc(command.help or "").split("\n\n"))
        for option in command.params:
            found.add(getattr(option, "help", None) or "")
            found.add(option.show_default if isinstance(option.show_default, str) else "")
    for table in (guide.INPUTS, guide.DYNAMIC, guide.STEPS, guide.EXIT_CODES):
        found.update(table.values())
    found.update(kind.help for kind in kinds())
    return frozenset(filter(_has_words, (" ".join(text.split()) for text in found)))


def _commands(command: Any) -> Iterator[Any]:
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from _commands(inner)


def _has_words(text: str) -> bool:
    return bool(re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", text))
