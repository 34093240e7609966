"""Several targets side by side."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from opcheck.lang.sentence import with_sign
from opcheck.lang.speech import tell
from opcheck.model.report import Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.views.targets import short_names
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, split
from opcheck.views.terminal.head import breaks, first_broken, mark, trouble, write_gap_count
from opcheck.views.terminal.notation import STYLES, Marks, percent, size

FEW = 3
"""How many targets at most are named as those of which a line is not true."""


def of_targets(
    some: Sequence[TargetReport], targets: Sequence[TargetReport], style: str = ""
) -> list[Atom]:
    """Whom a line is about: ``ascend-910a, ascend-310p:``, or every target but a few."""
    if len(some) == len(targets):
        return split(with_sign(words.EVERY_TARGET, ":"), style)
    names = short_names(targets)
    others = [target for target in targets if target not in some]
    if len(others) <= FEW < len(some):
        but = listed((names[target.target] for target in others), style, end=":")
        return [*split(words.EVERY_TARGET_BUT, style), *but]
    return listed((names[target.target] for target in some), style, end=":")


def write_comparison(canvas: Canvas, report: Report) -> None:
    """One headline, one row a target, and what breaks where."""
    targets = report.targets
    canvas.flow([(f"{report.model.source}:", "bold"), *split(words.headline(targets))])
    canvas.blank()
    _write_table(canvas, targets)
    _write_breaks(canvas, targets)
    write_gap_count(canvas, report)


class _Column(Struct, frozen=True):
    """One column of the table."""

    name: str
    cell: Callable[[TargetReport, Marks], Atom]
    left: bool = False


def _write_table(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """One row a target, in the fullest of the forms for which the page is wide enough."""
    names = short_names(targets)
    short = _Column(words.TARGET, lambda target, _: (names[target.target], "bold"), left=True)
    forms = list(_forms((_FULL_NAME, short), targets))
    columns = next((f for f in forms if canvas.has_room(_rows(canvas, targets, f), 2)), forms[-1])
    left = [i for i, column in enumerate(columns) if column.left]
    canvas.table(_rows(canvas, targets, columns), 2, left=left)
    compiled = any(target.elsewhere for target in targets)
    mean = words.columns_mean(_CALLS in columns, _BREAKS in columns, compiled)
    canvas.flow(split(mean, "dim"), 2)
    if short in columns:
        _write_releases(canvas, targets)


def _forms(
    names: Sequence[_Column], targets: Sequence[TargetReport]
) -> Iterator[tuple[_Column, ...]]:
    """The table's columns, from all to few; what none of the targets has is in none of them."""
    host = (_CALLS, _MOVED, _PARTITIONS) if any(map(_falls_back, targets)) else ()
    broken = (_BREAKS,) if any(map(first_broken, targets)) else ()
    for ending in (broken, ()):
        for name in names:
            yield (_MARK, name, _RUNS, _SHARE, *host, *ending)


def _rows(
    canvas: Canvas, targets: Sequence[TargetReport], columns: Sequence[_Column]
) -> list[list[Atom]]:
    header: list[Atom] = [(tell(column.name, COLUMN_CONTEXT), "dim") for column in columns]
    return [
        header,
        *([column.cell(target, canvas.marks) for column in columns] for target in targets),
    ]


def _falls_back(target: TargetReport) -> bool:
    return bool(target.summary.calls.get(Verdict.FALLBACK, 0))


def _sign(target: TargetReport, marks: Marks) -> Atom:
    return mark(target.summary.runs, marks)


def _runs(target: TargetReport, marks: Marks) -> Atom:
    return tell(words.runs_cell(target)), _sign(target, marks)[1]


def _share(target: TargetReport, marks: Marks) -> Atom:
    rate = target.summary.support_rate
    return (marks.dash if rate is None else percent(rate)), ""


def _calls(target: TargetReport, _: Marks) -> Atom:
    count = target.summary.calls.get(Verdict.FALLBACK, 0)
    return f"{count:,}", STYLES[Verdict.FALLBACK] if count else "dim"


def _moved(target: TargetReport, _: Marks) -> Atom:
    moved = target.summary.fallback_bytes
    return size(moved), "" if moved else "dim"


def _partitions(target: TargetReport, _: Marks) -> Atom:
    return f"{target.summary.islands:,}", ""


def _breaks(target: TargetReport, _: Marks) -> Atom:
    """The most called operator that is in trouble, and how many others there are."""
    op = first_broken(target)
    if not op:
        return "", ""
    verdict = trouble(target)
    others = target.summary.operators.get(verdict, 0) - 1
    return f"{op}{f' +{others:,}' if others > 0 else ''}", STYLES[verdict]


_MARK = _Column("", _sign, left=True)
_FULL_NAME = _Column(words.TARGET, lambda target, _: (target.target, "bold"), left=True)
_RUNS = _Column(words.RUNS_COLUMN, _runs, left=True)
_SHARE = _Column(words.SHARE, _share)
_CALLS = _Column(words.FALLBACK_CALLS, _calls)
_MOVED = _Column(words.MOVED, _moved)
_PARTITIONS = _Column(words.PARTITIONS, _partitions)
_BREAKS = _Column(words.BREAKS, _breaks, left=True)


def _write_releases(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """Which releases the short names stand for."""
    names = short_names(targets)
    shortened = (target for target in targets if names[target.target] != target.target)
    said = dict.fromkeys(f"{t.vendor}@{t.target.partition('@')[2]}" for t in shortened)
    canvas.flow([*split(with_sign(words.RELEASES, ":"), "dim"), *listed(said, "dim")], 2)


def _write_breaks(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """What breaks where on which targets."""
    told: dict[tuple[Atom, ...], list[TargetReport]] = {}
    for target in targets:
        told.setdefault(tuple(breaks(target)), []).append(target)
    told.pop((), None)
    if told:
        canvas.blank()
    for atoms, whom in told.items():
        canvas.flow([*of_targets(whom, targets), *atoms], 2)
