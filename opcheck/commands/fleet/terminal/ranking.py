"""What is missing, what unblocks most first: a table for each pool of targets."""

from collections.abc import Iterator, Sequence
from itertools import chain

from rich.cells import cell_len

from opcheck.commands.fleet.answers.values import Goal, Missing, Ranking, Step
from opcheck.commands.fleet.terminal import words
from opcheck.commands.fleet.terminal.needs import Alike, alike
from opcheck.commands.fleet.values import Cause
from opcheck.lang.speech import tell
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split

_STYLES = {Cause.KERNEL: "red", Cause.CONDITION: "yellow", Cause.UNKNOWN: "magenta"}


def write_missing(canvas: Canvas, found: Missing) -> None:
    """One block for each pool."""
    for place, ranking in enumerate(found.rankings):
        if place:
            canvas.blank()
        _write_ranking(canvas, ranking, found.goal)


def _write_ranking(canvas: Canvas, ranking: Ranking, goal: Goal) -> None:
    head: list[Atom] = [(ranking.pool, "bold"), (canvas.marks.dot, "dim")]
    if not ranking.blocked:
        canvas.flow([*head, *split(words.NOTHING_BLOCKED, "green")])
        return
    canvas.flow([*head, *split(words.GOALS[goal], "dim"), (canvas.marks.dot, "dim"),
                 *split(words.blocked(ranking, goal))])  # fmt: skip
    if ranking.steps:
        last = ranking.steps[-1]
        needs = chain.from_iterable(step.needs for step in ranking.steps)
        said = words.unblock(needs, last.total_models, last.total_answers, ranking)
        canvas.flow(split(said, "bold"), 2)
        _write_steps(canvas, ranking)
    else:
        canvas.flow(split(words.NOTHING_HELPS), 2)
    for text in words.left(ranking):
        canvas.flow(split(text, "dim"), 2)


def _write_steps(canvas: Canvas, ranking: Ranking) -> None:
    several = len(ranking.targets) > 1
    rows = [
        [tell(name, COLUMN_CONTEXT) for name in words.MISSING_COLUMNS],
        *(_figures(number, step) for number, step in enumerate(ranking.steps, 1)),
    ]
    shown = [row if several else row[:-1] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    canvas.flow([], 0, [(_aligned(shown[0], widths), "dim")])
    for row, step in zip(shown[1:], ranking.steps, strict=True):
        _write_step(canvas, step, _aligned(row, widths))


def _figures(number: int, step: Step) -> list[str]:
    return [
        f"{number}.", f"+{len(step.models):,}", f"{step.total_models:,}", f"+{step.answers:,}"
    ]  # fmt: skip


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = zip(cells, widths, strict=True)
    return "  " + "  ".join(f"{' ' * (width - cell_len(cell))}{cell}" for cell, width in pairs)


def _write_step(canvas: Canvas, step: Step, figures: str) -> None:
    """What is needed, with its sentence where the name does not say it all."""
    indent = cell_len(figures) + 2
    lead: list[Atom] = [(figures, "")]
    for group in alike(step.needs):
        for line in _named(group, every=canvas.page.verbose):
            canvas.flow(line, indent, lead)
            lead = []
        if group.cause is not Cause.KERNEL or canvas.page.verbose:
            canvas.flow(split(group.text, "dim"), indent + 2)
    if len(step.needs) > 1:
        canvas.flow(split(words.together(len(step.needs)), "dim"), indent)
    if canvas.page.verbose:
        canvas.flow(listed(step.models, "dim"), indent + 2)


def _named(group: Alike, *, every: bool) -> Iterator[list[Atom]]:
    """Lines with the operators of a group and what each lacks."""
    said = group.code if group.cause is Cause.CONDITION else words.CAUSES[group.cause]
    rest = group.unnamed(every=every)
    lacks = split(said, _STYLES[group.cause])
    more = split(words.more_operators(rest)) if rest else []
    for ops in group.lines(every=every):
        yield [*listed(ops, "bold"), *more, *lacks]
