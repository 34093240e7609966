"""The page for each thing that the database says of itself; what changed between targets."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import assert_never

from msgspec.structs import replace

from opcheck.commands.db import terminal
from opcheck.commands.db.terminal import write_contents, write_status
from opcheck.lang.sentence import Sentence, with_sign
from opcheck.lang.speech import tell
from opcheck.model.database import (
    Audit,
    CellChange,
    Contents,
    DatabaseStatus,
    DatabaseView,
    ImportedFile,
    Imports,
    MatrixDiff,
    MatrixDiffs,
    ModelChange,
    Pair,
    Refreshed,
)
from opcheck.model.matrix import Condition
from opcheck.model.verdict import Verdict
from opcheck.views.conditions import sentence, when
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal.canvas import Atom, Canvas, listed, split, split_translated
from opcheck.views.terminal.notation import STYLES, plural
from opcheck.views.terminal.sections import write_heading
from opcheck.views.terminal.words import more

NAMES, CHANGES = 40, 20
"""How many are named unless all are asked for."""


def write_diffs(canvas: Canvas, diffs: Sequence[MatrixDiff]) -> None:
    """One block for all diffs that are the same."""
    alike: dict[tuple[object, ...], list[MatrixDiff]] = {}
    for diff in diffs:
        alike.setdefault((diff.added, diff.removed, diff.changed), []).append(diff)
    for i, members in enumerate(alike.values()):
        if i:
            canvas.blank()
        _write_diff(canvas, members)


def _write_diff(canvas: Canvas, alike: Sequence[MatrixDiff]) -> None:
    for diff in alike:
        arrow: Atom = (canvas.marks.arrow, "dim")
        canvas.flow([(str(diff.before), "bold"), arrow, (str(diff.after), "bold")])
    diff = alike[0]
    if not (diff.added or diff.removed or diff.changed):
        canvas.flow(split(terminal.NOTHING_CHANGED), 2)
    _write_names(canvas, terminal.ADDED, diff.added, "green")
    _write_names(canvas, terminal.REMOVED, diff.removed, "red")
    if not diff.changed:
        return
    write_heading(canvas, terminal.CHANGED, plural(len(diff.changed), "overload"), "yellow")
    groups: dict[CellChange, list[str]] = {}
    for change in diff.changed:
        groups.setdefault(replace(change, op=""), []).append(change.op)
    shown = list(groups.items()) if canvas.page.verbose else list(groups.items())[:CHANGES]
    for change, ops in shown:
        _write_change(canvas, change, ops, diff.after.chip)
    left_out = sum(map(len, groups.values())) - sum(len(ops) for _, ops in shown)
    if left_out:
        canvas.flow(split(more(left_out, "overload"), "dim"), 2)


def _write_names(
    canvas: Canvas, heading: tuple[str, str], names: Sequence[str], style: str
) -> None:
    if not names:
        return
    write_heading(canvas, heading, plural(len(names), "overload"), style)
    shown = names if canvas.page.verbose else names[:NAMES]
    left_out = len(names) - len(shown)
    left = split(more(left_out, "overload"), "dim") if left_out else []
    canvas.flow([*listed(shown), *left], 2)


def _write_change(canvas: Canvas, change: CellChange, ops: Sequence[str], chip: str) -> None:
    canvas.flow(
        listed([tell(terminal.EVERY_OVERLOAD) if op == "*" else op for op in ops], "bold"), 2
    )
    for label, pair in ((terminal.KEYS, change.keys), (terminal.PATHS, change.paths)):
        if pair is not None:
            canvas.field(label, _pair(canvas, pair), 4)
    for label, conditions in ((terminal.GONE, change.gone), (terminal.NEW, change.come)):
        for i, alike in enumerate(_grouped(conditions)):
            canvas.field("" if i else label, _condition(alike, chip), 4)


def _pair(canvas: Canvas, pair: Pair) -> list[Atom]:
    before, after = (listed(side) or split("none") for side in pair)
    return [*before, (canvas.marks.arrow, "dim"), *after]


def _grouped(conditions: Iterable[Condition]) -> Iterable[list[Condition]]:
    """Conditions of the same words together."""
    groups: dict[tuple[str, str, Verdict], list[Condition]] = {}
    for condition in conditions:
        key = (condition.code, condition.text, condition.verdict)
        groups.setdefault(key, []).append(condition)
    return groups.values()


def _condition(alike: Sequence[Condition], chip: str) -> list[Atom]:
    """The words of conditions that share them, and what they test where those do not tell."""
    verdict = alike[0].verdict
    label = terminal.CAUTION if verdict is Verdict.NATIVE else verdict.value
    head = tell(with_sign(label, ":"))
    atoms: list[Atom] = [(head, STYLES[verdict]), *split(sentence(alike, chip))]
    if "{actual}" not in alike[0].text and (tests := when(alike)):
        atoms += split_translated(f"[{tests}]")
    return atoms


PROBLEMS = 8
"""How many of a file are told unless all are asked for."""


def render(view: DatabaseView, page: Page = PLAIN) -> str:
    """Whatever it is, as text."""
    canvas = Canvas(page)
    match view:
        case DatabaseStatus():
            write_status(canvas, view)
        case Contents():
            write_contents(canvas, view)
        case MatrixDiffs():
            write_diffs(canvas, view.diffs)
        case Audit():
            _write_audit(canvas, view)
        case Imports():
            _write_imports(canvas, view.files)
        case Refreshed():
            _write_refreshed(canvas, view)
        case _:
            assert_never(view)
    return canvas.text()


def _write_audit(canvas: Canvas, found: Audit) -> None:
    if not found.problems:
        canvas.flow([(canvas.marks.good, "green"), *split(terminal.sound(found.files))])
        return
    damaged = len({problem.file for problem in found.problems})
    text = terminal.unsound(len(found.problems), found.files, damaged)
    canvas.flow([(canvas.marks.bad, "red"), *split(text)])
    for file, members in groupby(found.problems, key=lambda problem: problem.file):
        problems = list(members)
        canvas.blank()
        canvas.flow([(file, "bold")])
        shown = problems if canvas.page.verbose else problems[:PROBLEMS]
        for problem in shown:
            told = problem.text
            if problem.line:
                told = Sentence("line {count}: {said}", count=problem.line, said=problem.text)
            canvas.flow([(f"{problem.code}:", "red"), *split(told)], 2)
        if len(problems) > len(shown):
            canvas.flow(split(more(len(problems) - len(shown), "problem"), "dim"), 2)


def _write_imports(canvas: Canvas, files: Sequence[ImportedFile]) -> None:
    for file in files:
        style = "green" if file.changed else "dim"
        changed = with_sign(terminal.CHANGED_FILE[file.changed], ":")
        canvas.flow([*split(changed, style), (file.path, "")])


def _write_refreshed(canvas: Canvas, found: Refreshed) -> None:
    """What was taken, written and changed, what is wrong, and what models gain and lose."""
    head = Sentence("{vendor} {version}, after {before}", vendor=found.vendor,
                    version=found.release, before=found.before)  # fmt: skip
    canvas.flow(split(head, "bold"))
    for file in found.collected:
        taken = Sentence("{name} from {path} at {commit}", name=file.file, path=file.path,
                         commit=file.commit[:7])  # fmt: skip
        canvas.flow(split(taken), 2)
    if found.by_hand:
        canvas.flow([*split(terminal.BY_HAND, "yellow"), *listed(found.by_hand)], 2)
    _write_imports(canvas, found.files)
    canvas.blank()
    write_diffs(canvas, found.diffs)
    canvas.blank()
    _write_audit(canvas, found.audit)
    if found.models:
        canvas.blank()
        _write_models(canvas, found.models)


def _write_models(canvas: Canvas, models: Sequence[ModelChange]) -> None:
    """The models whose answer is another one, and how many there are."""
    changed = [one for one in models if one.differs]
    count = len({one.model for one in models})
    if not changed:
        same = Sentence("{said} scanned: each runs on the targets that it ran on",
                        said=plural(count, "model"))  # fmt: skip
        canvas.flow([(canvas.marks.good, "green"), *split(same)])
    for one in changed:
        before, after = (terminal.RUNS[runs] for runs in (one.before, one.after))
        told = Sentence("{said_before} before, {said_after} now", said_before=Sentence(before),
                        said_after=Sentence(after))  # fmt: skip
        style = {True: "green", False: "red", None: "magenta"}[one.after]
        canvas.flow([(one.model, "bold"), (f"{one.name}:", ""), *split(told, style)])
