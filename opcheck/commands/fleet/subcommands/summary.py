"""``opcheck fleet summary``: how many models of a run run where."""

from typing import Annotated

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.commands.fleet import group as fleet_options
from opcheck.views.formats import command_view


def summary(
    store: fleet_options.Store,
    run: fleet_options.RunName = "last",
    format: Annotated[str, options.format_of("fleet")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Count the models of a run that run on each target.

    And how many on the device alone, which have no answer, and why.
    """
    from opcheck.commands.fleet.answers.queries import summary_of
    from opcheck.commands.fleet.store.store import whole

    view, out = command_view("fleet", format), Output(output)
    with whole(store):
        out.write(view.render(summary_of(store, run), out.page(Detail(verbose))))
