"""``opcheck run``: a script, unchanged, on a device that is not there."""

from typing import Annotated, Any

import typer
from msgspec.structs import replace

from opcheck.app import model_options, options
from opcheck.app.model_options import ModelCommand
from opcheck.app.options import Detail
from opcheck.app.outputs import Outputs
from opcheck.app.progress import Progress, forward_output
from opcheck.errors import ExitCode, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.request import ModelSpec
from opcheck.model.script import (
    ENDED_WELL,
    Data,
    PartialRunError,
    ScriptRequest,
    ScriptRun,
    ScriptSpec,
)
from opcheck.views.formats import command_formats


class Command(ModelCommand):
    """Leaves alone what follows the script, whose process is limited and this one is not."""

    may_be_confined = False
    allow_interspersed_args = False

    def format_forms(self, ctx: Any, formatter: Any, *, full: bool) -> None:
        """Write nothing: the script is a file."""


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > len("100000000") or not int(text):
        raise typer.BadParameter(Sentence("not a number above zero: {text}", text=repr(text[:40])))
    return int(text)


def _data(text: str) -> Data:
    if text in tuple(Data):
        return Data(text)
    told = Sentence("not one of {list}: {text}", list=", ".join(Data), text=repr(text[:40]))
    raise typer.BadParameter(told)


Words = Annotated[
    list[str],
    typer.Argument(
        metavar="SCRIPT",
        help="A Python file or notebook with its arguments, or a launcher's whole command line.",
        show_default=False,
    ),
]
Module = Annotated[
    bool,
    typer.Option("-m", "--module", help="SCRIPT is the name of a module, as with python -m."),
]
Values = Annotated[
    bool | None,
    typer.Option(
        "--values/--shapes",
        help="Compute on the host CPU, or follow dtypes and shapes alone.",
        show_default="shapes",
    ),
]
Compare = Annotated[
    bool,
    typer.Option(
        "--compare",
        help="Run it on the CPU first, with values, and show where the numbers part.",
        show_default="no",
    ),
]
Stop = Annotated[
    bool,
    typer.Option(
        "--stop",
        help="Raise where the device refuses a call, as it would; exit with 10.",
        show_default="go on and collect them all",
    ),
]
AsCuda = Annotated[
    bool,
    typer.Option(
        "--as-cuda/--no-as-cuda",
        help="Take cuda for the device, as the vendor's transfer module does.",
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        "--steps",
        parser=_count,
        metavar="N",
        help="End the script after so many optimizer steps.",
        show_default="when it is done",
    ),
]
Ranks = Annotated[
    int | None,
    typer.Option(
        "--ranks",
        parser=_count,
        metavar="N",
        help="Run it as the first of so many processes, whose others are not there.",
        show_default="as its launcher says",
    ),
]
Forwards = Annotated[
    int | None,
    typer.Option(
        "--forwards",
        parser=_count,
        metavar="N",
        help="End the script after so many calls of its model.",
        show_default="when it is done",
    ),
]
Stands = Annotated[
    Data,
    typer.Option(
        "--data",
        parser=_data,
        metavar="fake",
        help="Have random rows stand for data sets that torchvision and datasets do not find.",
        show_default="a data set that is not here is an error",
    ),
]
Write = Annotated[
    bool,
    typer.Option(
        "--write",
        help="Let what the script writes through.",
        show_default="only itself sees it",
    ),
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Look for the cheapest fix for each call that leaves the device or is refused.",
        show_default="no",
    ),
]
Formats = Annotated[list[str] | None, options.several_formats(command_formats("run"))]
Timeout = Annotated[
    float | None,
    typer.Option(
        parser=model_options.positive,
        metavar="SECONDS",
        help="End the script after so long, and say what was seen until then.",
        show_default="none",
    ),
]


def run(
    context: typer.Context,
    words: Words,
    target: options.OneTarget = None,
    module: Module = False,
    steps: Steps = None,
    forwards: Forwards = None,
    ranks: Ranks = None,
    values: Values = None,
    compare: Compare = False,
    stop: Stop = False,
    as_cuda: AsCuda = True,
    data: Stands = Data.NONE,
    write: Write = False,
    plan: Plan = False,
    database: options.Databases = None,
    schemas: options.SchemaFiles = None,
    format: Formats = None,
    output: options.OutputFile = None,
    timeout: Timeout = None,
    memory: model_options.Memory = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    explain: options.Explain = False,
    top: options.Top = None,
) -> None:
    from opcheck.commands.run import answer

    if compare and values is False:
        raise UsageError(
            Sentence("--shapes computes nothing that --compare could compare"),
            Sentence("leave --shapes out: --compare computes with values"),
        )
    detail = Detail(verbose, quiet, explain, top)
    out = Outputs(format, output, detail, "run")
    script = ScriptSpec.parse(words, module=module)
    if ranks is not None:
        script = replace(script, processes=ranks)
    request = ScriptRequest(
        script,
        ModelSpec(script.name, schemas=tuple(schemas or ()), timeout=timeout, memory=memory),
        options.only(target, after=words),
        values=bool(values) or compare,
        compare=compare,
        stop=stop,
        as_cuda=as_cuda,
        steps=steps,
        forwards=forwards,
        write=write,
        plan=plan,
        data=data,
        databases=tuple(database or ()),
    )
    try:
        with Progress(quiet) as progress:
            found = answer.run(request, progress, forward_output)
    except PartialRunError as error:
        out.write(error.run)
        raise
    found = _hinted(found, context)
    out.write(found)
    raise typer.Exit(_exit_code(request, found))


def _hinted(found: ScriptRun, context: typer.Context) -> ScriptRun:
    """The run with a note where the script was given what is an option of this command."""
    own = {name for param in context.command.params for name in param.opts}
    given = dict.fromkeys(word.partition("=")[0] for word in found.unrecognized)
    names = [name for name in given if name in own]
    if not names:
        return found
    hint = Sentence(
        "the script does not know {list}, which opcheck run does: its own options stand before "
        "the script",
        list=", ".join(names),
    )
    emulation = found.emulation
    return replace(found, emulation=replace(emulation, notes=(*emulation.notes, hint)))


def _exit_code(request: ScriptRequest, found: ScriptRun) -> ExitCode:
    """GATE where the device was to refuse and did, MODEL where the script shows nothing of it."""
    if request.stop and found.emulation.refusals:
        return ExitCode.GATE
    ended_well = found.ending in ENDED_WELL
    return ExitCode.PASS if ended_well and found.used else ExitCode.MODEL
