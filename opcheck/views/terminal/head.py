"""The first lines for one target: does it run, on what share natively, and what is in the way."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace
from rich.cells import cell_len

from opcheck.lang.sentence import Sentence, with_sign
from opcheck.lang.speech import Language, spoken, tell
from opcheck.model.report import SCRIPT, Report, TargetReport
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Verdict
from opcheck.views.formats import Page
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Atom, Canvas, phrase, split, split_translated
from opcheck.views.terminal.findings import merged, where
from opcheck.views.terminal.groups import Block, Row, sections
from opcheck.views.terminal.model_lists import write_lists
from opcheck.views.terminal.notation import STYLES, Marks, percent, plural, size
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
    head = split(with_sign(plural(len(gaps), "gap"), ","), STYLES[Verdict.UNKNOWN])
    if len(gaps) > 1:
        head += split(words.FIRST)
    where = gaps[0].where or tell(words.ROOT)
    return [*head, (where, "bold"), *brief(gaps[0].reason, marks)]


class _Same:
    """A target's report, compared by what it is and not by what it says."""

    def __init__(self, target: TargetReport) -> None:
        self.target = target

    def __hash__(self) -> int:
        return id(self.target)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.target is other.target


def _in_trouble(target: TargetReport) -> list[tuple[Block, Row]]:
    """Operators with the deciding verdict, the most called first."""
    return _of_same(_Same(target), spoken())


@lru_cache(maxsize=128)
def _of_same(same: _Same, _: Language) -> list[tuple[Block, Row]]:
    target = same.target
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
    left = [word for word, _ in split_translated(told)] if told.isascii() else pieces(told)
    gap, kept = " " if told.isascii() else "", ""
    while left and cell_len(f"{kept}{gap}{left[0]}") <= LONGEST:
        kept += f"{gap if kept else ''}{left.pop(0)}"
    return split_translated(f"({kept}{f' {marks.ellipsis}' if left else ''})", "dim")


BAR = 32
"""Columns of the share drawn, on a page of eighty or more."""


def mark(runs: bool | None, marks: Marks) -> Atom:
    """The sign for whether a target runs the model."""
    match runs:
        case True:
            return marks.good, "bold green"
        case False:
            return marks.bad, "bold red"
        case None:
            return marks.open, "bold magenta"


def write_head(canvas: Canvas, report: Report, target: TargetReport) -> None:
    """Verdict line, share, figures, and what the fallbacks cost."""
    summary = target.summary
    write_verdict(canvas, report, target)
    _write_breaks(canvas, report, target)
    write_lists(canvas, target.model)
    canvas.blank()
    if summary.support_rate is None:
        canvas.flow(split(words.NO_CALLS), 2)
        return
    _write_share(canvas, target, summary.support_rate)
    canvas.blank()
    canvas.table(_figures(target, report.trace.mode == "train"))
    if summary.operators.get(Verdict.FALLBACK, 0):
        canvas.blank()
        canvas.flow(split(fallback_cost(report, target)), 2)
    if summary.runs is not None:
        write_gap_count(canvas, report)


def write_verdict(canvas: Canvas, report: Report, target: TargetReport) -> None:
    """Whether the target runs the model, in one line."""
    sign = mark(target.summary.runs, canvas.marks)
    said = split(words.runs(target), sign[1])
    model, on = (report.model.source, "bold"), (target.target, "bold")
    canvas.flow([sign, *phrase(words.VERDICT, said=said, model=[model], target=[on])])


def _write_breaks(canvas: Canvas, report: Report, target: TargetReport) -> None:
    """What breaks and where, right below the verdict."""
    if operators := breaks(target):
        canvas.flow([*operators, *why(target, canvas.marks)], 2)
    if target.summary.runs is None and report.trace.gaps:
        canvas.flow(first_gap(report.trace.gaps, canvas.marks), 2)


def write_gap_count(canvas: Canvas, report: Report) -> None:
    """A word beside the figures where the trace is not whole."""
    if report.trace.gaps:
        canvas.blank()
        canvas.flow(split(words.gaps(len(report.trace.gaps)), "magenta"), 2)


def fallback_cost(report: Report, target: TargetReport) -> Sentence:
    """How the fallbacks split the work, and what they move."""
    summary = target.summary
    if target.elsewhere:
        return words.pieces(summary.islands)
    mode = report.trace.mode
    run = words.WHOLE_RUN if report.model.kind == SCRIPT else words.RUN.get(mode, mode)
    return words.fallback_cost(summary.islands, size(summary.fallback_bytes), run)


def _write_share(canvas: Canvas, target: TargetReport, rate: float) -> None:
    summary = target.summary
    total = sum(summary.operators.values())
    on_device = sum(n for verdict, n in summary.operators.items() if verdict.on_device)
    on_host = summary.operators.get(Verdict.FALLBACK, 0)
    bar = min(max(canvas.page.width - 80 + BAR, BAR // 4), BAR)
    full = bar * on_device // total if total else 0
    half = bar * (on_device + on_host) // total - full if total else 0
    glyphs = canvas.marks.bar
    canvas.flow(
        [(percent(rate), "bold"), *split(words.share(total, target.elsewhere))],
        indent=2 + bar + 2,
        lead=[
            ("  ", ""),
            (glyphs[0] * full, "green"),
            (glyphs[1] * half, "yellow"),
            (glyphs[2] * (bar - full - half), "red" if summary.runs is False else "dim"),
        ],
    )


def _figures(target: TargetReport, phased: bool) -> list[list[Atom]]:
    summary = target.summary
    header = [("", ""), *((tell(verdict.value), "dim") for verdict in Verdict)]
    rows = [("operators", summary.operators), ("calls", summary.calls)]
    if phased:
        rows[1:1] = [(words.IN_PHASE[phase], _in_phase(target, phase)) for phase in Phase]
    return [
        header,
        *(
            [(tell(name), "dim"), *(_count(verdict, counts.get(verdict, 0)) for verdict in Verdict)]
            for name, counts in rows
        ),
    ]


def _in_phase(target: TargetReport, phase: Phase) -> Mapping[Verdict, int]:
    """How many operators a phase has of each verdict, each at its worst."""
    worst: dict[str, Verdict] = {}
    for finding in (found for found in target.findings if found.phase is phase):
        before = worst.get(finding.op, finding.verdict)
        worst[finding.op] = max(before, finding.verdict, key=lambda verdict: verdict.rank)
    return Counter(worst.values())


def _count(verdict: Verdict, count: int) -> Atom:
    return f"{count:,}", STYLES[verdict] if count else "dim"


UNBROKEN = 1_000_000
"""Columns that no line is longer than: a line is read by programs as well."""


def report_lines(report: Report, page: Page) -> str:
    """Whether each target runs the model."""
    canvas = unbroken(page)
    for target in report.targets:
        write_verdict(canvas, report, target)
    if not report.targets:
        canvas.flow(split(words.NO_TARGETS))
    return canvas.text()


def unbroken(page: Page) -> Canvas:
    """A canvas whose lines are as long as what they say."""
    return Canvas(replace(page, width=UNBROKEN))
