"""``opcheck db show``: what the database holds for one target, or for one operator on it."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.model.target import TargetSpec
from opcheck.views.formats import command_view

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
    target: OneSpec,
    operator: OneOperator = None,
    database: options.Databases = None,
    format: Annotated[str, options.format_of("db")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Show what the database holds for a target.

    Kernels by how they are known, conditions, fallback and sources; or one operator's cells.
    """
    from opcheck.commands.db import answer
    from opcheck.commands.explain import answer as explain_answer

    view, out, databases = command_view("db", format), Output(output), tuple(database or ())
    if operator is not None:
        explained = explain_answer.explain(operator, (target,), databases)
        explanations = command_view("explain", format)
        out.write(explanations.render(explained, out.page(Detail(verbose))))
        return
    found = answer.database_show(target, databases)
    out.write(view.render(found, out.page(Detail(verbose))))
