"""What lists say of whole models: a line a row, below the head of its list."""

from itertools import groupby

from opcheck.commands.models.values import ListSummary, ModelsAnswer
from opcheck.lang.sentence import Sentence, chained, in_brackets, verbatim
from opcheck.lang.speech import tell
from opcheck.model.model_lists import ModelList, ModelRow, Outcome
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, linked, split
from opcheck.views.terminal.evidence import web_address
from opcheck.views.terminal.model_lists import OUTCOMES, STYLES

COLUMNS = ("list", "vendor", "engine", "release", "date", "runs", "does not", "not known")
NONE = "No list has a model of that name."
NONE_THERE = "No list has a model on that target."
HOW = "Name a part of a model, a target with -t, or both."
NOTE = "Lists speak of other code than yours, and of the releases that they name."


def render(answer: ModelsAnswer, page: Page = PLAIN) -> str:
    """The rows that were asked for, or a table of the lists."""
    canvas = Canvas(page)
    if not answer.asked:
        _write_lists(canvas, answer)
    elif not answer.rows:
        canvas.flow(split(NONE if answer.name else NONE_THERE))
    else:
        for number, (of, rows) in enumerate(groupby(answer.rows, key=lambda row: row.of)):
            if number:
                canvas.blank()
            _write_head(canvas, of)
            for row in rows:
                canvas.flow(_row(row, canvas.marks.dot), 2)
        canvas.blank()
        canvas.flow(split(NOTE, "dim"))
    return canvas.text()


def _write_lists(canvas: Canvas, answer: ModelsAnswer) -> None:
    head: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in COLUMNS]
    canvas.table([head, *map(_summary, answer.lists)], indent=0, left=range(5))
    canvas.blank()
    canvas.flow(split(HOW, "dim"))


def _summary(found: ListSummary) -> list[Atom]:
    of, counts = found.of, {True: 0, False: 0, None: 0}
    for outcome, count in found.outcomes.items():
        counts[outcome.runs] += count
    numbers = [(f"{counts[runs]:,}", STYLES[runs]) for runs in (True, False, None)]
    return [(of.name, "bold"), (of.vendor, ""), (of.engine, ""), (of.release, ""),
            (found.date, "dim"), *numbers]  # fmt: skip


def _write_head(canvas: Canvas, of: ModelList) -> None:
    about = Sentence("{engine} on {vendor}, {release}", engine=verbatim(of.engine),
                     vendor=of.vendor, release=of.release)  # fmt: skip
    canvas.flow([(of.name, "bold"), (canvas.marks.dot, "dim"), *split(about, "dim")])


def _row(row: ModelRow, dot: str) -> list[Atom]:
    """The model and where it runs, what is said of it, and the line that says so."""
    fact = row.evidence
    about = [verbatim(", ".join(row.chips))] if row.chips else []
    about += [Sentence("in training")] if row.mode == "train" else []
    return [
        (row.name, "bold"),
        *(split(in_brackets(chained(about, ", "))) if about else ()),
        (dot, "dim"),
        *split(_said(row), STYLES[row.best.runs]),
        *(split(in_brackets(verbatim(row.note)), "dim") if row.note else ()),
        (f"{fact.path.rpartition('/')[2]}:{fact.line}", linked("dim", web_address(fact))),
    ]


def _said(row: ModelRow) -> Sentence:
    """Each outcome with its precisions; the one of all precisions first, unless one has it."""
    alone = [] if row.outcome is None or row.outcome in row.precisions else [row.outcome]
    parts = [Sentence(OUTCOMES[said]) for said in alone]
    for said in Outcome:
        if names := row.precisions.get(said, ()):
            told = Sentence(OUTCOMES[said])
            parts.append(Sentence("{said} in {list}", said=told, list=", ".join(names)))
    return chained(parts, "; ")
