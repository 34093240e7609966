"""``opcheck db diff``: what changed from one release to another."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.model.target import TargetSpec
from opcheck.views.formats import command_view

Before = Annotated[
    TargetSpec,
    typer.Argument(
        parser=options.target,
        metavar="BEFORE",
        help="A target, or VENDOR@RELEASE for every chip of a vendor.",
        show_default=False,
    ),
]
After = Annotated[
    TargetSpec | None,
    typer.Argument(
        parser=options.target,
        metavar="[AFTER]",
        help="The same, to compare with.",
        show_default="BEFORE with the overlays of --db",
    ),
]


def diff(
    before: Before,
    after: After = None,
    database: options.Databases = None,
    format: Annotated[str, options.format_of("db")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Show what changed from one target to another.

    Operators added and removed, and those whose keys, kernel paths or conditions differ.
    """
    from opcheck.commands.db import answer

    view, out = command_view("db", format), Output(output)
    found = answer.database_diff(before, after, tuple(database or ()))
    out.write(view.render(found, out.page(Detail(verbose))))
