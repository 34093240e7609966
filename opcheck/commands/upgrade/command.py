"""``opcheck upgrade``: which release, torch version or chip would unblock a model."""

from typing import Annotated

from opcheck.app import model_options, options
from opcheck.app.model_options import ModelCommand
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress, discard_output, forward_output
from opcheck.model.request import ScanRequest
from opcheck.views.formats import command_view

Command = ModelCommand


def upgrade(
    source: model_options.Source,
    target: options.OneTarget = None,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    format: Annotated[str, options.format_of("upgrade")] = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    max_age: options.MaxAge = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
) -> None:
    from opcheck.commands.upgrade import answer

    view, out = command_view("upgrade", format), Output(output)
    model = model_options.model_spec(
        source, inputs, timeout, memory, trust, input_sets=input_sets, decode=decode,
    )  # fmt: skip
    request = ScanRequest(
        model, (options.only(target),), databases=tuple(database or ()), max_age=max_age
    )
    with Progress() as progress:
        found = answer.upgrade(request, progress, forward_output if verbose else discard_output)
    out.write(view.render(found, out.page(Detail(verbose))))
