"""``opcheck lint``: sources read, never run."""

from typing import Annotated

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.cli.progress import Progress
from opcheck.cli.rooms import rooms
from opcheck.errors import ExitCode
from opcheck.model.lint import LintRequest
from opcheck.report.base import Page, format_named

Sources = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A Python, C++ or CUDA source, or a folder of them.",
        show_default=False,
    ),
]
Fixes = Annotated[
    bool,
    typer.Option(
        "--fix",
        help="Replace what is plain, for one target: a unified diff on stdout, the report on "
        "stderr or in --output; with --write the files themselves, all of them or none.",
        show_default="no",
    ),
]
Write = Annotated[
    bool,
    typer.Option("--write", help="With --fix, change your files in place.", show_default="no"),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Exit with 10 where there is something to do about.", show_default="no"
    ),
]


def lint(
    context: typer.Context,
    path: Sources,
    target: options.Targets = None,
    fix: Fixes = False,
    write: Write = False,
    check: Check = False,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    verbose: options.Verbose = False,
) -> None:
    """Say what in sources is for CUDA alone, and what a target has instead.

    The sources are read, never run: device strings, torch.cuda, NCCL, packages and extensions for
    CUDA, kernels in CUDA C++ and Triton, and names that vendors have given up. A comment
    "# opcheck: ignore[CODE]" silences its line. The exit code is 0 whenever there is an answer;
    with --check, as a hook wants it, it is 10 unless that is nothing.
    """
    view, out = format_named(format), Output(output)
    request = LintRequest(path, tuple(target or ()), tuple(database or ()), fix, write)
    with Progress() as progress:
        found = rooms(context).lint(request, progress)
    apart = fix and not write and format == "text" and output is None
    if fix and not write and (output is not None or format == "text"):
        Output(None).write(found.diff)  # nothing else, so that git apply can read it
    if apart:
        typer.echo(view.render_lint(found, Page(verbose=verbose)), err=True, nl=False)
    else:
        out.write(view.render_lint(found, out.page(Detail(verbose))))
    if check and any(not one.quiet for target in found.targets for one in target.findings):
        raise typer.Exit(ExitCode.GATE)
