"""Commands that pages name without showing what they print are ones that the command line takes.

Those in blocks ``console`` are run, by ``tests/test_readme.py``; all others are parsed here, whole
where they stand in a block, by command and options where they stand in a line.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import typer

from handbook.commands import commands, program
from opcheck.app.guide import EXAMPLES
from opcheck.errors import OpcheckError
from tests.console import ROOT

PAGES = tuple(
    path
    for path in (
        *sorted(ROOT.glob("README*.md")),
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    )
    if path.name != "rules.md"
)
_FENCE = re.compile(r"^```(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`(opcheck [^`]+)`")
_END = re.compile(r"\s(?:\||&&|;|>|2>)\s|\s+#\s")
"""Where a command ends and the rest of its line begins."""
_HANDWRITING = {"…": "", "[": "", "]": ""}


def _blocks(text: str) -> Iterator[str]:
    """Command lines in blocks that are not run."""
    for fence in _FENCE.finditer(text):
        if fence["kind"] != "console":
            for line in fence["body"].splitlines():
                found = re.match(r"\s*(?:- run: |- |\$ )?(opcheck [a-z-].*)", line)
                if found:
                    yield _END.split(found[1])[0].strip()


def _lines(text: str) -> Iterator[str]:
    """Commands within lines."""
    yield from (" ".join(found.split()) for found in _INLINE.findall(_FENCE.sub("", text)))


def _cases(kind: Any) -> list[tuple[str, str]]:
    found = ((path, kind(path.read_text(encoding="utf-8"))) for path in PAGES)
    return [(path.relative_to(ROOT).as_posix(), line) for path, lines in found for line in lines]


IN_BLOCKS = [*_cases(_blocks), *(("opcheck --help", example) for example in EXAMPLES)]
IN_LINES = _cases(_lines)


def _command(arguments: Sequence[str]) -> tuple[Any, str, list[str], Any]:
    """The command that arguments are for, its name, what is left, and its parent's context."""
    found, name, rest, parent = program(), "opcheck", list(arguments), None
    while rest and rest[0] in getattr(found, "commands", {}):
        parent = found.make_context(name, [], parent=parent, resilient_parsing=True)
        name = rest.pop(0)
        found = found.commands[name]
    if rest and (default := getattr(found, "default", "")):
        parent = found.make_context(name, [], parent=parent, resilient_parsing=True)
        found = found.commands[default]
    return found, name, rest, parent


def test_pages_name_commands() -> None:
    assert min(len(IN_BLOCKS), len(IN_LINES)) > 20


@pytest.mark.parametrize(("page", "line"), IN_BLOCKS)
def test_a_command_in_a_block_is_understood(page: str, line: str) -> None:
    found, name, rest, parent = _command(shlex.split(line)[1:])
    assert not hasattr(found, "commands") or rest[0].startswith("-"), f"{page}: no such command"
    try:
        found.make_context(name, rest, parent=parent)
    except (typer.Exit, OpcheckError) as stop:
        assert isinstance(stop, typer.Exit), f"{page}: {line}: {stop}"


@pytest.mark.parametrize(("page", "line"), IN_LINES)
def test_a_command_in_a_line_has_such_options(page: str, line: str) -> None:
    for mark, plain in _HANDWRITING.items():
        line = line.replace(mark, plain)
    words = [word.partition("=")[0] for word in _END.split(line)[0].split()[1:]]
    found, name, rest, parent = _command(words)
    context = found.make_context(name, [], parent=parent, resilient_parsing=True)
    known = {option for parameter in found.get_params(context) for option in parameter.opts}
    unknown = (
        {word for word in rest if word.startswith("-") and word != "-"} - known - {"--help", "-h"}
    )
    assert not unknown, f"{page}: {line}"
    assert words == [] or name != "opcheck" or rest[0].startswith("-"), f"{page}: no such command"


def test_every_command_is_found() -> None:
    named = {command.name for command in commands()}
    assert {"opcheck scan", "opcheck db status", "opcheck db import"} <= named
