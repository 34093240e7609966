"""``opcheck doctor``: what is installed, and whether it goes together."""

from typing import Annotated

import typer

from opcheck.app import model_options, options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress
from opcheck.commands.doctor.values import DoctorRequest
from opcheck.errors import ExitCode
from opcheck.model.target import TargetSpec
from opcheck.views.formats import command_view

Targets = Annotated[
    list[TargetSpec] | None,
    typer.Option(
        "--target",
        "-t",
        parser=options.target,
        metavar="TARGET",
        help="NAME[@RELEASE][+torchX.Y] or VENDOR, repeatable; RELEASE is the plugin's or the "
        "toolkit's, and 8.x leaves its end open.",
        show_default="every vendor of which something is installed",
    ),
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan", help="Look at nothing here: plan another machine.", show_default="where "
        "nothing of the target's is here",
    ),
]  # fmt: skip
NoImport = Annotated[
    bool,
    typer.Option(
        "--no-import",
        help="Import no package to see whether it can be.",
        show_default="each in a process of its own",
    ),
]
Write = Annotated[
    list[str] | None,
    typer.Option(
        "--write",
        metavar="FILE",
        help="Write the set as a Dockerfile, requirements.txt or env.sh. Repeatable.",
        show_default="no",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files that are there.", show_default="refuse")
]


def doctor(
    target: Targets = None,
    plan: Plan = False,
    no_import: NoImport = False,
    write: Write = None,
    force: Force = False,
    format: Annotated[str, options.format_of("doctor")] = "text",
    output: options.OutputFile = None,
    database: options.Databases = None,
    timeout: model_options.Timeout = None,
    verbose: options.Verbose = False,
) -> None:
    from opcheck.commands.doctor import answer

    view, out = command_view("doctor", format), Output(output)
    request = DoctorRequest(
        tuple(target or ()), tuple(database or ()), plan, not no_import, timeout,
        tuple(write or ()), force,
    )  # fmt: skip
    with Progress() as progress:
        found = answer.doctor(request, progress)
    out.write(view.render(found, out.page(Detail(verbose))))
    raise typer.Exit(ExitCode.PASS if found.passed else ExitCode.GATE)
