"""``opcheck rules``: the rewrites that a plan chooses from."""

from typing import Annotated

import typer

from opcheck.cli import options
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.report.base import format_named

Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="A rule, or an overload that rules replace: aten::roll."),
]


def rules(
    context: typer.Context,
    name: Name = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
) -> None:
    """List the rewrite rules, or show one: its code, and why that is equal."""
    view, out = format_named(format), Output(output)
    found = rooms(context).rules(name or "")
    out.write(view.render_rules(found, out.page()))
