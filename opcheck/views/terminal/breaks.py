"""What stands between a target and a run on the device alone, in one sentence."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from opcheck.lang.speech import tell
from opcheck.model.report import TargetReport
from opcheck.model.trace import Gap
from opcheck.model.verdict import Verdict
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Atom, split, split_told
from opcheck.views.terminal.groups import Block, Row, sections
from opcheck.views.terminal.marks import STYLES, Marks
from opcheck.views.terminal.places import merged, where
from opcheck.views.terminal.units import plural
from opcheck.views.terminal.wide import pieces

LONGEST = 96
"""Columns of a reason in the first lines; it stands whole further down."""


def trouble(target: TargetReport) -> Verdict:
    """The verdict that decides whether the target runs the model, and how well."""
    match target.summary.runs:
        case False:
            return Verdict.UNSUPPORTED
        case None:
            return Verdict.UNKNOWN
        case True:
            return Verdict.FALLBACK


def breaks(target: TargetReport) -> list[Atom]:
    """How many operators are in trouble, the most called of them, and where; or nothing."""
    found = _in_trouble(target)
    if not found:
        return []
    verdict, (_, row) = trouble(target), found[0]
    count = target.summary.operators.get(verdict, 0)
    alone = len(found) == 1 or row.count > found[1][1].count
    return [
        *split(words.trouble(count, verdict, target.elsewhere), STYLES[verdict]),
        *(split(words.MOST_CALLED if alone else words.FIRST) if count > 1 else ()),
        (row.op, "bold"),
        *_at(row),
    ]


def first_broken(target: TargetReport) -> str:
    """The operator that :func:`breaks` names; "" where there is none."""
    found = _in_trouble(target)
    return found[0][1].op if found else ""


def why(target: TargetReport, marks: Marks) -> list[Atom]:
    """The reason of the operator that :func:`breaks` names."""
    found = _in_trouble(target)
    if not found:
        return []
    (reason, _), *_ = found[0][0].said
    return brief(reason, marks)


def first_gap(gaps: Sequence[Gap], marks: Marks) -> list[Atom]:
    """How much could not be seen, and the first of it; or nothing."""
    if not gaps:
        return []
    head = split(f"{plural(len(gaps), 'gap')},", STYLES[Verdict.UNKNOWN])
    if len(gaps) > 1:
        head += split(words.FIRST)
    return [*head, (tell(gaps[0].where or words.ROOT), "bold"), *brief(gaps[0].reason, marks)]


def _in_trouble(target: TargetReport) -> list[tuple[Block, Row]]:
    """Operators with the deciding verdict, the most called first."""
    title = words.heading(trouble(target), target.elsewhere)
    blocks = [
        block
        for section in sections((target,), verbose=False)
        if section.heading == title
        for block in section.blocks
    ]
    rows = ((block, row) for block in blocks for row in block.rows)
    return sorted(rows, key=lambda found: -found[1].count)


def _at(row: Row) -> Iterable[Atom]:
    places = merged(row.uses)
    if not places:
        return ()
    place = places[0][0]
    return *split(words.AT if place.file else words.IN), *where(place)


def brief(text: str, marks: Marks) -> list[Atom]:
    """A reason in brackets, cut between words where it is long."""
    told = tell(text)
    left = [word for word, _ in split_told(told)] if told.isascii() else pieces(told)
    gap, kept = " " if told.isascii() else "", ""
    while left and cell_len(f"{kept}{gap}{left[0]}") <= LONGEST:
        kept += f"{gap if kept else ''}{left.pop(0)}"
    return split_told(f"({kept}{f' {marks.ellipsis}' if left else ''})", "dim")
