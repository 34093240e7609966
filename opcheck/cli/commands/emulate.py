"""``opcheck emulate``: the same model on a device that is not there."""

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.model_command import ModelCommand
from opcheck.cli.output import Output
from opcheck.cli.progress import Progress, said, unsaid
from opcheck.cli.rooms import rooms
from opcheck.errors import ExitCode
from opcheck.model.emulation import Emulation, EmulationRequest, PartialEmulationError
from opcheck.report.base import format_named

Command = ModelCommand


def emulate(
    context: typer.Context,
    source: options.Source,
    target: options.OneTarget = None,
    inputs: options.Inputs = None,
    input_sets: options.InputSets = None,
    decode: options.Decode = False,
    train: options.Train = False,
    step: options.Steps = None,
    values: options.Values = False,
    stop: options.Stop = False,
    check: options.Check = False,
    shim: options.Shims = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    timeout: options.Timeout = None,
    memory: options.Memory = None,
    trust: options.Trust = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    """Run a model on an emulated accelerator.

    PyTorch's own dispatcher runs it, with only the target's kernels. The answer says what the
    device refuses, what runs on the host or in another way, and where in the model's code. Where
    the model's process ends too early, it is of what was seen until then, and the exit code is 3.
    """
    detail = Detail(verbose, quiet, explain, top)
    view, out = format_named(format), Output(output)
    request = EmulationRequest(
        source, options.only(target), tuple(inputs or ()), options.training(train, step),
        values=values, stop=stop, check=check, timeout=timeout, memory=memory, trust=trust,
        databases=tuple(database or ()), shims=tuple(shim or ()),
        calls=options.calls(input_sets, decode, train, step), schemas=tuple(schemas or ()),
    )  # fmt: skip
    try:
        with Progress(quiet) as progress:
            found = rooms(context).emulate(request, progress, said if verbose else unsaid)
    except PartialEmulationError as error:
        out.write(view.render_emulation(error.emulation, out.page(detail)))
        raise
    out.write(view.render_emulation(found, out.page(detail)))
    raise typer.Exit(_exit_code(request, found))


def _exit_code(request: EmulationRequest, found: Emulation) -> ExitCode:
    """GATE where what was asked to hold does not."""
    refused = request.stop and found.refusals
    disagrees = request.check and found.agreement and found.agreement.disagreements
    return ExitCode.GATE if refused or disagrees else ExitCode.PASS
