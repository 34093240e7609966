"""``opcheck db show``: what the database holds for one target, or for one operator on it."""

from typing import Annotated

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.model.target import TargetSpec
from opcheck.report.base import format_named

OneSpec = Annotated[
    TargetSpec,
    typer.Argument(
        parser=options.target,
        metavar="TARGET",
        help="NAME[@SDK][+torchX.Y]; opcheck targets lists them.",
        show_default=False,
    ),
]
OneOperator = Annotated[
    str | None,
    typer.Argument(
        metavar="[OPERATOR]",
        help="aten::gelu, aten.gelu.default, or a base name for all its overloads.",
        show_default="the target as a whole",
    ),
]


def show(
    context: typer.Context,
    target: OneSpec,
    operator: OneOperator = None,
    database: options.Databases = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Show what the database holds for a target.

    Kernels by how they are known, conditions, fallback and sources; or one operator's cells.
    """
    view, out, databases = format_named(format), Output(output), tuple(database or ())
    if operator is not None:
        explained = rooms(context).explain(operator, (target,), databases)
        out.write(view.render_explanations(explained, out.page(Detail(verbose))))
        return
    found = rooms(context).database_show(target, databases)
    out.write(view.render_database(found, out.page(Detail(verbose))))
