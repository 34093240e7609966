"""``opcheck fleet`` by itself is ``opcheck fleet run``; the options that its commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from opcheck.app.direct import DefaultGroup

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


class Group(DefaultGroup):
    """Tells in its help what a manifest may be."""

    def format_forms(self, ctx: Any, formatter: Any, *, full: bool) -> None:
        """Write the forms of MANIFEST."""
        from opcheck.commands.fleet.manifest.read import FORMS

        with formatter.section("Manifests"):
            formatter.write_dl(list(FORMS.items()))
