"""``opcheck explain``: one operator, without a model."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.views.formats import command_view

Operator = Annotated[
    str,
    typer.Argument(
        metavar="OPERATOR",
        help="aten::gelu, aten.gelu.default, or a base name for all its overloads.",
        show_default=False,
    ),
]


def explain(
    operator: Operator,
    target: options.Targets = None,
    database: options.Databases = None,
    format: Annotated[str, options.format_of("explain")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    from opcheck.commands.explain import answer
    from opcheck.commands.rules import answer as rules_answer

    view, out = command_view("explain", format), Output(output)
    if "-" in operator and "::" not in operator:  # no operator is called so, and every rule
        rule = command_view("rules", format)
        out.write(rule.render(rules_answer.rules(operator, ()), out.page(Detail(verbose))))
        return
    explanations = answer.explain(operator, tuple(target or ()), tuple(database or ()))
    out.write(view.render(explanations, out.page(Detail(verbose))))
