"""Commands found by their folders, and imported when they run.

The docstring of ``opcheck.commands.<name>`` is the command's help, and ``PURPOSE`` there the group
that it is listed in, so that a list of all commands costs no more. ``command.py`` in the folder has
the function of that name; a group has its commands in ``subcommands/``, one a file.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import typer
import typer.main

from opcheck.app.direct import DirectCommand, DirectGroup

FOLDER = "opcheck.commands"
"""Named, and not imported: commands import what is here."""
PURPOSES = {
    "check": "Check a model or a script",
    "port": "Port it",
    "gate": "Keep it running",
    "compare": "Compare targets and models",
    "data": "Data and environment",
}
"""What ``PURPOSE`` of a command's package says -> the heading that it stands under in the help."""
_SETTINGS: dict[str, Any] = {
    "no_args_is_help": True,
    "add_completion": False,
    "rich_markup_mode": None,  # plain help is read as well, and loads in half the time
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""Of every typer application here."""


class Commands(dict[str, Any]):
    """Name -> command of typer; one is imported when it is looked up."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(names()))

    def __getitem__(self, name: str) -> Any:
        if (found := super().__getitem__(name)) is None:
            found = self[name] = _loaded(name)
        return found

    def get(self, name: str, default: Any = None) -> Any:
        """Give the command of that name."""
        if name not in self:
            return default
        return self[name]

    def values(self) -> Any:
        """Give every command; all are imported."""
        return [self[name] for name in self]

    def items(self) -> Any:
        """Give every command with its name; all are imported."""
        return [(name, self[name]) for name in self]


class Program(DirectGroup):
    """The program itself, whose commands are those folders."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Give the names, sorted."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the name and the first sentence of each command by its purpose, importing none."""
        names = self.list_commands(ctx)
        widest = max(map(len, names))
        limit = formatter.width - 6 - widest
        for purpose, heading in PURPOSES.items():
            found = [name for name in names if purpose_of(name) == purpose]
            if found:
                with formatter.section(heading):
                    formatter.write_dl([(n.ljust(widest), _short(n, limit)) for n in found])


def names() -> tuple[str, ...]:
    """Names of the commands, sorted."""
    folder = importlib.import_module(FOLDER).__path__
    return tuple(sorted(info.name for info in pkgutil.iter_modules(folder)))


@cache
def help_of(name: str) -> str:
    """What a command says of itself: the docstring of its folder."""
    return importlib.import_module(f"{FOLDER}.{name}").__doc__ or ""


@cache
def purpose_of(name: str) -> str:
    """What a command is for, as its folder says; of one that says nothing, the last purpose."""
    said = getattr(importlib.import_module(f"{FOLDER}.{name}"), "PURPOSE", "")
    return said if said in PURPOSES else [*PURPOSES][-1]


def program(callback: Callable[..., None], kind: type[Program]) -> Any:
    """The program as typer's command, with the options of ``callback``."""
    app = typer.Typer(cls=kind, callback=callback, invoke_without_command=True, **_SETTINGS)
    return typer.main.get_command(app)


def _short(name: str, limit: int) -> str:
    text: str = DirectCommand(name, help=help_of(name)).get_short_help_str(limit)
    return text


def _loaded(name: str) -> Any:
    package = importlib.import_module(f"{FOLDER}.{name}")
    if "subcommands" in (found := {info.name for info in pkgutil.iter_modules(package.__path__)}):
        kind: Any = DirectGroup
        if "group" in found:
            kind = importlib.import_module(f"{package.__name__}.group").Group
        app = typer.Typer(cls=kind, help=package.__doc__, **_SETTINGS)
        for module in _modules(f"{package.__name__}.subcommands"):
            _add(app, module, module.__name__.rpartition(".")[2], None)
        group = typer.main.get_command(app)
        group.name = name
        return group
    app = typer.Typer(**_SETTINGS)
    _add(app, importlib.import_module(f"{package.__name__}.command"), name, package.__doc__)
    return typer.main.get_command(app)


def _modules(package: str) -> Iterator[ModuleType]:
    folder = importlib.import_module(package)
    for info in pkgutil.iter_modules(folder.__path__):
        yield importlib.import_module(f"{package}.{info.name}")


def _add(app: typer.Typer, module: ModuleType, name: str, text: str | None) -> None:
    """Make the function of that name a command; a trailing ``_`` is of a keyword of Python."""
    kind = getattr(module, "Command", DirectCommand)
    app.command(name.removesuffix("_"), cls=kind, help=text)(getattr(module, name))
