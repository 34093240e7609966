"""The answers of a run that were asked for, by model."""

from collections.abc import Iterator
from itertools import groupby

from opcheck.commands.fleet.terminal import words
from opcheck.commands.fleet.values import Answer, Answers, Blocker, Ending
from opcheck.lang.speech import tell
from opcheck.views.terminal.canvas import Atom, Canvas, split
from opcheck.views.terminal.notation import STYLES, percent
from opcheck.views.terminal.words import more

BLOCKERS = 3
"""How many things in the way of one answer are named unless all are asked for."""


def write_answers(canvas: Canvas, found: Answers) -> None:
    """A paragraph for each model, a line for each target, and what is in the way there."""
    if not found.answers:
        canvas.flow(split(words.NOTHING_FITS))
        return
    for model, group in groupby(found.answers, key=lambda answer: answer.model):
        answers = list(group)
        canvas.flow([(model, "bold")])
        first = answers[0]
        if first.ending is not Ending.SCANNED:
            head = split(f"{words.ENDINGS[first.ending]}:", "red")
            canvas.flow([*head, *split(first.reason)], 2)
        for answer in answers:
            if answer.verdict is not None:
                _write(canvas, answer, whole=bool(found.filters.operators))


def _write(canvas: Canvas, answer: Answer, *, whole: bool) -> None:
    verdict = answer.verdict
    assert verdict is not None  # the caller looked
    line: list[Atom] = [(tell(verdict.value), STYLES[verdict]), (_name(answer, canvas), "")]
    if answer.support_rate is not None:
        line.append((percent(answer.support_rate), "dim"))
    canvas.flow(line, 2)
    every = whole or canvas.page.full
    shown = answer.blockers if every else answer.blockers[:BLOCKERS]
    for blocker in shown:
        canvas.flow(_blocker(blocker, full=canvas.page.full), 4)
    if len(shown) < len(answer.blockers):
        canvas.flow(split(more(len(answer.blockers) - len(shown), "reason"), "dim"), 4)


def _name(answer: Answer, canvas: Canvas) -> str:
    """The target's whole name, or without its torch where the page is narrow."""
    return answer.target if canvas.page.width >= 100 else answer.target.partition("+")[0]


def _blocker(blocker: Blocker, *, full: bool) -> Iterator[Atom]:
    yield blocker.op, STYLES[blocker.verdict]
    yield blocker.code, "dim"
    if full:
        yield from split(blocker.text)
