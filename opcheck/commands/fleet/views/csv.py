"""A table of what is said of a fleet, in English, as any table is."""

from opcheck.commands.fleet.answers.values import FleetView
from opcheck.commands.fleet.table import fleet_rows
from opcheck.lang.speech import Language, speaking
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import as_csv


def render(view: FleetView, page: Page = PLAIN) -> str:
    """Give a row for each target, each need of a step, or each change."""
    with speaking(Language.ENGLISH):
        return as_csv(*fleet_rows(view))
