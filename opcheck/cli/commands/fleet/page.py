"""``opcheck fleet page``: a run as a web page."""

from opcheck.cli import fleet_options, options
from opcheck.cli.output import Output


def page(
    store: fleet_options.Store,
    run: fleet_options.RunName = "last",
    output: options.OutputFile = None,
) -> None:
    """Write a run as a web page: every model on every target, and what would unblock most.

    One file that needs no network: models and targets to sort, filter and search, what is in the
    way of each, and the ranking of each vendor.
    """
    from opcheck.fleet.answers.page import page_of
    from opcheck.report.html.fleet.page import fleet_page

    out = Output(output)
    out.write(fleet_page(page_of(store, run)))
