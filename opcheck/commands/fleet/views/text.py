"""The page for each thing that is said of a fleet as a whole."""

from collections.abc import Sequence
from typing import assert_never

from opcheck.commands.fleet.answers.values import (
    Difference,
    Failure,
    FleetView,
    Missing,
    Standing,
    Summary,
    TargetTally,
)
from opcheck.commands.fleet.terminal import words
from opcheck.commands.fleet.terminal.answers import write_answers
from opcheck.commands.fleet.terminal.changes import write_difference
from opcheck.commands.fleet.terminal.ranking import write_missing
from opcheck.commands.fleet.values import Answers, Run
from opcheck.lang.speech import tell
from opcheck.views.formats import PLAIN, Page
from opcheck.views.targets import short_target_names
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split
from opcheck.views.terminal.notation import percent, plural
from opcheck.views.terminal.sections import write_heading
from opcheck.views.terminal.words import more

FAILURES, NAMES = 8, 4
"""How many reasons, and how many models of each, are named unless all are asked for."""
_STYLES = {
    Standing.DEVICE: "green",
    Standing.FALLBACK: "yellow",
    Standing.UNKNOWN: "magenta",
    Standing.BROKEN: "red",
    Standing.NO_ANSWER: "dim",
}


def render(view: FleetView, page: Page = PLAIN) -> str:
    """Whatever it is, as text."""
    canvas = Canvas(page)
    match view:
        case Summary():
            _write_summary(canvas, view)
        case Missing():
            write_missing(canvas, view)
            _write_run(canvas, view.run)
        case Difference():
            write_difference(canvas, view)
        case Answers():
            write_answers(canvas, view)
        case _:
            assert_never(view)
    return canvas.text()


def _write_summary(canvas: Canvas, found: Summary) -> None:
    dot: Atom = (canvas.marks.dot, "dim")
    head = words.everywhere(found.everywhere, found.run.done, len(found.targets))
    line = split(head, "bold")
    if len(found.targets) > 1:
        line += [dot, *split(words.nowhere(found.nowhere))]
    canvas.flow(line)
    canvas.flow(split(words.endings(found.endings), "dim"), 2)
    write_heading(canvas, words.TARGETS, plural(len(found.targets), "target"), "")
    names = short_target_names(tally.target.target for tally in found.targets)
    _write_tallies(canvas, [_row(canvas, tally, names[tally.target.target])
                            for tally in found.targets])  # fmt: skip
    if found.failures:
        _write_failures(canvas, found.failures)
    _write_run(canvas, found.run)


def _write_tallies(canvas: Canvas, rows: Sequence[Sequence[Atom]]) -> None:
    """A table of as many columns as there is room for."""
    names = words.SUMMARY_COLUMNS
    header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in names]
    for count in range(len(words.LESS) + 1):
        kept = [at for at, name in enumerate(names) if name not in words.LESS[:count]]
        table = [[row[at] for at in kept] for row in (header, *rows)]
        if canvas.has_room(table, 2):
            break
    canvas.table(table)


def _row(canvas: Canvas, tally: TargetTally, name: str) -> list[Atom]:
    counts = tally.counts
    runs = counts[Standing.DEVICE] + counts[Standing.FALLBACK]
    rate = canvas.marks.dash if tally.support_rate is None else percent(tally.support_rate)
    return [
        (name, "bold"),
        (f"{runs:,}", "green" if runs else "dim"),
        *((f"{counts[one]:,}", _STYLES[one] if counts[one] else "dim") for one in Standing),
        (rate, ""),
    ]


def _write_failures(canvas: Canvas, failures: Sequence[Failure]) -> None:
    count = sum(len(failure.models) for failure in failures)
    write_heading(canvas, words.FAILURES, plural(count, "model"), "")
    shown = failures if canvas.page.verbose else failures[:FAILURES]
    for failure in shown:
        names = failure.models if canvas.page.verbose else failure.models[:NAMES]
        left_out = len(failure.models) - len(names)
        canvas.flow([*split(f"{words.ENDINGS[failure.ending]}:", "red"),
                     *split(failure.reason)], 2)  # fmt: skip
        canvas.flow([*listed(names), *_rest(left_out, "model")], 4)
    if len(failures) > len(shown):
        canvas.flow(split(more(len(failures) - len(shown), "reason"), "dim"), 2)


def _rest(count: int, noun: str) -> list[Atom]:
    return split(more(count, noun), "dim") if count else []


def _write_run(canvas: Canvas, run: Run) -> None:
    """Which run it is, and how far it is where it is not over."""
    canvas.blank()
    if not run.ended:
        canvas.flow([*split(f"{words.NOT_OVER}:", "magenta"), *split(words.done(run))])
    dot = canvas.marks.dot
    said = (
        f"{words.run_of(run)} {dot} torch {run.torch_version} {dot} opcheck {run.opcheck_version}"
    )
    canvas.flow(split(said, "dim"))
