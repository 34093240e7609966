"""``opcheck explain``: one operator, without a model."""

from typing import Annotated

import typer

from opcheck.cli import options
from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.report.base import format_named

Operator = Annotated[
    str,
    typer.Argument(
        metavar="OPERATOR",
        help="aten::gelu, aten.gelu.default, or a base name for all its overloads.",
        show_default=False,
    ),
]


def explain(
    context: typer.Context,
    operator: Operator,
    target: options.Targets = None,
    database: options.Databases = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Say how an operator fares on a target, or what a rewrite rule does.

    With every condition, what it decomposes to, the releases that have it, and the evidence.
    """
    view, out = format_named(format), Output(output)
    if "-" in operator and "::" not in operator:  # no operator is called so, and every rule
        out.write(view.render_rules(rooms(context).rules(operator, ()), out.page(Detail(verbose))))
        return
    explanations = rooms(context).explain(operator, tuple(target or ()), tuple(database or ()))
    out.write(view.render_explanations(explanations, out.page(Detail(verbose))))
