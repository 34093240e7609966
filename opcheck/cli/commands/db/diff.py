"""``opcheck db diff``: what changed from one release to another."""

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.report.base import format_named


def diff(
    context: typer.Context,
    before: options.Before,
    after: options.After,
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
