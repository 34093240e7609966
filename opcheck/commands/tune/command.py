"""``opcheck tune``: what a model costs on a chip, and what would make it cost less."""

from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.model_options import ModelCommand
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress, discard_output, forward_output
from opcheck.model.request import ScanRequest
from opcheck.views.formats import command_view

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
    source: model_options.Source,
    target: options.Targets = None,
    product: Product = "",
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    format: Annotated[str, options.format_of("tune")] = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    max_age: options.MaxAge = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
) -> None:
    from opcheck.commands.tune import answer

    view, out = command_view("tune", format), Output(output)
    model = model_options.model_spec(
        source, inputs, timeout, memory, trust, input_sets=input_sets, decode=decode, train=train,
        step=step, schemas=schemas,
    )  # fmt: skip
    request = ScanRequest(
        model, tuple(target or ()), databases=tuple(database or ()), max_age=max_age
    )
    with Progress() as progress:
        found = answer.tune(
            request, product, progress, forward_output if verbose else discard_output
        )
    out.write(view.render(found, out.page(Detail(verbose))))
