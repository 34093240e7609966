"""``opcheck lint``: sources read, never run."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress
from opcheck.errors import ExitCode
from opcheck.model.porting import LintRequest
from opcheck.views.formats import Page, command_view

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
    path: Sources,
    target: options.Targets = None,
    fix: Fixes = False,
    write: Write = False,
    check: Check = False,
    format: Annotated[str, options.format_of("lint")] = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    verbose: options.Verbose = False,
) -> None:
    from opcheck.commands.lint import answer

    view, out = command_view("lint", format), Output(output)
    request = LintRequest(path, tuple(target or ()), tuple(database or ()), fix, write)
    with Progress() as progress:
        found = answer.lint(request, progress)
    apart = fix and not write and format == "text" and output is None
    if fix and not write and (output is not None or format == "text"):
        Output(None).write(found.diff)  # nothing else, so that git apply can read it
    if apart:
        typer.echo(view.render(found, Page(verbose=verbose)), err=True, nl=False)
    else:
        out.write(view.render(found, out.page(Detail(verbose))))
    if check and any(not one.quiet for target in found.targets for one in target.findings):
        raise typer.Exit(ExitCode.GATE)
