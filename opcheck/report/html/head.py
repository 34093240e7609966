"""The verdict on each target: whether it runs the model, what share stays on it, what breaks."""

from collections.abc import Mapping
from dataclasses import dataclass

from opcheck.model.report import Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.report.html.words import RUNS_SIGNS
from opcheck.report.order import WORST_FIRST
from opcheck.report.terminal import words
from opcheck.report.terminal.breaks import breaks, first_gap
from opcheck.report.terminal.compare import short_names
from opcheck.report.terminal.head import fallback_cost
from opcheck.report.terminal.marks import UNICODE
from opcheck.report.terminal.plan.words import TIERS, step
from opcheck.report.terminal.units import percent, size

_TONES = {True: Verdict.NATIVE, False: Verdict.UNSUPPORTED, None: Verdict.UNKNOWN}


@dataclass(frozen=True, slots=True)
class Bar:
    """One verdict's piece of the bar, in hundredths of it."""

    verdict: Verdict
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Step:
    """What a target does once a tier of its plan is followed."""

    tier: int
    name: str
    share: str
    runs: str
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """What is said of one target before anything else."""

    index: int
    target: str
    short: str
    runs: str
    sign: str
    tone: Verdict
    breaks: str
    share: str
    of: str
    """What the share is of."""
    bar: tuple[Bar, ...]
    figures: tuple[tuple[str, Mapping[Verdict, int]], ...]
    cost: str
    """How fallbacks split the work; "" where nothing falls back."""
    islands: int
    moved: str
    steps: tuple[Step, ...]


def cards(report: Report) -> tuple[Card, ...]:
    """One a target, as they were asked for."""
    names = short_names(report.targets)
    return tuple(
        _card(report, target, index, names[target.target])
        for index, target in enumerate(report.targets)
    )


def headline(report: Report) -> str:
    """One sentence on all targets together."""
    runs = [target.summary.runs for target in report.targets]
    if not runs:
        return words.NO_TARGETS
    if len(runs) == 1:
        return f"{words.RUNS[runs[0]]} {words.ON} {report.targets[0].target}"
    return words.headline(len(runs), runs.count(True), runs.count(False))


def tone(report: Report) -> Verdict:
    """The verdict whose colour the page's first line has: that of the worst target."""
    tones = (_TONES[target.summary.runs] for target in report.targets)
    return max(tones, key=lambda verdict: verdict.rank, default=Verdict.UNKNOWN)


def _card(report: Report, target: TargetReport, index: int, short: str) -> Card:
    summary = target.summary
    found = breaks(target)
    if not found and summary.runs is None:
        found = first_gap(report.trace.gaps, UNICODE)
    total = sum(summary.operators.values())
    rate = summary.support_rate
    fallback = summary.operators.get(Verdict.FALLBACK, 0)
    return Card(
        index=index,
        target=target.target,
        short=short,
        runs=words.RUNS[summary.runs],
        sign=RUNS_SIGNS[summary.runs],
        tone=_TONES[summary.runs],
        breaks=" ".join(text for text, _ in found),
        share="" if rate is None else percent(rate),
        of=words.NO_CALLS if rate is None else words.share(total, target.elsewhere),
        bar=_bar(summary.operators, total),
        figures=(("operators", summary.operators), ("calls", summary.calls)),
        cost=fallback_cost(target, report.trace.mode) if fallback else "",
        islands=summary.islands,
        moved=size(summary.fallback_bytes),
        steps=_steps(target),
    )


def _bar(operators: Mapping[Verdict, int], total: int) -> tuple[Bar, ...]:
    pieces = []
    start = 0.0
    for verdict in reversed(WORST_FIRST):
        if count := operators.get(verdict, 0):
            width = 100 * count / total
            pieces.append(Bar(verdict, round(start, 3), round(width, 3)))
            start += width
    return tuple(pieces)


def _steps(target: TargetReport) -> tuple[Step, ...]:
    if target.plan is None:
        return ()
    return tuple(
        Step(int(after.tier), TIERS[after.tier], *step(after), after.operators)
        for after in target.plan.tiers
    )
