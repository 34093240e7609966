"""``opcheck targets``: what there is to scan against."""

import typer

from opcheck.cli import options
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.report.base import format_named


def targets(
    context: typer.Context,
    database: options.Databases = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
) -> None:
    """List the targets in the database.

    With the newest release, the torch versions that it serves, and the other releases.
    """
    view, out = format_named(format), Output(output)
    rows = rooms(context).targets(tuple(database or ()))
    out.write(view.render_targets(rows, out.page()))
