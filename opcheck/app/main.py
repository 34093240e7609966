"""The console entry: the program, and failures turned into exit codes."""

import gc
import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from opcheck.app.commands import Program, program
from opcheck.app.completion.scripts import SCRIPTS, VARIABLE
from opcheck.app.guide import (
    EXAMPLES,
    FIRST,
    MORE,
    write_examples,
    write_exit_codes,
    write_start,
)
from opcheck.app.language import (
    WHICH_SHELL,
    Lang,
    Refusal,
    language_of_run,
    translated_refusal,
)
from opcheck.app.output import Output
from opcheck.app.short_help import is_full
from opcheck.errors import (
    ExitCode,
    OpcheckError,
    TerminatedError,
    UsageError,
    missing_library,
)
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import speaking, tell, wording
from opcheck.model.text import printable
from opcheck.sandbox.command_line import own_process
from opcheck.version import __version__

_COMMAND = re.compile(r"^(\s*)::", re.MULTILINE)
COLLECTED_EVERY = 50_000
"""Objects more: what a command reads it keeps, and by Python's 700 the collector looks at it all
again and again, a tenth of the time of a short command."""
INTERRUPTED = 130
"""What shells give for a process that Ctrl-C ended."""
BUG = "opcheck: this is a bug in opcheck; please report it with the lines above"


def main() -> None:
    """Run the command line of this process and exit."""
    signal.signal(signal.SIGTERM, _end)
    gc.set_threshold(COLLECTED_EVERY)
    if shell := os.environ.get(VARIABLE):
        from opcheck.app.completion.answers import shell_lines

        Output(None).write(shell_lines(application(), sys.argv[1:], shell))
        return
    with own_process(sys.argv[1:]):
        code = run(sys.argv[1:])
    sys.exit(code)


def _end(number: int, _: object) -> None:
    """Leave as after an error, so that no half-written file and no process is left."""
    raise TerminatedError(128 + number)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code."""
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")  # an extra's
    try:
        with speaking(language_of_run(arguments)):
            return _run(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.PASS
    except OpcheckError as error:  # of the language itself
        print(_error_text(error), file=sys.stderr)
        return error.exit_code


def _run(arguments: Sequence[str]) -> int:
    """The same in the language of the run, failures told in it."""
    try:
        code = application().main(list(arguments), prog_name="opcheck", standalone_mode=False)
    except Refusal as refusal:
        print(translated_refusal(refusal), file=sys.stderr)
        return int(refusal.exit_code)
    except OpcheckError as error:
        print(_error_text(error), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as failure:
        if isinstance(failure, ModuleNotFoundError) and (missing := missing_library(failure)):
            print(_error_text(missing), file=sys.stderr)
            return missing.exit_code
        traceback.print_exc()  # whatever is left is a bug, and says so
        print(tell(BUG), file=sys.stderr)
        return ExitCode.CRASH
    return code if isinstance(code, int) else ExitCode.PASS


class _Program(Program):
    """Ends its help with what a newcomer copies first."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write a few examples and where to begin, or in the full help all of them and codes."""
        full = is_full(ctx)
        write_examples(formatter, EXAMPLES if full else FIRST)
        if full:
            write_exit_codes(formatter)
        else:
            write_start(formatter)


def application() -> Any:
    """The program as typer's command, every command of the package in it."""
    return program(_opcheck, _Program)


def _error_text(error: OpcheckError) -> str:
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
        typer.Option(
            "--install-completion",
            help="Have a shell complete what is typed.",
            rich_help_panel=MORE,
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option(
            "--show-completion", help="Print the script that this takes.", rich_help_panel=MORE
        ),
    ] = False,
    shell: Annotated[
        str | None,
        typer.Option(
            "--shell",
            metavar="SHELL",
            help=WHICH_SHELL.format(list=", ".join(SCRIPTS)),
            show_default="the one that this runs in",
            rich_help_panel=MORE,
        ),
    ] = None,
) -> None:
    """Say whether a PyTorch model runs on an accelerator, where not, and how that is known."""
    if context.invoked_subcommand is not None:
        return
    from opcheck.app.completion.install import install, shell_named

    if show_completion:
        Output(None).write(SCRIPTS[shell_named(shell)])
    elif install_completion:
        name = shell_named(shell)
        path = install(name, os.environ, Path.home())
        said = Sentence("wrote {path}; a new {name} completes opcheck", path=path, name=name)
        Output(None).write(f"{tell(said)}\n")
    else:
        raise UsageError(Sentence("no command was given"), Sentence("opcheck --help lists them"))
