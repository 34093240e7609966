"""``opcheck scan``: the main thing."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.guide import MORE
from opcheck.app.model_options import ModelCommand
from opcheck.app.options import Detail
from opcheck.app.outputs import Outputs
from opcheck.app.progress import Progress, discard_output, forward_output
from opcheck.errors import ExitCode
from opcheck.model.report import PartialReportError
from opcheck.model.request import ScanRequest
from opcheck.sandbox import command_line

if TYPE_CHECKING:
    from opcheck.model.project import ProjectRequest

Command = ModelCommand

Exact = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Record the kernels that each target itself is asked to run.",
        show_default="only where it costs nothing",
        rich_help_panel=MORE,
    ),
]


Scanned = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A model, in one of the forms below, or a folder with several.",
        show_default=False,
    ),
]


def scan(
    source: Scanned,
    target: options.Targets = None,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    dynamic: model_options.Dynamic = None,
    format: options.ReportFormats = None,
    output: options.OutputFile = None,
    exact: Exact = False,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    max_age: options.MaxAge = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    only: model_options.Only = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    from opcheck.commands.scan import answer

    if is_project(source):
        from opcheck.model.project import FORMATS, ProjectRequest

        model_options.require_plain(
            source, inputs=inputs, input_sets=input_sets, decode=decode, train=train, step=step,
            dynamic=dynamic, exact=exact,
        )  # fmt: skip
        asked = ProjectRequest(
            source, tuple(target or ()), only=tuple(only or ()),
            options=model_options.limits(timeout, memory), databases=tuple(database or ()),
            schemas=tuple(schemas or ()), max_age=max_age, trust=trust, explained=explain,
        )  # fmt: skip
        scan_folder(asked, Outputs(format, output, Detail(verbose, quiet, explain, top), FORMATS),
                    verbose=verbose, quiet=quiet)  # fmt: skip
        return
    model_options.refuse_only(source, only)
    out = Outputs(format, output, Detail(verbose, quiet, explain, top))
    model = model_options.model_spec(
        source, inputs, timeout, memory, trust, input_sets=input_sets, decode=decode, train=train,
        step=step, dynamic=dynamic, schemas=schemas,
    )  # fmt: skip
    request = ScanRequest(
        model,
        tuple(target or ()),
        exact,
        databases=tuple(database or ()),
        max_age=max_age,
        explained=explain,
    )
    try:
        with Progress(quiet) as progress:
            report = answer.scan(request, progress, forward_output if verbose else discard_output)
    except PartialReportError as error:
        out.write(error.report)
        raise
    out.write(report)


def is_project(source: str) -> bool:
    """Whether it is a folder with several sources."""
    if not os.path.isdir(source):
        return False
    from opcheck.commands.scan.project import sources

    return sources.is_project(source)


def scan_folder(asked: "ProjectRequest", out: Outputs, *, verbose: bool, quiet: bool) -> None:
    """Check a whole project.

    Raises:
        Exit: with 3 where no source of it has an answer.
    """
    from opcheck.commands.scan.project import answer

    command_line.current().disarm()
    with Progress(quiet) as progress:
        found = answer.scan_project(asked, progress, forward_output if verbose else discard_output)
    out.write(found)
    if not found.answered:
        raise typer.Exit(ExitCode.MODEL)
