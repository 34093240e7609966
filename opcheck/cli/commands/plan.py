"""``opcheck plan``: the way out of each finding."""

import typer

from opcheck.cli import model_options, options
from opcheck.cli.detail import Detail
from opcheck.cli.model_command import ModelCommand
from opcheck.cli.outputs import Outputs
from opcheck.cli.progress import Progress, said, unsaid
from opcheck.cli.rooms import rooms
from opcheck.model.dynamic import dynamic_inputs
from opcheck.model.report import PartialReportError
from opcheck.model.request import ScanRequest

Command = ModelCommand


def plan(
    context: typer.Context,
    source: model_options.Source,
    target: options.Targets = None,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    dynamic: model_options.Dynamic = None,
    format: options.ReportFormats = None,
    output: options.OutputFile = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    rules: options.RuleFolders = None,
    max_age: options.MaxAge = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    """Say what to change so that a model runs on an accelerator.

    For each operator that a target does not run itself: the cheapest code that gives the same
    values through operators that it does run, what that was recorded to run as, how far its values
    and gradients are off, and why cheaper ways were declined. --verbose shows the code. The exit
    code is 0 whenever there is an answer. Where the model's process ends too early, the report is
    of what was seen until then, and it is 3.
    """
    out = Outputs(format, output, Detail(verbose, quiet, explain, top))
    request = ScanRequest(
        source, tuple(target or ()), tuple(inputs or ()), False, timeout, memory, trust,
        tuple(database or ()), max_age, tuple(rules or ()),
        step=model_options.training(train, step),
        calls=model_options.calls(input_sets, decode, train, step),
        dynamic=dynamic_inputs(dynamic or ()), schemas=tuple(schemas or ()), explained=explain,
    )  # fmt: skip
    try:
        with Progress(quiet) as progress:
            report = rooms(context).plan(request, progress, said if verbose else unsaid)
    except PartialReportError as error:
        out.write(error.report)
        raise
    out.write(report)
