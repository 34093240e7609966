"""Every sentence of the page on upgrades."""

from opcheck.commands.upgrade.values import MoveKind
from opcheck.views.terminal.units import percent, plural
from opcheck.views.terminal.words import RUNS, RUNS_CELL

NOTHING_BLOCKS = "every operator runs natively, so there is nothing to move for"
BREAKS = "breaks what works today:"
NOWHERE = "none of them gains anything"
BEST = ("Best move", "the smallest of those that gain most")
SMALLER = ("Smaller moves", "each gains less")
BLOCKED = ("In the way", "the first target of each kind without it")
STUCK = "no release, torch version or chip of this vendor removes it"
MOVE_COLUMNS = ("move", "to", "removes", "breaks", "runs", "share")

KINDS = {
    MoveKind.TORCH: "another torch version of the same release",
    MoveKind.RELEASE: "a newer release",
    MoveKind.CHIP: "another chip",
}
LABELS = {MoveKind.TORCH: "torch", MoveKind.RELEASE: "release", MoveKind.CHIP: "chip"}


def verdict(runs: bool | None, findings: int) -> str:
    """How the target fares today."""
    return f"{RUNS[runs]}, {plural(findings, 'finding')} in the way"


def tried(count: int) -> str:
    """How many other targets were looked at."""
    return f"{plural(count, 'other target')} of the vendor looked at"


def removes(removed: int, of: int) -> str:
    """How many findings a move removes."""
    return f"removes {removed:,} of {plural(of, 'finding')}"


def then(runs: bool | None, rate: float | None) -> str:
    """How the model fares after the move."""
    there = {True: "it runs there", False: "it still will not run there", None: "cannot tell there"}
    share = "" if rate is None else f", {percent(rate)} of its operators run natively"
    return f"{there[runs]}{share}"


def cell(runs: bool | None) -> str:
    """Whether it runs, in a table."""
    return RUNS_CELL[runs]


def left(count: int) -> str:
    """What the best move leaves."""
    return f"leaves {plural(count, 'finding')}:"
