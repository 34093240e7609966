"""The options that the commands on a fleet share."""

from pathlib import Path
from typing import Annotated

import typer

Store = Annotated[
    Path,
    typer.Argument(
        parser=Path, metavar="STORE", help="What opcheck fleet wrote.", show_default=False
    ),
]
RunName = Annotated[
    str,
    typer.Option("--run", metavar="RUN", help="The number of a run, last or previous."),
]
RunTargets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        "-t",
        metavar="TARGET",
        help="A target of the run, its vendor, or a glob as ascend-*, repeatable.",
        show_default="all of the run",
    ),
]
