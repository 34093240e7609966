"""The first lines for one target: does it run, on what share natively."""

from collections import Counter
from collections.abc import Mapping

from opcheck.lang.speech import tell
from opcheck.model.report import Report, TargetReport
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.views.terminal import words
from opcheck.views.terminal.breaks import breaks, first_gap, why
from opcheck.views.terminal.canvas import Atom, Canvas, phrase, split
from opcheck.views.terminal.marks import STYLES, Marks
from opcheck.views.terminal.units import percent, size

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
    canvas.blank()
    if summary.support_rate is None:
        canvas.flow(split(words.NO_CALLS), 2)
        return
    _write_share(canvas, target, summary.support_rate)
    canvas.blank()
    canvas.table(_figures(target, report.trace.mode == "train"))
    if summary.operators.get(Verdict.FALLBACK, 0):
        canvas.blank()
        canvas.flow(split(fallback_cost(target, report.trace.mode)), 2)
    if summary.runs is not None:
        write_gap_count(canvas, report)


def write_verdict(canvas: Canvas, report: Report, target: TargetReport) -> None:
    """Whether the target runs the model, in one line."""
    runs = target.summary.runs
    sign = mark(runs, canvas.marks)
    said = split(words.RUNS[runs], sign[1])
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


def fallback_cost(target: TargetReport, mode: str) -> str:
    """How the fallbacks split the work, and what they move."""
    summary = target.summary
    if target.elsewhere:
        return words.pieces(summary.islands)
    return words.fallback_cost(
        summary.islands, size(summary.fallback_bytes), words.RUN.get(mode, mode)
    )


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
