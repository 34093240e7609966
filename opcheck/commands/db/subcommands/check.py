"""``opcheck db check``: what is wrong with the database."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.errors import ExitCode
from opcheck.views.formats import command_view


def check(
    database: options.Databases = None,
    format: Annotated[str, options.format_of("db")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Check every file of the database.

    Form, duplicates, evidence, names, spans, and edits of generated files. Exits with 4 where
    something is wrong.
    """
    from opcheck.commands.db import answer

    view, out = command_view("db", format), Output(output)
    found = answer.database_check(tuple(database or ()))
    out.write(view.render(found, out.page(Detail(verbose))))
    raise typer.Exit(ExitCode.DATABASE if found.problems else ExitCode.PASS)
