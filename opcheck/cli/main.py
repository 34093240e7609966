"""The console entry: commands found in their package, failures turned into exit codes."""

import importlib
import os
import pkgutil
import re
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
import typer.main

import opcheck.cli.commands
from opcheck.cli.completion.ask import told
from opcheck.cli.completion.install import install, shell_named
from opcheck.cli.completion.scripts import SCRIPTS, VARIABLE
from opcheck.cli.direct import DirectCommand, DirectGroup
from opcheck.cli.groups import CommandGroup
from opcheck.cli.guide import write_examples, write_exit_codes
from opcheck.cli.language import Lang, Refusal, language_of_run, told_refusal
from opcheck.cli.output import Output
from opcheck.cli.rooms import Rooms
from opcheck.errors import ExitCode, OpcheckError, UsageError
from opcheck.lang.speech import speaking, tell, wording
from opcheck.model.text import printable
from opcheck.sandbox.command import own_process
from opcheck.version import __version__

_COMMAND = re.compile(r"^(\s*)::", re.MULTILINE)
INTERRUPTED = 130
"""What shells give for a process that Ctrl-C ended."""
BUG = "opcheck: this is a bug in opcheck; please report it with the lines above"


def main() -> None:
    """Run the command line of this process and exit."""
    signal.signal(signal.SIGTERM, _end)
    if shell := os.environ.get(VARIABLE):
        Output(None).write(told(typer.main.get_command(application()), sys.argv[1:], shell))
        return
    with own_process(sys.argv[1:]):
        code = run(sys.argv[1:])
    sys.exit(code)


def _end(number: int, _: object) -> None:
    """Leave as after an error, so that no half-written file and no process is left."""
    sys.exit(128 + number)


def run(arguments: Sequence[str], rooms: Rooms | None = None) -> int:
    """Run one command line and give its exit code; ``rooms`` stands in for the pipeline."""
    try:
        with speaking(language_of_run(arguments)):
            return _run(arguments, rooms)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.PASS
    except OpcheckError as error:  # of the language itself
        print(_told(error), file=sys.stderr)
        return error.exit_code


def _run(arguments: Sequence[str], rooms: Rooms | None) -> int:
    """The same in the language of the run, failures told in it."""
    command: Any = typer.main.get_command(application())
    try:
        code = command.main(list(arguments), prog_name="opcheck", obj=rooms, standalone_mode=False)
    except Refusal as refusal:
        print(told_refusal(refusal), file=sys.stderr)
        return int(refusal.exit_code)
    except OpcheckError as error:
        print(_told(error), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:  # whatever is left is a bug, and says so
        traceback.print_exc()
        print(tell(BUG), file=sys.stderr)
        return ExitCode.CRASH
    return code if isinstance(code, int) else ExitCode.PASS


class _Program(DirectGroup):
    """Ends its help with what a newcomer copies first."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write examples and exit codes."""
        write_examples(formatter)
        write_exit_codes(formatter)


def application() -> typer.Typer:
    """Every command of the package, by name."""
    return _group(opcheck.cli.commands, _Program, callback=_opcheck, invoke_without_command=True)


def _group(package: ModuleType, kind: type[DirectGroup], **options: Any) -> typer.Typer:
    """The commands of a package: a module is a command, a package in it a group of them."""
    app = typer.Typer(
        cls=kind,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # plain help is read as well, and loads in half the time
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **options,
    )
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        name = info.name.removesuffix("_")  # of a command that is a keyword of Python
        if info.ispkg:
            group = getattr(module, "Group", CommandGroup)
            app.add_typer(_group(module, group), name=name, help=module.__doc__)
        else:
            command = getattr(module, "Command", DirectCommand)
            app.command(name, cls=command)(getattr(module, info.name))
    return app


def _told(error: OpcheckError) -> str:
    text = wording("opcheck: error: {said}").format(said=tell(error.message))
    if error.hint:
        text += "\n  " + wording("hint: {said}").format(said=tell(error.hint))
    # a file may have chosen the words: a CI service would take a line of its own for a command
    return _COMMAND.sub(r"\1\\x3a:", printable(text))


def _print_version(wanted: bool) -> None:
    if wanted:
        Output(None).write(f"opcheck {__version__}\n")
        raise typer.Exit


def _opcheck(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    lang: Lang = None,
    install_completion: Annotated[
        bool,
        typer.Option("--install-completion", help="Have a shell complete what is typed."),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option("--show-completion", help="Print the script that this takes."),
    ] = False,
    shell: Annotated[
        str | None,
        typer.Option(
            "--shell",
            metavar="SHELL",
            help=f"For which one: {', '.join(SCRIPTS)}.",
            show_default="the one that this runs in",
        ),
    ] = None,
) -> None:
    """Say whether a PyTorch model runs on an accelerator, where not, and how that is known."""
    if context.invoked_subcommand is not None:
        return
    if show_completion:
        Output(None).write(SCRIPTS[shell_named(shell)])
    elif install_completion:
        name = shell_named(shell)
        path = install(name, os.environ, Path.home())
        said = tell(f"wrote {path}; a new {name} completes opcheck")
        Output(None).write(f"{said}\n")
    else:
        raise UsageError("no command was given", "opcheck --help lists them")
