"""``opcheck db import``: a vendor's own files into the database."""

from pathlib import Path
from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.output import Output
from opcheck.views.formats import command_view

Vendor = Annotated[
    str,
    typer.Argument(
        metavar="VENDOR", help="Whose files they are: ascend, nvidia, …", show_default=False
    ),
]
SourcesFolder = Annotated[
    Path,
    typer.Argument(
        parser=Path,
        metavar="PATH",
        help="The folder of the vendor's files, or the one that holds it.",
        show_default=False,
    ),
]
Releases = Annotated[
    list[str] | None,
    typer.Option(
        "--release",
        metavar="R",
        help="Only this release, repeatable.",
        show_default="every release that PATH holds files of",
    ),
]
Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        parser=Path,
        metavar="DIR",
        help="The database to write to.",
        show_default="the one that opcheck reads",
    ),
]


def import_(
    vendor: Vendor,
    path: SourcesFolder,
    release: Releases = None,
    into: Into = None,
    format: Annotated[str, options.format_of("db")] = "text",
    output: options.OutputFile = None,
) -> None:
    """Bring a vendor's own files into the database.

    The same files give the same bytes. Digests are noted, so that later edits are noticed.
    """
    from opcheck.commands.db import answer

    view, out = command_view("db", format), Output(output)
    found = answer.database_import(vendor, path, tuple(release or ()), into)
    out.write(view.render(found, out.page()))
