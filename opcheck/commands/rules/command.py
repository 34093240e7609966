"""``opcheck rules``: the rewrites that a plan chooses from."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.output import Output
from opcheck.errors import ExitCode
from opcheck.views.formats import command_view

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
    name: Name = None,
    check: Check = False,
    rules: options.RuleFolders = None,
    format: Annotated[str, options.format_of("rules")] = "text",
    output: options.OutputFile = None,
) -> None:
    from opcheck.commands.rules import answer

    view, out = command_view("rules", format), Output(output)
    folders = tuple(rules or ())
    if not check:
        out.write(view.render(answer.rules(name or "", folders), out.page()))
        return
    found = answer.check_rules(name or "", folders)
    out.write(view.render(found, out.page()))
    raise typer.Exit(ExitCode.PASS if found.holds else ExitCode.GATE)
