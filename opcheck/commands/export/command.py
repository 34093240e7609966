"""``opcheck export``: a model written for a runtime by the real converter, and run there."""

from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.model_options import ModelCommand
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress, discard_output, forward_output
from opcheck.commands.export.values import ExportQuestion
from opcheck.errors import ExitCode
from opcheck.lang.sentence import Sentence
from opcheck.views.formats import command_view

Command = ModelCommand
OLDEST, NEWEST = 18, 24
"""Versions of ONNX's operators that torch.onnx 2.13 writes."""


def _opset(text: str) -> int:
    if not text.isdecimal() or not OLDEST <= int(text[:4]) <= NEWEST:
        raise typer.BadParameter(
            Sentence(
                "not a version of ONNX's operators: {text} (want {first} to {last})",
                text=repr(text[:40]), first=OLDEST, last=NEWEST,
            )
        )  # fmt: skip
    return int(text)


def _xml(text: str) -> str:
    if not text.endswith(".xml"):
        raise typer.BadParameter(
            Sentence("not a file that ends in .xml: {text}", text=repr(text[:80]))
        )
    return text


Prove = Annotated[
    bool,
    typer.Option(
        "--prove",
        help="Run the file, compare its values with PyTorch's, and scan for the same target.",
        show_default="write the file alone",
    ),
]
Into = Annotated[
    str,
    typer.Option(
        "--onnx", metavar="FILE", help="Keep the exported model.", show_default="it is not kept"
    ),
]
IntoOpenVino = Annotated[
    str | None,
    typer.Option(
        "--openvino",
        parser=_xml,
        metavar="FILE",
        help="Keep the converted model, and its weights in a file .bin beside it.",
        show_default="it is not kept",
    ),
]
IntoExecuTorch = Annotated[
    str,
    typer.Option(
        "--pte", metavar="FILE", help="Keep the ExecuTorch program.", show_default="it is not kept"
    ),
]
Opset = Annotated[
    int | None,
    typer.Option(
        "--opset",
        parser=_opset,
        metavar="N",
        help="The version of ONNX's operators to write.",
        show_default="the converter's own choice",
    ),
]


def export(
    source: model_options.Source,
    target: options.OneTarget = None,
    inputs: model_options.Inputs = None,
    prove: Prove = False,
    onnx: Into = "",
    openvino: IntoOpenVino = None,
    pte: IntoExecuTorch = "",
    opset: Opset = None,
    dynamic: model_options.Dynamic = None,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    format: Annotated[str, options.format_of("export")] = "text",
    output: options.OutputFile = None,
    timeout: model_options.Timeout = None,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    from opcheck.commands.export import answer

    view, out = command_view("export", format), Output(output)
    files = {"onnxruntime": onnx, "openvino": openvino or "", "executorch": pte}
    output_of, kept = next((each for each in files.items() if each[1]), ("onnxruntime", ""))
    if kept:
        answer.require_writable(kept)
    model = model_options.model_spec(
        source, inputs, timeout, memory, trust, dynamic=dynamic, schemas=schemas
    )
    question = ExportQuestion(
        model,
        options.only(target),
        prove,
        kept,
        output_of,
        opset or 0,
        tuple(database or ()),
    )
    with Progress(quiet) as progress:
        found = answer.export(question, progress, forward_output if verbose else discard_output)
    out.write(view.render(found, out.page(Detail(verbose, quiet))))
    raise typer.Exit(ExitCode.PASS if found.came_through else ExitCode.GATE)
