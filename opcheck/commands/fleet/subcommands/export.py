"""``opcheck fleet export``: a run as files for notebooks."""

from typing import Annotated

import typer

from opcheck.app.output import Output
from opcheck.commands.fleet import group as fleet_options

Parquet = Annotated[
    str,
    typer.Option("--parquet", metavar="FOLDER", help="Where to write answers and problems."),
]


def export(
    store: fleet_options.Store,
    parquet: Parquet,
    run: fleet_options.RunName = "last",
) -> None:
    """Write a run as Parquet files.

    One file for each view of the store: answers.parquet and problems.parquet. It needs pyarrow.
    """
    from opcheck.commands.fleet.answers.queries import export_of

    out = Output(None)
    out.write("".join(f"{path}\n" for path in export_of(store, parquet, run)))
