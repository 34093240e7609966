"""``opcheck emulate``: the same model on a device that is not there."""

from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.model_options import ModelCommand
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress, discard_output, forward_output
from opcheck.errors import ExitCode
from opcheck.model.emulation import Emulation, EmulationRequest, PartialEmulationError
from opcheck.views.formats import command_view

Command = ModelCommand

Values = Annotated[
    bool,
    typer.Option(
        "--values",
        help="Compute on the host CPU, and compare with a run that is not emulated.",
        show_default="follow shapes alone",
    ),
]
Stop = Annotated[
    bool,
    typer.Option(
        "--stop",
        help="End at the first call that the device refuses, and exit with 10.",
        show_default="go on and collect them all",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Hold what scan predicts against the run; exit with 10 where they differ.",
        show_default="do not scan",
    ),
]
Shims = Annotated[
    list[str] | None,
    typer.Option(
        "--shim",
        metavar="FILE",
        help="Kernels that opcheck fix --shim wrote, beside the target's own. Repeatable.",
        show_default="the target's own alone",
    ),
]


def emulate(
    source: model_options.Source,
    target: options.OneTarget = None,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    values: Values = False,
    stop: Stop = False,
    check: Check = False,
    shim: Shims = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    format: Annotated[str, options.format_of("emulate")] = "text",
    output: options.OutputFile = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    from opcheck.commands.emulate import answer

    detail = Detail(verbose, quiet, explain, top)
    view, out = command_view("emulate", format), Output(output)
    model = model_options.model_spec(
        source, inputs, timeout, memory, trust, input_sets=input_sets, decode=decode, train=train,
        step=step, schemas=schemas,
    )  # fmt: skip
    request = EmulationRequest(
        model,
        options.only(target),
        values=values,
        stop=stop,
        check=check,
        databases=tuple(database or ()),
        shims=tuple(shim or ()),
    )
    try:
        with Progress(quiet) as progress:
            found = answer.emulate(request, progress, forward_output if verbose else discard_output)
    except PartialEmulationError as error:
        out.write(view.render(error.emulation, out.page(detail)))
        raise
    out.write(view.render(found, out.page(detail)))
    raise typer.Exit(_exit_code(request, found))


def _exit_code(request: EmulationRequest, found: Emulation) -> ExitCode:
    """GATE where what was asked to hold does not."""
    refused = request.stop and found.refusals
    disagrees = request.check and found.agreement and not found.agreement.whole
    return ExitCode.GATE if refused or disagrees else ExitCode.PASS
