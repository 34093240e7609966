"""Every sentence about a fleet as a whole, and the ranking of what is missing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from rich.cells import cell_len

from opcheck.commands.fleet.answers.values import (
    Because,
    Change,
    Goal,
    Missing,
    Need,
    Ranking,
    Step,
)
from opcheck.commands.fleet.values import Cause, Ending, Run
from opcheck.lang.sentence import Sentence, chained
from opcheck.lang.speech import tell
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split
from opcheck.views.terminal.groups import Sentence as Reading
from opcheck.views.terminal.groups import sentence, shared
from opcheck.views.terminal.notation import plural
from opcheck.views.terminal.words import and_more

TARGETS = ("Targets", "how many models run there")
FAILURES = ("Without an answer", "their scan did not come so far")
SUMMARY_COLUMNS = (
    "target", "run", "device", "fallback", "unknown", "broken", "no answer", "share"
)  # fmt: skip
"""Those of :data:`LESS` are left out where there is no room."""
LESS = ("device", "share", "unknown")
MISSING_COLUMNS = ("step", "models", "in all", "pairs")
NOTHING_BLOCKED = "nothing is blocked"
NOTHING_HELPS = "nothing of what is asked about unblocks any of them by itself"
TOGETHER = "only together"
NOT_OVER = "this run is not over; all of this holds for the models that are done"
NOTHING_FITS = "no answer of this run fits"
NOTHING_CHANGED = "every model of both runs stands as before"
NO_TARGETS = "the runs have no target in common; --from and --to name two to compare"
NO_REASON = "nothing that is known"

ENDINGS: Mapping[Ending, str] = {
    Ending.SCANNED: "scanned",
    Ending.FAILED: "failed",
    Ending.TIMED_OUT: "timed out",
    Ending.OUT_OF_MEMORY: "out of memory",
    Ending.CRASHED: "crashed",
    Ending.LOST: "lost",
}
CAUSES: Mapping[Cause, str] = {
    Cause.KERNEL: "no kernel",
    Cause.CONDITION: "condition",
    Cause.UNKNOWN: "unknown",
}
GOALS: Mapping[Goal, str] = {
    Goal.RUNS: "to run at all",
    Goal.DEVICE: "to run on the device alone",
}
CHANGES: Mapping[Change, str] = {
    Change.BROKEN: "Newly broken",
    Change.FIXED: "Newly fixed",
    Change.WORSE: "Worse",
    Change.BETTER: "Better",
    Change.LOST: "Answer lost",
    Change.GAINED: "Answer gained",
}
CHANGES_ARE: Mapping[Change, str] = {
    Change.BROKEN: "it ran, and does not any more",
    Change.FIXED: "it did not run, and does now",
    Change.WORSE: "more of it on the host, or not known any more",
    Change.BETTER: "less of it on the host, or known now",
    Change.LOST: "its scan does not come so far any more",
    Change.GAINED: "its scan comes so far now",
}
BECAUSE: Mapping[Because, str] = {
    Because.MODEL: "the model",
    Because.TARGET: "the target",
    Because.DATABASE: "the database",
    Because.OPCHECK: "opcheck",
    Because.TORCH: "torch",
}
NEW, GONE = "new models:", "models gone:"
NEW_TARGETS, GONE_TARGETS = "new targets:", "targets gone:"


def everywhere(count: int, models: int, targets: int) -> Sentence:
    """How many models run on every target."""
    where = Sentence("each of {count} targets", count=f"{targets:,}")
    return Sentence(
        "{count} of {said} run on {said_where}",
        count=f"{count:,}",
        said=plural(models, "model"),
        said_where=Sentence("this target") if targets == 1 else where,
    )


def nowhere(count: int) -> Sentence:
    """How many run on none."""
    return Sentence("{count} run on none", count=f"{count:,}")


def run_of(run: Run) -> Sentence:
    """Which run it is."""
    return Sentence(
        "run {count} over {text}, begun {time}",
        count=f"{run.id:,}",
        text=run.manifest,
        time=run.begun,
    )


def endings(counts: Mapping[Ending, int]) -> Sentence:
    """How many models ended how."""
    return _counted({ENDINGS[ending]: count for ending, count in counts.items()})


def _counted(counts: Mapping[str, int]) -> Sentence:
    each = [
        Sentence(f"{{count}} {what}", count=f"{count:,}") for what, count in counts.items() if count
    ]
    return chained(each, ", ")


def done(run: Run) -> Sentence:
    """How far a run is that is not over."""
    return Sentence(
        "{count} of {said} done", count=f"{run.done:,}", said=plural(run.models, "model")
    )


def not_over(run: Run) -> Sentence:
    """That more models come, and how far the run is."""
    return Sentence("{said}: {said_done}", said=NOT_OVER, said_done=done(run))


def blocked(ranking: Ranking, goal: Goal) -> Sentence:
    """How much of a pool is blocked."""
    models = plural(ranking.blocked_models, "model")
    if len(ranking.targets) == 1:
        blocked = "{said} of {count} are blocked"
        if ranking.blocked_models == 1:
            blocked = "{said} of {count} is blocked"
        return Sentence(blocked, said=models, count=f"{ranking.answers:,}")
    return Sentence(
        "{said} blocked on {said_where}: {count} of {said_all}",
        said=models,
        said_where=plural(len(ranking.targets), "target"),
        count=f"{ranking.blocked:,}",
        said_all=plural(ranking.answers, "pair"),
    )


def unblock(needs: Iterable[Need], models: int, answers: int, ranking: Ranking) -> Sentence:
    """What all steps that are shown come to."""
    several = len(ranking.targets) > 1
    pairs = ": {count_all} of {said_pairs}" if several else ""
    return Sentence(
        f"{{said_needs}} would unblock {{count}} of {{said_models}}{pairs}",
        said_needs=kinds(needs),
        count=f"{models:,}",
        said_models=plural(ranking.blocked_models, "blocked model"),
        count_all=f"{answers:,}",
        said_pairs=plural(ranking.blocked, "blocked pair"),
    )


def kinds(needs: Iterable[Need]) -> Sentence:
    """How many needs of each kind there are."""
    counts = Counter(need.cause for need in needs)
    names = {Cause.KERNEL: "kernel", Cause.CONDITION: "condition", Cause.UNKNOWN: "unknown"}
    return chained([plural(counts[cause], names[cause]) for cause in Cause if counts[cause]], ", ")


def met_by(count: int) -> Sentence:
    """How many answers a need is in the way of."""
    return Sentence("in the way of {said}", said=plural(count, "pair"))


def left(ranking: Ranking) -> tuple[Sentence, ...]:
    """What is not in the steps, and why."""
    answers = ranking.steps[-1].total_answers if ranking.steps else 0
    later = ranking.blocked - ranking.unseen - ranking.beyond - answers
    said = (
        (
            later,
            Sentence(
                "{said_steps} would unblock {said_pairs}",
                said_steps=plural(ranking.more, "more step"),
                said_pairs=plural(later, "more pair"),
            ),
        ),
        (
            ranking.beyond,
            Sentence(
                "{said} beyond: something else is missing", said=plural(ranking.beyond, "pair")
            ),
        ),
        (
            ranking.unseen,
            Sentence("{said} open: parts were not seen", said=plural(ranking.unseen, "pair")),
        ),
    )
    return tuple(text for count, text in said if count)


def more_operators(count: int) -> Sentence:
    """Operators that are not named."""
    return and_more(count, "operator")


def together(needs: int) -> Sentence:
    """That needs of a step help only together."""
    return Sentence("these {count} help only together", count=f"{needs:,}")


def models(count: int) -> Sentence:
    """So many models."""
    return plural(count, "model")


def as_before(count: int) -> Sentence:
    """How many stand as before."""
    return Sentence("{count} as before", count=f"{count:,}")


def changed(counts: Mapping[Change, int]) -> Sentence:
    """How many changed how."""
    return _counted({CHANGES[change].lower(): count for change, count in counts.items()})


FEW = 3
"""So many operators of one sentence are told each by itself."""
MOST = 6
"""So many are named of more."""


class Alike(Struct, frozen=True):
    """Operators that one thing keeps off a target."""

    ops: tuple[str, ...]
    """Each once, in the order of the step."""
    cause: Cause
    code: str
    text: str
    """The most exact sentence that is true of all of them."""

    def lines(self, *, every: bool = False) -> tuple[tuple[str, ...], ...]:
        """The operators that are named, as they share lines; ``every``: leave none out."""
        if len(self.ops) <= FEW:
            return tuple((op,) for op in self.ops)
        return (self.ops if every else self.ops[:MOST],)

    def unnamed(self, *, every: bool = False) -> int:
        """How many are left out."""
        return len(self.ops) - sum(map(len, self.lines(every=every)))


def alike(needs: Iterable[Need]) -> tuple[Alike, ...]:
    """Needs put together that differ only in the operator or the tensor, in their order."""
    found: dict[tuple[Cause, str, str], list[tuple[str, Reading]]] = {}
    for need in needs:
        said = sentence(need.text, need.op)
        found.setdefault((need.cause, need.code, said.of_any), []).append((need.op, said))
    return tuple(
        Alike(
            tuple(dict.fromkeys(op for op, _ in group)),
            cause,
            code,
            shared([said for _, said in group]),
        )
        for (cause, code, _), group in found.items()
    )


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
        canvas.flow([*head, *split(NOTHING_BLOCKED, "green")])
        return
    canvas.flow([*head, *split(GOALS[goal], "dim"), (canvas.marks.dot, "dim"),
                 *split(blocked(ranking, goal))])  # fmt: skip
    if ranking.steps:
        last = ranking.steps[-1]
        needs = chain.from_iterable(step.needs for step in ranking.steps)
        said = unblock(needs, last.total_models, last.total_answers, ranking)
        canvas.flow(split(said, "bold"), 2)
        _write_steps(canvas, ranking)
    else:
        canvas.flow(split(NOTHING_HELPS), 2)
    for text in left(ranking):
        canvas.flow(split(text, "dim"), 2)


def _write_steps(canvas: Canvas, ranking: Ranking) -> None:
    several = len(ranking.targets) > 1
    rows = [
        [tell(name, COLUMN_CONTEXT) for name in MISSING_COLUMNS],
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
        canvas.flow(split(together(len(step.needs)), "dim"), indent)
    if canvas.page.verbose:
        canvas.flow(listed(step.models, "dim"), indent + 2)


def _named(group: Alike, *, every: bool) -> Iterator[list[Atom]]:
    """Lines with the operators of a group and what each lacks."""
    said = group.code if group.cause is Cause.CONDITION else CAUSES[group.cause]
    rest = group.unnamed(every=every)
    lacks = split(said, _STYLES[group.cause])
    more = split(more_operators(rest)) if rest else []
    for ops in group.lines(every=every):
        yield [*listed(ops, "bold"), *more, *lacks]
