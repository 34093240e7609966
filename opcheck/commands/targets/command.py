"""``opcheck targets``: what there is to scan against."""

from typing import Annotated

from opcheck.app import options
from opcheck.app.output import Output
from opcheck.views.formats import command_view


def targets(
    database: options.Databases = None,
    format: Annotated[str, options.format_of("targets")] = "text",
    output: options.OutputFile = None,
) -> None:
    from opcheck.commands.targets import answer

    view, out = command_view("targets", format), Output(output)
    rows = answer.targets(tuple(database or ()))
    out.write(view.render(rows, out.page()))
