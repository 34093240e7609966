"""``opcheck repro``: one finding as a script, for the ticket to the vendor."""

from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.model_options import ModelCommand
from opcheck.app.output import Output
from opcheck.app.progress import Progress, discard_output, forward_output
from opcheck.commands.repro.values import ReproRequest
from opcheck.model.request import ScanRequest

Command = ModelCommand

Found = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE|REPORT.json",
        help="A model, in one of the forms below, or what opcheck scan --format json wrote.",
        show_default=False,
    ),
]
Finding = Annotated[
    str,
    typer.Argument(
        metavar="FINDING",
        help="The id of a finding, the beginning of it, or its overload: aten::gelu.",
        show_default=False,
    ),
]


def repro(
    source: Found,
    finding: Finding,
    target: options.Targets = None,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    output: options.OutputFile = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
) -> None:
    from opcheck.commands.repro import answer

    out = Output(output)
    model = model_options.model_spec(
        source, inputs, timeout, memory, trust, input_sets=input_sets, decode=decode, train=train,
        step=step, schemas=schemas,
    )  # fmt: skip
    scan = ScanRequest(model, tuple(target or ()), databases=tuple(database or ()))
    with Progress() as progress:
        text = answer.repro(
            ReproRequest(scan, finding), progress, forward_output if verbose else discard_output
        )
    out.write(text)
