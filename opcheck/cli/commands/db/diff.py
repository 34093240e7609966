"""``opcheck db diff``: what changed from one release to another."""

from typing import Annotated

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.model.target import TargetSpec
from opcheck.report.base import format_named

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
    context: typer.Context,
    before: Before,
    after: After = None,
    database: options.Databases = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Tell what changed from one target to another.

    Operators added and removed, and those whose keys, kernel paths or conditions differ.
    """
    view, out = format_named(format), Output(output)
    found = rooms(context).database_diff(before, after, tuple(database or ()))
    out.write(view.render_database(found, out.page(Detail(verbose))))
