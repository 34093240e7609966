"""``opcheck tune``: what a model costs on a chip, and what would make it cost less."""

from typing import Annotated

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

Product = Annotated[
    str,
    typer.Option(
        "--product",
        metavar="NAME",
        help="What the chip is sold as, where there are several: 40GB-PCIe.",
        show_default="the fastest",
    ),
]


def tune(
    context: typer.Context,
    source: model_options.Source,
    target: options.Targets = None,
    product: Product = "",
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    max_age: options.MaxAge = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
) -> None:
    """Say what a model costs on an accelerator, and what would make it cost less.

    Operations, bytes and memory are counted from the trace and held against the chip's published
    figures: the least time of each operator, what the run waits for, how large a batch fits. Each
    advice has its place, its reason and the most that it can bring; what is not known is said to
    be. Nothing is measured, and no accelerator is needed.
    """
    view, out = format_named(format), Output(output)
    request = ScanRequest(
        source, tuple(target or ()), tuple(inputs or ()), False, timeout, memory, trust,
        tuple(database or ()), max_age, step=model_options.training(train, step),
        calls=model_options.calls(input_sets, decode, train, step), schemas=tuple(schemas or ()),
    )  # fmt: skip
    with Progress() as progress:
        found = rooms(context).tune(request, product, progress, said if verbose else unsaid)
    out.write(view.render_tune(found, out.page(Detail(verbose))))
