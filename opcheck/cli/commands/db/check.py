"""``opcheck db check``: what is wrong with the database."""

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.errors import ExitCode
from opcheck.report.base import format_named


def check(
    context: typer.Context,
    database: options.Databases = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Check every file of the database.

    Form, duplicates, evidence, names, spans, and edits of generated files. Exits with 4 where
    something is wrong.
    """
    view, out = format_named(format), Output(output)
    found = rooms(context).database_check(tuple(database or ()))
    out.write(view.render_database(found, out.page(Detail(verbose))))
    raise typer.Exit(ExitCode.DATABASE if found.problems else ExitCode.PASS)
