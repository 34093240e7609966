"""``opcheck choose``: which target suits a model."""

import typer

from opcheck.cli import model_options, options
from opcheck.cli.detail import Detail
from opcheck.cli.model_command import ModelCommand
from opcheck.cli.output import Output
from opcheck.cli.progress import Progress, said, unsaid
from opcheck.cli.rooms import rooms
from opcheck.model.request import ScanRequest
from opcheck.report.base import format_named

Command = ModelCommand


def choose(
    context: typer.Context,
    source: model_options.Source,
    target: options.Targets = None,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    rules: options.RuleFolders = None,
    max_age: options.MaxAge = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
) -> None:
    """Rank targets for a model, and say why each has its place.

    First come those that run it as it is or after repair and have room for it, by the least time
    that a run can take there; what is not known of a target never counts for it. Nothing is
    measured. The exit code is 0 whenever there is an answer.
    """
    view, out = format_named(format), Output(output)
    request = ScanRequest(
        source, tuple(target or ()), tuple(inputs or ()), False, timeout, memory, trust,
        tuple(database or ()), max_age, tuple(rules or ()),
        step=model_options.training(train, step),
        calls=model_options.calls(input_sets, decode, train, step), schemas=tuple(schemas or ()),
    )  # fmt: skip
    with Progress() as progress:
        found = rooms(context).choose(request, progress, said if verbose else unsaid)
    out.write(view.render_choose(found, out.page(Detail(verbose))))
