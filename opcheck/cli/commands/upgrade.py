"""``opcheck upgrade``: which release, torch version or chip would unblock a model."""

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


def upgrade(
    context: typer.Context,
    source: model_options.Source,
    target: options.OneTarget = None,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    max_age: options.MaxAge = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
) -> None:
    """Say which release, torch version or chip would unblock a model.

    For each operator that a target does not run itself: the nearest target of the same vendor that
    does. And the smallest move that helps most: first another torch version of the same release,
    then a newer release, then another chip. The exit code is 0 whenever there is an answer.
    """
    view, out = format_named(format), Output(output)
    request = ScanRequest(
        source, (options.only(target),), tuple(inputs or ()), False, timeout, memory, trust,
        tuple(database or ()), max_age, calls=model_options.calls(input_sets, decode, False, None),
    )  # fmt: skip
    with Progress() as progress:
        found = rooms(context).upgrade(request, progress, said if verbose else unsaid)
    out.write(view.render_upgrade(found, out.page(Detail(verbose))))
