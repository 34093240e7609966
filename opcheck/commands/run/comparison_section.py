"""The section of the page that says where a run parts from one on the CPU."""

from opcheck.commands.run import compared
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
    write_heading(canvas, compared.HEADING, count, "red" if apart else "")
    if not apart:
        good = (canvas.marks.good, "green") if found.compared else (canvas.marks.open, "yellow")
        canvas.flow([good, *split(compared.headline(found))], 2)
    else:
        _write_partings(canvas, found)
    for note in compared.notes(found):
        canvas.flow(split(note, "dim"), 2)


def _write_partings(canvas: Canvas, found: Comparison) -> None:
    first, *others = found.partings
    canvas.blank()
    canvas.flow([*_place(first), *after_dot(canvas, compared.what(first))], 2)
    canvas.field(compared.HOW, split(compared.how(first), "red"), 4)
    if given := compared.dtypes(first):
        canvas.field(compared.DTYPES, split(given), 4)
    for one in first.within:
        said = chained((compared.what(one), compared.briefly(one)), "; ")
        canvas.field(compared.WITHIN, [*_place(one), *after_dot(canvas, said)], 4)
    shown = others if canvas.page.full else others[:ROWS]
    for parting in shown:
        said = chained((compared.what(parting), compared.briefly(parting)), "; ")
        canvas.field(compared.NEXT, [*_place(parting), *after_dot(canvas, said)], 4)
    if len(others) > len(shown):
        canvas.field("", split(words.more(len(others) - len(shown), "place"), "dim"), 4)
    canvas.blank()
    canvas.flow(split(compared.agreeing(found)), 2)


def _place(parting: Parting) -> list[Atom]:
    at = compared.place(parting)
    return [(at, f"bold {PLACE}")] if at else split(words.ROOT, "bold")
