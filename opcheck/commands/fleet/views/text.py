"""The page for each thing that is said of a fleet as a whole."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import assert_never

from opcheck.commands.fleet import terminal
from opcheck.commands.fleet.answers.values import (
    Change,
    Changed,
    Difference,
    Failure,
    FleetView,
    Missing,
    Standing,
    Summary,
    TargetChanges,
    TargetTally,
)
from opcheck.commands.fleet.terminal import write_missing
from opcheck.commands.fleet.values import Answer, Answers, Blocker, Ending, Run
from opcheck.lang.sentence import Sentence, chained, verbatim, with_sign
from opcheck.lang.speech import tell
from opcheck.model.verdict import Verdict
from opcheck.views.formats import PLAIN, Page
from opcheck.views.targets import short_target_names
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split
from opcheck.views.terminal.notation import STYLES, percent, plural
from opcheck.views.terminal.sections import write_heading
from opcheck.views.terminal.words import more

BLOCKERS = 3
"""How many things in the way of one answer are named unless all are asked for."""


def write_answers(canvas: Canvas, found: Answers) -> None:
    """A paragraph for each model, a line for each target, and what is in the way there."""
    if not found.answers:
        canvas.flow(split(terminal.NOTHING_FITS))
        return
    for model, group in groupby(found.answers, key=lambda answer: answer.model):
        answers = list(group)
        canvas.flow([(model, "bold")])
        alike = {(answer.ending, answer.reason) for answer in answers}
        if len(alike) == 1:
            _write_ending(canvas, answers[0])
        for answer in answers:
            if len(alike) > 1 and answer.verdict is None:  # of a script, each target is a run
                _write_ending(canvas, answer, _name(answer, canvas))
            if answer.verdict is not None:
                _write(canvas, answer, whole=bool(found.filters.operators))


def _write_ending(canvas: Canvas, answer: Answer, target: str = "") -> None:
    """How a scan ended that did not end well, and why."""
    if answer.ending is not Ending.SCANNED:
        head = split(with_sign(terminal.ENDINGS[answer.ending], ":"), "red")
        on = [(target, "")] if target else []
        canvas.flow([*on, *head, *split(answer.reason)], 2)


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


GROUPS, MOST_CHANGED = 10, 6
"""How many groups of a change, and models of a group, are named unless all are asked for."""
_CHANGE_STYLES = {
    Change.BROKEN: "red",
    Change.FIXED: "green",
    Change.WORSE: "yellow",
    Change.BETTER: "green",
    Change.LOST: "magenta",
    Change.GAINED: "green",
}
_Why = tuple[tuple[str, ...], tuple[str, ...], str]
"""Kinds of what differs, what is in the way or not any more, and the reason of a failure."""


def write_difference(canvas: Canvas, found: Difference) -> None:
    """Which runs, what is new and gone, then what changed where."""
    arrow: Atom = (canvas.marks.arrow, "dim")
    canvas.flow([*split(_named(found.before)), arrow, *split(_named(found.after))])
    total = Counter[Change]()
    for changes in found.targets:
        total.update({change: changes.count(change) for change in Change})
    if not found.targets:
        canvas.flow(split(terminal.NO_TARGETS, "magenta"), 2)
    elif total.total():
        canvas.flow(split(terminal.changed(total), "bold"), 2)
    else:
        canvas.flow(split(terminal.NOTHING_CHANGED, "green"), 2)
    for label, names in (
        (terminal.NEW, found.new),
        (terminal.GONE, found.gone),
        (terminal.NEW_TARGETS, found.new_targets),
        (terminal.GONE_TARGETS, found.gone_targets),
    ):
        if names:
            canvas.flow([*split(label), *_some(canvas, names)], 2)
    for alike in _alike(found.targets):
        _write_target(canvas, alike)


def _named(run: Run) -> Sentence:
    return Sentence("run {count}, begun {time}", count=f"{run.id:,}", time=run.begun)


def _alike(targets: Sequence[TargetChanges]) -> list[list[TargetChanges]]:
    """Targets with some change, those with the same ones together."""
    found: dict[tuple[Changed, ...], list[TargetChanges]] = {}
    for changes in targets:
        if changes.changes:
            found.setdefault(changes.changes, []).append(changes)
    return list(found.values())


def _write_target(canvas: Canvas, alike: Sequence[TargetChanges]) -> None:
    canvas.blank()
    for changes in alike:
        names = [(changes.before.target, ""), (canvas.marks.arrow, "dim")]
        same = changes.before.target == changes.after.target
        canvas.flow([*([] if same else names), (changes.after.target, "bold")])
    canvas.flow(split(terminal.as_before(alike[0].same), "dim"), 2)
    for change in Change:
        some = [changed for changed in alike[0].changes if changed.change is change]
        if some:
            title = (terminal.CHANGES[change], terminal.CHANGES_ARE[change])
            write_heading(canvas, title, terminal.models(len(some)), _CHANGE_STYLES[change])
            _write_groups(canvas, _grouped(some))


def _grouped(some: Sequence[Changed]) -> Mapping[_Why, list[str]]:
    """Models by what changed them, the most common first."""
    groups: dict[_Why, list[str]] = {}
    for changed in some:
        ops = tuple(dict.fromkeys(_culprits(changed)))
        groups.setdefault((tuple(changed.because), ops, changed.reason), []).append(changed.model)
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])))


def _culprits(changed: Changed) -> Iterator[str]:
    """What came or went that decides; of what came to a model that is better, nothing does."""
    signs = ("+", changed.came), ("-", changed.went)
    worse = changed.after.rank > changed.before.rank
    for sign, some in signs if worse else reversed(signs):
        decisive = [one for one in some if one.verdict is Verdict.UNSUPPORTED]
        if changed.change not in (Change.BROKEN, Change.FIXED) or not decisive:
            decisive = list(some)
        if decisive:
            yield from (f"{sign}{one.op} ({one.code})" for one in decisive)
            return


def _write_groups(canvas: Canvas, groups: Mapping[_Why, list[str]]) -> None:
    shown = list(groups.items()) if canvas.page.verbose else list(groups.items())[:GROUPS]
    for (because, ops, reason), models in shown:
        what = [tell(terminal.BECAUSE[one]) for one in because]  # type: ignore[index]  # StrEnum
        by = listed(ops, "bold") if ops else split(reason or terminal.NO_REASON)
        differs = [(f"[{', '.join(what)}]", "dim")] if what else []
        canvas.flow([*by, *differs], 2)
        canvas.flow(_some(canvas, models), 4)
    if len(groups) > len(shown):
        canvas.flow(split(more(len(groups) - len(shown), "group"), "dim"), 2)


def _some(canvas: Canvas, names: Sequence[str]) -> list[Atom]:
    shown = names if canvas.page.verbose else names[:MOST_CHANGED]
    left_out = len(names) - len(shown)
    return [*listed(shown), *(split(more(left_out, "model"), "dim") if left_out else [])]


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
    head = terminal.everywhere(found.everywhere, found.run.done, len(found.targets))
    line = split(head, "bold")
    if len(found.targets) > 1:
        line += [dot, *split(terminal.nowhere(found.nowhere))]
    canvas.flow(line)
    canvas.flow(split(terminal.endings(found.endings), "dim"), 2)
    write_heading(canvas, terminal.TARGETS, plural(len(found.targets), "target"), "")
    names = short_target_names(tally.target.target for tally in found.targets)
    _write_tallies(canvas, [_row(canvas, tally, names[tally.target.target])
                            for tally in found.targets])  # fmt: skip
    if found.failures:
        count = sum(many for ending, many in found.endings.items() if ending is not Ending.SCANNED)
        _write_failures(canvas, found.failures, count)
    _write_run(canvas, found.run)


def _write_tallies(canvas: Canvas, rows: Sequence[Sequence[Atom]]) -> None:
    """A table of as many columns as there is room for."""
    names = terminal.SUMMARY_COLUMNS
    header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in names]
    for count in range(len(terminal.LESS) + 1):
        kept = [at for at, name in enumerate(names) if name not in terminal.LESS[:count]]
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


def _write_failures(canvas: Canvas, failures: Sequence[Failure], count: int) -> None:
    """Why ``count`` models have no answer; a script stands there for each target that it lacks."""
    write_heading(canvas, terminal.FAILURES, plural(count, "model"), "")
    shown = failures if canvas.page.verbose else failures[:FAILURES]
    for failure in shown:
        names = failure.models if canvas.page.verbose else failure.models[:NAMES]
        left_out = len(failure.models) - len(names)
        ending = with_sign(terminal.ENDINGS[failure.ending], ":")
        canvas.flow([*split(ending, "red"), *split(failure.reason)], 2)
        canvas.flow([*listed(names), *_rest(left_out, "model")], 4)
    if len(failures) > len(shown):
        canvas.flow(split(more(len(failures) - len(shown), "reason"), "dim"), 2)


def _rest(count: int, noun: str) -> list[Atom]:
    return split(more(count, noun), "dim") if count else []


def _write_run(canvas: Canvas, run: Run) -> None:
    """Which run it is, and how far it is where it is not over."""
    canvas.blank()
    if not run.ended:
        over = with_sign(terminal.NOT_OVER, ":")
        canvas.flow([*split(over, "magenta"), *split(terminal.done(run))])
    dot = canvas.marks.dot
    versions = f"torch {run.torch_version} {dot} opcheck {run.opcheck_version}"
    said = chained([terminal.run_of(run), verbatim(versions)], f" {dot} ")
    canvas.flow(split(said, "dim"))
