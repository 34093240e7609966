"""``opcheck fleet summary``: how many models of a run run where."""

from opcheck.cli import fleet_options, options
from opcheck.cli.detail import Detail
from opcheck.cli.output import Output
from opcheck.report.base import format_named


def summary(
    store: fleet_options.Store,
    run: fleet_options.RunName = "last",
    format: fleet_options.FleetFormat = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Say how many models of a run run on each target.

    And how many on the device alone, which have no answer, and why.
    """
    from opcheck.fleet.answers.asked import summary_of
    from opcheck.fleet.store.damage import whole

    view, out = format_named(format), Output(output)
    with whole(store):
        out.write(view.render_fleet(summary_of(store, run), out.page(Detail(verbose))))
