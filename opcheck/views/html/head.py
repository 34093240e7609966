"""The verdict on each target: whether it runs the model, what share stays on it, what breaks."""

from collections.abc import Mapping

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.views.html.along_the_run import Cut, cuts, pieces
from opcheck.views.html.facts import Part
from opcheck.views.html.words import RUNS_SIGNS
from opcheck.views.order import WORST_FIRST
from opcheck.views.targets import short_names
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import joined, split
from opcheck.views.terminal.findings import merged, where
from opcheck.views.terminal.head import brief, fallback_cost, first_gap, trouble
from opcheck.views.terminal.notation import UNICODE, percent, size
from opcheck.views.terminal.plan_words import TIERS, step

_TONES = {True: Verdict.NATIVE, False: Verdict.UNSUPPORTED, None: Verdict.UNKNOWN}


class Bar(Struct, frozen=True):
    """One verdict's piece of the bar, in hundredths of it."""

    verdict: Verdict
    start: float
    width: float


class Step(Struct, frozen=True):
    """What a target does once a tier of its plan is followed."""

    tier: int
    name: str
    share: str
    runs: str
    operators: tuple[str, ...]


class Card(Struct, frozen=True):
    """What is said of one target before anything else."""

    index: int
    target: str
    short: str
    runs: str
    sign: str
    tone: Verdict
    breaks: str
    """How many operators are in trouble, the most called of them, and where; or nothing."""
    why: str
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
    cuts: tuple[Cut, ...]
    """Where along the run calls break, are not known, or fall back."""
    pieces: str
    """How much of the run that is."""


class Told(Struct, frozen=True):
    """What a page says first, and what it adds to what findings are, where not a model was run."""

    headline: str
    failure: str = ""
    """The lines of code that an error passed, and the error; "" for none."""
    parts: tuple[Part, ...] = ()
    partial: str = ""
    """That it is of a part of the run alone; "" where it is of the whole."""


def cards(report: Report) -> tuple[Card, ...]:
    """One a target, as they were asked for."""
    names = short_names(report.targets)
    return tuple(
        _card(report, target, index, names[target.target])
        for index, target in enumerate(report.targets)
    )


def headline(report: Report) -> str:
    """One sentence on all targets together."""
    match report.targets:
        case []:
            return tell(words.NO_TARGETS)
        case [one] if one.needs_another_build:
            said = "runs on {target}, but only with another build of torch"
            return tell(Sentence(said, target=one.target))
        case [one]:
            return tell(
                Sentence(f"{words.RUNS[one.summary.runs]} on {{target}}", target=one.target)
            )
        case several:
            return tell(words.headline(several))


def tone(report: Report) -> Verdict:
    """The verdict whose colour the first line has: what all targets share, else one between."""
    tones = {_TONES[target.summary.runs] for target in report.targets}
    if len(tones) > 1:
        return Verdict.FALLBACK
    return tones.pop() if tones else Verdict.UNKNOWN


def unseen(report: Report) -> str:
    """How much was not seen, and the first of it; "" for nothing."""
    return joined(first_gap(report.trace.gaps, UNICODE))


def _card(report: Report, target: TargetReport, index: int, short: str) -> Card:
    summary = target.summary
    total = sum(summary.operators.values())
    rate = summary.support_rate
    fallback = summary.operators.get(Verdict.FALLBACK, 0)
    first = max(_in_trouble(target), key=lambda finding: finding.count, default=None)
    return Card(
        index=index,
        target=target.target,
        short=short,
        runs=tell(words.runs(target)),
        sign=RUNS_SIGNS[summary.runs],
        tone=_TONES[summary.runs],
        breaks=_breaks(target, first),
        why="" if first is None else joined(brief(first.reason.text, UNICODE)),
        share="" if rate is None else percent(rate),
        of=tell(words.NO_CALLS if rate is None else words.share(total, target.elsewhere)),
        bar=_bar(summary.operators, total),
        figures=((tell("operators"), summary.operators), (tell("calls"), summary.calls)),
        cost=tell(fallback_cost(report, target)) if fallback else "",
        islands=summary.islands,
        moved=size(summary.fallback_bytes),
        steps=_steps(target),
        cuts=cuts(target),
        pieces=tell(pieces(target)),
    )


def _in_trouble(target: TargetReport) -> list[Finding]:
    """Findings of the verdict that decides whether and how well the target runs the model."""
    return [finding for finding in target.findings if finding.verdict is trouble(target)]


def _breaks(target: TargetReport, first: Finding | None) -> str:
    if first is None:
        return ""
    verdict = trouble(target)
    count = target.summary.operators.get(verdict, 0)
    parts = split(words.trouble(count, verdict, target.elsewhere))
    if count > 1:
        parts += split(words.MOST_CALLED)
    parts.append((first.op, ""))
    if places := merged(first.uses):
        place = places[0][0]
        parts += [*split(words.AT if place.file else words.IN), *where(place)]
    return joined(parts)


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
    rows = ((after, *step(after)) for after in target.plan.tiers)
    return tuple(
        Step(int(after.tier), tell(TIERS[after.tier]), share, tell(runs), after.operators)
        for after, share, runs in rows
    )
