"""``opcheck fleet export``: a run as files for notebooks."""

from typing import Annotated

import typer

from opcheck.cli import fleet_options
from opcheck.cli.output import Output

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
    from opcheck.fleet.ask import export_of

    out = Output(None)
    out.write("".join(f"{path}\n" for path in export_of(store, parquet, run)))
