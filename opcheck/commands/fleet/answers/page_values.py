"""What the web page of a fleet shows: every model on every target, and what is missing most."""

from msgspec import Struct

from opcheck.commands.fleet.answers.values import BlockedBy, Missing, Standing, Summary
from opcheck.commands.fleet.values import Ending


class Cell(Struct, frozen=True):
    """One model on one target."""

    standing: Standing
    support_rate: float | None
    causes: tuple[int, ...]
    """Places in :attr:`FleetPage.causes`, worst first."""


class ModelRow(Struct, frozen=True):
    """One model of the run."""

    name: str
    source: str
    kind: str
    ending: Ending
    reason: str
    hint: str
    calls: int
    operators: int
    gaps: int
    """How many places were not seen."""
    cells: tuple[Cell, ...]
    """In the order of the run's targets."""
    report: str = ""
    """Address of its report, relative to the page; "" where none was written."""


class FleetPage(Struct, frozen=True):
    """A run with all its answers."""

    opcheck_version: str
    store: str
    """As the user named it."""
    summary: Summary
    missing: tuple[Missing, ...]
    """For each goal, by vendor."""
    causes: tuple[BlockedBy, ...]
    models: tuple[ModelRow, ...]
    """Those that are done, in the order of the run."""
