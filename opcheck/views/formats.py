"""The formats of ``--format``: each is a module of a ``views`` folder that has ``render``.

What all of them can write is a report, by the modules of ``opcheck.views.report``. What a command
answers otherwise it writes by those of its own ``views`` folder. A name is found by its file, so a
run imports the one format that it writes.
"""

import importlib
import pkgutil
from functools import cache
from typing import Any, Protocol

from opcheck.errors import UsageError
from opcheck.views.page import PLAIN, Page

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
        hint = f"it writes {', '.join(able)}"
        if set(able) == set(_FIRST):
            hint = "use --format text or --format json"
        raise UsageError(
            f"the format {name!r} is for reports; opcheck {command} cannot write it", hint
        )
    view: View = _module(_package(command), name)
    return view


def _check(name: str) -> None:
    known = report_formats()
    if name not in known:
        raise UsageError(f"unknown format: {name!r}", f"known formats: {', '.join(known)}")


def _package(command: str) -> str:
    return f"opcheck.commands.{command}.views"


def _module(package: str, name: str) -> Any:
    return importlib.import_module(f"{package}.{name}")


@cache
def _names(package: str) -> tuple[str, ...]:
    folder = importlib.import_module(package).__path__
    return tuple(sorted(info.name for info in pkgutil.iter_modules(folder)))
