"""``opcheck fix``: a plan carried out."""

from typing import Annotated, Any

import typer

from opcheck.cli import options
from opcheck.cli.direct import DirectCommand
from opcheck.cli.guide import (
    EXAMPLES,
    write_examples,
    write_exit_codes,
    write_inputs,
    write_sources,
)
from opcheck.cli.output import Output
from opcheck.cli.progress import Progress, said, unsaid
from opcheck.cli.rooms import rooms
from opcheck.errors import ExitCode, UsageError
from opcheck.model.fix import FixKind, FixRequest
from opcheck.model.plan import Label
from opcheck.model.request import ScanRequest
from opcheck.report.base import format_named

ShimFile = Annotated[
    str | None,
    typer.Option(
        "--shim",
        metavar="FILE",
        help="Write a Python file that registers the kernels the target lacks; the model stays.",
        show_default="none",
    ),
]


def _label(text: str) -> Label:
    try:
        return Label(text)
    except ValueError:
        raise typer.BadParameter(f"not one of {', '.join(Label)}: {text!r}") from None


Allow = Annotated[
    Label | None,
    typer.Option(
        "--allow",
        parser=_label,
        metavar="LABEL",
        help="Follow also suggestions that are not exact: tolerance, or approximate as well.",
        show_default="exact",
    ),
]
Write = Annotated[
    bool,
    typer.Option(
        "--write",
        help="Write over a file that is there.",
        show_default="refuse",
    ),
]


class Command(DirectCommand):
    """Lists the source kinds under its help; only then are they imported."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the forms that SOURCE and --input can have, and the exit codes."""
        write_sources(formatter)
        write_inputs(formatter)
        write_examples(formatter, [line for line in EXAMPLES if " fix " in line])
        write_exit_codes(formatter)


def fix(
    context: typer.Context,
    source: options.Source,
    target: options.OneTarget = None,
    shim: ShimFile = None,
    allow: Allow = None,
    write: Write = False,
    inputs: options.Inputs = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    rules: options.RuleFolders = None,
    max_age: options.MaxAge = None,
    timeout: options.Timeout = None,
    memory: options.Memory = None,
    trust: options.Trust = False,
    verbose: options.Verbose = False,
) -> None:
    """Carry out what opcheck plan suggests, and prove it.

    The changed model is run on the emulated device, with values: what was replaced must be gone,
    and the results must be those of the unchanged model. Only then is anything written.
    """
    view, out = format_named(format), Output(output)
    if shim is None:
        raise UsageError("nothing to write was asked for", "give --shim FILE")
    request = FixRequest(
        ScanRequest(
            source, (options.only(target),), tuple(inputs or ()), False, timeout, memory, trust,
            tuple(database or ()), max_age, tuple(rules or ()),
        ),
        FixKind.SHIM, shim, allow or Label.EXACT, write,
    )  # fmt: skip
    with Progress() as progress:
        found = rooms(context).fix(request, progress, said if verbose else unsaid)
    out.write(view.render_fix(found, out.page(verbose)))
    raise typer.Exit(ExitCode.PASS if found.holds else ExitCode.GATE)
