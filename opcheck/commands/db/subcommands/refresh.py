"""``opcheck db refresh``: a newer release of a vendor, from a checkout to what it changes."""

from pathlib import Path
from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import Progress
from opcheck.errors import ExitCode
from opcheck.views.formats import command_view

Vendor = Annotated[
    str,
    typer.Argument(
        metavar="VENDOR", help="Whose release it is: google, ascend, …", show_default=False
    ),
]
SourcesFolder = Annotated[
    Path,
    typer.Argument(
        parser=Path,
        metavar="PATH",
        help="The folder of the vendor's files, or the one that holds it; new files go there.",
        show_default=False,
    ),
]
Checkouts = Annotated[
    list[Path],
    typer.Option(
        "--from",
        parser=Path,
        metavar="DIR",
        help="A checkout of a repository of the vendor's, with or without a work tree, repeatable.",
    ),
]
Release = Annotated[str, typer.Option("--release", metavar="R", help="What it is called here.")]
Revision = Annotated[
    str,
    typer.Option(
        "--revision",
        metavar="REV",
        help="Its tag or branch in the checkouts.",
        show_default="named as that of the release before",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="SOURCE",
        help="A model to scan on both releases, repeatable.",
        show_default="five of the libraries'",
    ),
]
NoModels = Annotated[
    bool, typer.Option("--no-models", help="Scan no model.", show_default="scan some")
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


def refresh(
    vendor: Vendor,
    path: SourcesFolder,
    checkouts: Checkouts,
    release: Release,
    revision: Revision = "",
    model: Models = None,
    no_models: NoModels = False,
    into: Into = None,
    format: Annotated[str, options.format_of("db")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Bring in a newer release of a vendor, and show what it changes.

    The files that the release before was read from are taken from the checkouts at the newer one,
    imported and compared; then every file of the database is checked, and models are scanned on
    both. Exits with 4 where the check finds something.
    """
    from opcheck.commands.db import answer

    view, out = command_view("db", format), Output(output)
    models = () if no_models else tuple(model or answer.ZOO)
    with Progress() as progress:
        found = answer.database_refresh(
            vendor, path, checkouts, release, revision, models, into, progress
        )
    out.write(view.render(found, out.page(Detail(verbose))))
    raise typer.Exit(ExitCode.DATABASE if found.audit.problems else ExitCode.PASS)
