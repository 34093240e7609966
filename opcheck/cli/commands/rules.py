"""``opcheck rules``: the rewrites that a plan chooses from."""

from typing import Annotated

import typer

from opcheck.cli import options
from opcheck.cli.output import Output
from opcheck.cli.rooms import rooms
from opcheck.errors import ExitCode
from opcheck.report.base import format_named

Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="A rule, or an overload that rules replace: aten::roll."),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Try the rules on random calls beside the operators; exit with 10 where one is off.",
        show_default="list them",
    ),
]


def rules(
    context: typer.Context,
    name: Name = None,
    check: Check = False,
    rules: options.RuleFolders = None,
    format: options.FormatName = "text",
    output: options.OutputFile = None,
) -> None:
    """List the rewrite rules, or show one: its code, and why that is equal.

    --check tries the one that is named, or all of the user's own, on the same random calls every
    time: shapes, dtypes and layouts, values and gradients.
    """
    view, out = format_named(format), Output(output)
    folders = tuple(rules or ())
    if not check:
        out.write(view.render_rules(rooms(context).rules(name or "", folders), out.page()))
        return
    found = rooms(context).check_rules(name or "", folders)
    out.write(view.render_rule_checks(found, out.page()))
    raise typer.Exit(ExitCode.PASS if all(one.holds for one in found) else ExitCode.GATE)
