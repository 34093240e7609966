"""``opcheck fix``: a plan carried out."""

import keyword
from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.guide import MORE
from opcheck.app.model_options import ModelCommand
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress, discard_output, forward_output
from opcheck.commands.fix.fused import Better
from opcheck.commands.fix.padded import Padding
from opcheck.commands.fix.values import Fix, FixKind, FixRequest
from opcheck.errors import ExitCode, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.padding import bucket_sizes
from opcheck.model.plan import Label
from opcheck.model.request import ScanRequest
from opcheck.views.formats import Page, command_view

ShimFile = Annotated[
    str | None,
    typer.Option(
        "--shim",
        metavar="FILE",
        help="Write a Python file that registers the kernels the target lacks; the model stays.",
        show_default="none",
    ),
]
Diff = Annotated[
    bool,
    typer.Option(
        "--diff",
        help="Change calls in your Python files: a unified diff on stdout, the report on stderr "
        "or in --output; with --write the files themselves, all of them or none.",
        show_default="no",
    ),
]
PatchFile = Annotated[
    str | None,
    typer.Option(
        "--patch",
        metavar="FILE",
        help="Write a Python file with subclasses for layers of libraries, which stay as they are.",
        show_default="none",
    ),
]
GraphFile = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="FILE",
        help="Write a .pt2 file: the exported program with other calls in it.",
        show_default="none",
    ),
]
FuseCalls = Annotated[
    bool,
    typer.Option(
        "--better",
        help="Fuse calls into kernels that the vendor has for them, mending none: with --graph in "
        "that file, with --diff in your own classes; by itself, only tell what it would bring.",
        show_default="no",
    ),
]
Dynamic = Annotated[
    list[str] | None,
    typer.Option(
        "--dynamic",
        metavar="NAME:DIM[,DIM]",
        help="Dimensions of an input whose size is not always the same, repeatable: pad them to "
        "few sizes, mending none; by itself, only tell what that would bring.",
        show_default="none",
    ),
]
WrapperFile = Annotated[
    str | None,
    typer.Option(
        "--wrapper",
        metavar="FILE",
        help="With --dynamic: write a Python module that wraps the model.",
        show_default="none",
    ),
]
Buckets = Annotated[
    list[str] | None,
    typer.Option(
        "--buckets",
        metavar="[NAME:DIM=]SIZE,SIZE",
        help="With --dynamic: the sizes to pad to, of all dimensions or of one, repeatable.",
        show_default="the example's size, its half, quarter and eighth",
        rich_help_panel=MORE,
    ),
]
Helpers = Annotated[
    str | None,
    typer.Option(
        "--helpers",
        metavar="FILE",
        help="With --diff: the module that functions go into, beside each file that calls them.",
        show_default="the file itself, or opcheck_helpers.py for more than 40 lines",
        rich_help_panel=MORE,
    ),
]

CustomOp = Annotated[
    str | None,
    typer.Option(
        "--custom-op",
        metavar="NAME",
        help="Write a project for a kernel of your own: binding, build, test, and as much of the "
        "kernel as is known. NAME is an overload as the plan shows it.",
        show_default="none",
    ),
]
Into = Annotated[
    str | None,
    typer.Option(
        "--into",
        metavar="DIR",
        help="The folder for --custom-op; with --write, one that is there.",
        show_default="opcheck_NAME",
        rich_help_panel=MORE,
    ),
]
Toolchain = Annotated[
    str | None,
    typer.Option(
        "--toolchain",
        metavar="NAME",
        help="What --custom-op builds with: ascend-c, bang-c, musa-c, cuda, hip, triton, "
        "triton-ascend, metal.",
        show_default="the vendor's own",
        rich_help_panel=MORE,
    ),
]


def _kind_and_place(
    shim: str | None,
    diff: bool,
    patch: str | None,
    graph: str | None,
    custom: str | None,
    better: bool,
) -> tuple[FixKind, str]:
    """What to write, and where; of a custom operator, its name."""
    asked = {
        FixKind.SHIM: shim,
        FixKind.DIFF: "" if diff else None,
        FixKind.PATCH: patch,
        FixKind.GRAPH: graph,
        FixKind.CUSTOM: custom,
    }
    given = [(kind, path) for kind, path in asked.items() if path is not None]
    names = ", ".join(f"--{kind}" for kind, _ in given)
    hint = Sentence(
        "give one of --shim FILE, --diff, --patch FILE, --graph FILE and --custom-op NAME"
    )
    if better and not given:
        return FixKind.GRAPH, ""
    if not given:
        raise UsageError(Sentence("nothing to write was asked for"), hint)
    if len(given) > 1:
        raise UsageError(
            Sentence("{list} at once: each changes the model by itself", list=names), hint
        )
    if better and given[0][0] not in (FixKind.GRAPH, FixKind.DIFF):
        raise UsageError(
            Sentence(
                "--better fuses calls of an exported program, and {list} changes none", list=names
            ),
            Sentence("give --better with --graph FILE or --diff, or by itself"),
        )
    return given[0]


def _require_padding_alone(
    kinds: Mapping[str, object], dynamic: list[str] | None, with_it: Mapping[str, object]
) -> None:
    """Refuse what does not go with ``--dynamic``, or only with it.

    Raises:
        UsageError: something of the kind was given.
    """
    given = [name for name, value in (kinds if dynamic else with_it).items() if value]
    if given and dynamic:
        raise UsageError(
            Sentence("--dynamic writes a wrapper, and {list} changes the model", list=given[0]),
            Sentence("give --dynamic with --wrapper FILE, or by itself"),
        )
    if given:
        raise UsageError(
            Sentence("{name} goes with --dynamic", name=given[0]),
            Sentence(
                'write NAME:DIM, as in --dynamic "ids:1", or NAME:DIM,DIM, as in --dynamic "x:2,3"'
            ),
        )


def _require_module(name: str, kind: FixKind) -> None:
    """Refuse a name of helpers that no file can import from.

    Raises:
        UsageError: it is none, or there is no diff.
    """
    if kind is not FixKind.DIFF:
        raise UsageError(Sentence("--helpers goes with --diff"), Sentence("leave it out"))
    stem = name.removesuffix(".py")
    if stem == name or not stem.isidentifier() or keyword.iskeyword(stem):
        raise UsageError(
            Sentence("--helpers {text}: no module is called so", text=name),
            Sentence("give the name of a file, as helpers.py; it goes beside the file that calls"),
        )


def _label(text: str) -> Label:
    try:
        return Label(text)
    except ValueError:
        raise typer.BadParameter(
            Sentence("not one of {list}: {text}", list=", ".join(Label), text=repr(text))
        ) from None


Allow = Annotated[
    Label | None,
    typer.Option(
        "--allow",
        parser=_label,
        metavar="LABEL",
        help="Follow also suggestions that are not exact: tolerance, or approximate as well.",
        show_default="exact",
    ),
]
Write = Annotated[
    bool,
    typer.Option(
        "--write",
        help="Write over a file that is there; with --diff, change your files in place.",
        show_default="refuse",
    ),
]


class Command(ModelCommand):
    """Writes files beside others of the user's, whose names it finds out as it goes."""

    may_be_confined = False


def fix(
    source: model_options.Source,
    target: options.OneTarget = None,
    shim: ShimFile = None,
    diff: Diff = False,
    helpers: Helpers = None,
    patch: PatchFile = None,
    graph: GraphFile = None,
    better: FuseCalls = False,
    dynamic: Dynamic = None,
    wrapper: WrapperFile = None,
    buckets: Buckets = None,
    custom_op: CustomOp = None,
    into: Into = None,
    toolchain: Toolchain = None,
    allow: Allow = None,
    write: Write = False,
    inputs: model_options.Inputs = None,
    input_sets: model_options.InputSets = None,
    decode: model_options.Decode = False,
    train: model_options.Train = False,
    step: model_options.Steps = None,
    format: Annotated[str, options.format_of("fix")] = "text",
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
    from opcheck.commands.fix import answer

    _require_padding_alone(
        {"--shim": shim, "--diff": diff, "--patch": patch, "--graph": graph,
         "--custom-op": custom_op, "--better": better},
        dynamic,
        {"--wrapper": wrapper, "--buckets": buckets},
    )  # fmt: skip
    kind, path = FixKind.WRAPPER, wrapper or ""
    if not dynamic:
        kind, path = _kind_and_place(shim, diff, patch, graph, custom_op, better)
    if kind is not FixKind.CUSTOM and (into or toolchain):
        raise UsageError(
            Sentence("--into and --toolchain go with --custom-op"), Sentence("leave them out")
        )
    if helpers is not None:
        _require_module(helpers, kind)
    view, out = command_view("fix", format), Output(output)
    model = model_options.model_spec(
        source, inputs, timeout, memory, trust, input_sets=input_sets, decode=decode, train=train,
        step=step, dynamic=dynamic, schemas=schemas,
    )  # fmt: skip
    request = FixRequest(
        ScanRequest(
            model, (options.only(target),), databases=tuple(database or ()), max_age=max_age,
            rules=tuple(rules or ()),
        ),
        kind, (into or "") if custom_op is not None else path, allow or Label.EXACT, write,
        custom_op or "", toolchain or "", helpers or "", bucket_sizes(buckets or ()),
    )  # fmt: skip
    carry_out: Callable[..., Fix | Better | Padding] = answer.fuse if better else answer.fix
    if dynamic:
        carry_out = answer.pad
    with Progress() as progress:
        found = carry_out(request, progress, forward_output if verbose else discard_output)
    diffed = found.text if isinstance(found, Fix | Better) else ""
    if kind is FixKind.DIFF and not write and (output is not None or format == "text"):
        Output(None).write(diffed)  # nothing else, so that git apply can read it
    if kind is FixKind.DIFF and not write and output is None and format == "text":
        typer.echo(view.render(found, Page(verbose=verbose)), err=True, nl=False)
    else:
        out.write(view.render(found, out.page(Detail(verbose))))
    raise typer.Exit(ExitCode.PASS if found.holds else ExitCode.GATE)
