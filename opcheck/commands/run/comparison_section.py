"""The section of the page that says where a run parts from one on the CPU."""

from opcheck.commands.run import parting_words
from opcheck.lang.sentence import chained
from opcheck.model.comparison import Comparison, Parting
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import PLACE, Atom, Canvas, split
from opcheck.views.terminal.findings import ROWS, after_dot
from opcheck.views.terminal.notation import plural
from opcheck.views.terminal.sections import write_heading


def write_comparison(canvas: Canvas, found: Comparison) -> None:
    """The first parting whole, a line for each further place, and how much agrees."""
    apart = bool(found.partings)
    count = plural(found.compared, "tensor") if found.compared else ""
    write_heading(canvas, parting_words.HEADING, count, "red" if apart else "")
    if not apart:
        good = (canvas.marks.good, "green") if found.compared else (canvas.marks.open, "yellow")
        canvas.flow([good, *split(parting_words.headline(found))], 2)
    else:
        _write_partings(canvas, found)
    for note in parting_words.notes(found):
        canvas.flow(split(note, "dim"), 2)


def _write_partings(canvas: Canvas, found: Comparison) -> None:
    first, *others = found.partings
    canvas.blank()
    canvas.flow([*_place(first), *after_dot(canvas, parting_words.what(first))], 2)
    canvas.field(parting_words.HOW, split(parting_words.how(first), "red"), 4)
    if given := parting_words.dtypes(first):
        canvas.field(parting_words.DTYPES, split(given), 4)
    for one in first.within:
        said = chained((parting_words.what(one), parting_words.briefly(one)), "; ")
        canvas.field(parting_words.WITHIN, [*_place(one), *after_dot(canvas, said)], 4)
    shown = others if canvas.page.full else others[:ROWS]
    for parting in shown:
        said = chained((parting_words.what(parting), parting_words.briefly(parting)), "; ")
        canvas.field(parting_words.NEXT, [*_place(parting), *after_dot(canvas, said)], 4)
    if len(others) > len(shown):
        canvas.field("", split(words.more(len(others) - len(shown), "place"), "dim"), 4)
    canvas.blank()
    canvas.flow(split(parting_words.agreeing(found)), 2)


def _place(parting: Parting) -> list[Atom]:
    at = parting_words.place(parting)
    return [(at, f"bold {PLACE}")] if at else split(words.ROOT, "bold")
