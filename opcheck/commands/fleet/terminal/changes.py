"""What changed from one run to another; targets that fare alike are told of once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from opcheck.commands.fleet.answers.values import (
    Change,
    Changed,
    Difference,
    TargetChanges,
)
from opcheck.commands.fleet.terminal import words
from opcheck.commands.fleet.values import Run
from opcheck.lang.speech import tell
from opcheck.model.verdict import Verdict
from opcheck.views.terminal.canvas import Atom, Canvas, listed, split
from opcheck.views.terminal.sections import write_heading
from opcheck.views.terminal.words import more

GROUPS, NAMES = 10, 6
"""How many groups of a change, and models of a group, are named unless all are asked for."""
_STYLES = {
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
        canvas.flow(split(words.NO_TARGETS, "magenta"), 2)
    elif total.total():
        canvas.flow(split(words.changed(total), "bold"), 2)
    else:
        canvas.flow(split(words.NOTHING_CHANGED, "green"), 2)
    for label, names in (
        (words.NEW, found.new),
        (words.GONE, found.gone),
        (words.NEW_TARGETS, found.new_targets),
        (words.GONE_TARGETS, found.gone_targets),
    ):
        if names:
            canvas.flow([*split(label), *_some(canvas, names)], 2)
    for alike in _alike(found.targets):
        _write_target(canvas, alike)


def _named(run: Run) -> str:
    return f"run {run.id:,}, begun {run.begun}"


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
    canvas.flow(split(words.as_before(alike[0].same), "dim"), 2)
    for change in Change:
        some = [changed for changed in alike[0].changes if changed.change is change]
        if some:
            title = (words.CHANGES[change], words.CHANGES_ARE[change])
            write_heading(canvas, title, words.models(len(some)), _STYLES[change])
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
        what = [tell(words.BECAUSE[one]) for one in because]  # type: ignore[index]  # StrEnum
        by = listed(ops, "bold") if ops else split(reason or words.NO_REASON)
        differs = [(f"[{', '.join(what)}]", "dim")] if what else []
        canvas.flow([*by, *differs], 2)
        canvas.flow(_some(canvas, models), 4)
    if len(groups) > len(shown):
        canvas.flow(split(more(len(groups) - len(shown), "group"), "dim"), 2)


def _some(canvas: Canvas, names: Sequence[str]) -> list[Atom]:
    shown = names if canvas.page.verbose else names[:NAMES]
    left_out = len(names) - len(shown)
    return [*listed(shown), *(split(more(left_out, "model"), "dim") if left_out else [])]
