"""The formats of ``--format``: modules of a ``views`` folder, and the page that they write for.

What all of them can write is a report, by the modules of ``opcheck.views.report``. What a command
answers otherwise it writes by those of its own ``views`` folder. A name is found by its file, so a
run imports the one format that it writes.
"""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence


class Page(Struct, frozen=True):
    """Width, colour and detail; as given here, eighty columns without colour."""

    width: int = 80
    """Columns."""
    color: bool = False
    """Whether ANSI colour codes may be written."""
    ascii: bool = False
    """Whether marks and bars must be drawn in ASCII."""
    verbose: bool = False
    """Whether to list what is otherwise summarised."""
    quiet: bool = False
    """Whether to give the verdict alone, a line for each target."""
    explain: bool = False
    """Whether to show everything that each finding in trouble rests on."""
    waived: bool = False
    """Whether to list what a gate's policy waives."""
    top: int | None = None
    """How many findings to show, those that cost most; None: as many as there is room for."""

    started: str = ""
    """When the command began, as ``2026-11-29T08:30:00`` in UTC; "" where no command did."""
    locate: Callable[[str, int], str] | None = None
    """Gives the address of a line of code, "" where it has none; None: no hyperlink may be
    written."""

    @property
    def full(self) -> bool:
        """Whether nothing that is known of a finding is left out."""
        return self.verbose or self.explain


PLAIN = Page()
"""Eighty columns without colour."""


REPORT = "opcheck.views.report"
"""Package of what writes reports."""
_FIRST = ("text", "json")
"""What every command writes, the default first."""


class View(Protocol):
    """A module that writes answers down in one format."""

    def render(self, answer: Any, page: Page = PLAIN, /) -> str:
        """Give the whole answer as text that ends in a newline."""


def report_formats() -> tuple[str, ...]:
    """Names of the formats that a report can be written in, sorted."""
    return _names(REPORT)


def command_formats(command: str) -> tuple[str, ...]:
    """Names of the formats that a command's own answer can be written in, sorted."""
    return _names(_package(command))


def report_view(name: str) -> View:
    """The format of that name, for reports.

    Raises:
        UsageError: there is no such format.
    """
    _check(name)
    view: View = _module(REPORT, name)
    return view


def command_view(command: str, name: str) -> View:
    """The format of that name, for what a command answers.

    Raises:
        UsageError: there is no such format, or the command does not write it.
    """
    _check(name)
    able = command_formats(command)
    if name not in able:
        hint = Sentence("it writes {list}", list=", ".join(able))
        if set(able) == set(_FIRST):
            hint = Sentence("use --format text or --format json")
        raise UsageError(
            Sentence(
                "the format {format} is for reports; opcheck {command} cannot write it",
                format=repr(name),
                command=command.partition(".")[0],
            ),
            hint,
        )
    view: View = _module(_package(command), name)
    return view


def _check(name: str) -> None:
    known = report_formats()
    if name not in known:
        raise UsageError(
            Sentence("unknown format: {text}", text=repr(name)),
            Sentence("known formats: {list}", list=", ".join(known)),
        )


def _package(command: str) -> str:
    """The package of a command's formats; ``scan.project`` is an answer of another kind."""
    return f"opcheck.commands.{command}.views"


def _module(package: str, name: str) -> Any:
    return importlib.import_module(f"{package}.{name}")


@cache
def _names(package: str) -> tuple[str, ...]:
    folder = importlib.import_module(package).__path__
    return tuple(sorted(info.name for info in pkgutil.iter_modules(folder)))
