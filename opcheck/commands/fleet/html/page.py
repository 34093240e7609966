"""The page of a fleet: what stands where in it, and the data that its script works on."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from opcheck.commands.fleet import terminal as said
from opcheck.commands.fleet.answers.values import (
    BlockedBy,
    FleetPage,
    Goal,
    ModelRow,
    Ranking,
    Standing,
    TargetTally,
)
from opcheck.commands.fleet.html import words
from opcheck.commands.fleet.html.words import FOR_SCRIPT, SIGNS, STANDINGS
from opcheck.commands.fleet.terminal import CAUSES, ENDINGS, alike
from opcheck.lang.speech import tell
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.document.parts import Json
from opcheck.views.html import words as common
from opcheck.views.html.data import escaped, translated
from opcheck.views.html.template import whole_page
from opcheck.views.targets import short_target_names
from opcheck.views.terminal.notation import percent, plural

_RATES = 1000
"""Shares are embedded in thousandths; without one it is below zero."""


def embedded(page: FleetPage) -> str:
    """All models as JSON that can stand inside a script element, whatever it holds."""
    sets: dict[tuple[int, ...], int] = {(): 0}
    models = [_model(model, sets) for model in page.models]
    run = page.summary.run
    short = short_target_names(target.target for target in run.targets)
    return escaped({
        "words": {**translated(FOR_SCRIPT), "names": _names(), "causes": _causes()},
        "verdicts": [*Standing],
        "signs": [SIGNS[standing] for standing in Standing],
        "store": page.store,
        "run": run.id,
        "targets": [
            {"name": target.target, "short": short[target.target], "vendor": target.vendor}
            for target in run.targets
        ],
        "causes": [_cause(cause) for cause in page.causes],
        "sets": [list(causes) for causes in sets],
        "models": models,
    })  # fmt: skip


def _model(model: ModelRow, sets: dict[tuple[int, ...], int]) -> list[object]:
    """A list, since the names of its fields a thousand times over would be half of the page."""
    rates = [
        -1 if cell.support_rate is None else int(cell.support_rate * _RATES) for cell in model.cells
    ]
    return [
        model.name,
        "" if model.source == model.name else model.source,
        model.kind,
        model.ending,
        model.reason,
        model.hint,
        model.calls,
        model.operators,
        model.gaps,
        "".join(str(cell.standing.rank) for cell in model.cells),
        rates if len(set(rates)) > 1 else rates[:1],
        [sets.setdefault(cell.causes, len(sets)) for cell in model.cells],
        model.report,
    ]


def _cause(cause: BlockedBy) -> Json:
    return {
        "op": cause.op,
        "cause": cause.cause,
        "code": cause.code,
        "verdict": cause.verdict,
        "text": tell(cause.text),
        "confidence": cause.confidence,
    }


def _names() -> Mapping[str, str]:
    """What the page calls names that it works with."""
    return {
        **{standing: tell(name) for standing, name in STANDINGS.items()},
        **{ending: tell(name) for ending, name in ENDINGS.items()},
        **{level: tell(level) for level in Confidence},
    }


def _causes() -> Mapping[str, str]:
    return {cause: tell(name) for cause, name in CAUSES.items()}


STYLES = ("base.css", "parts.css", "fleet/fleet.css", "narrow.css", "fleet/narrow.css")
SCRIPTS = (
    *("elements.js", "theme.js", "fleet/core.js", "fleet/grid.js", "fleet/detail.js"),
    *("viewing.js", "fleet/main.js"),
)
"""In the order in which they stand; each uses what comes before it."""


class TargetRow(Struct, frozen=True):
    """One line of the table of targets."""

    index: int
    name: str
    whole: str
    counts: Sequence[int]
    """Models that run, then those of each standing."""
    share: str
    bar: Sequence[tuple[Standing, float, float]]
    """Standings with start and width, in hundredths."""


class Ranked(Struct, frozen=True):
    """One ranking, told."""

    goal: str
    said: str
    ranking: Ranking
    left: Sequence[str]


def fleet_page(page: FleetPage) -> str:
    """The whole page; nothing in it is asked for elsewhere, and a browser is told so."""
    summary = page.summary
    run = summary.run
    return whole_page(
        "fleet/page.html",
        STYLES,
        SCRIPTS,
        page=page,
        words=words,
        common=common,
        said=said,
        alike=alike,
        standings=tuple(Standing),
        tone=_tone(page),
        headline=tell(said.everywhere(summary.everywhere, run.done, len(run.targets))),
        nowhere=tell(said.nowhere(summary.nowhere)) if len(run.targets) > 1 else "",
        endings=tell(said.endings(summary.endings)),
        open="" if run.ended else tell(said.not_over(run)),
        targets=_targets(summary.targets),
        pools=_pools(page),
        failures=[
            (tell(said.ENDINGS[one.ending]), one, tell(plural(len(one.models), "model")))
            for one in summary.failures
        ],
        facts=_facts(page),
        data=embedded(page),
    )


def _tone(page: FleetPage) -> Verdict:
    """The verdict whose colour the first line has."""
    summary = page.summary
    if summary.everywhere == summary.run.done:
        return Verdict.NATIVE
    return Verdict.FALLBACK if summary.everywhere else Verdict.UNSUPPORTED


def _targets(tallies: Sequence[TargetTally]) -> list[TargetRow]:
    names = short_target_names(tally.target.target for tally in tallies)
    rows = []
    for index, tally in enumerate(tallies):
        counts = tally.counts
        runs = counts[Standing.DEVICE] + counts[Standing.FALLBACK]
        share = "" if tally.support_rate is None else percent(tally.support_rate)
        whole = tally.target.target
        rows.append(TargetRow(index, names[whole], whole, (runs, *counts.values()), share,
                              _bar(tally)))  # fmt: skip
    return rows


def _bar(tally: TargetTally) -> list[tuple[Standing, float, float]]:
    total = sum(tally.counts.values())
    pieces, start = [], 0.0
    for standing, count in tally.counts.items():
        if count:
            pieces.append((standing, round(start, 3), round(100 * count / total, 3)))
            start += 100 * count / total
    return pieces


def _pools(page: FleetPage) -> list[tuple[str, Sequence[Ranked]]]:
    """Vendors with something blocked, each with its rankings: what both goals need alike once."""
    found: dict[str, list[Ranked]] = {}
    for missing in page.missing:
        for ranking in missing.rankings:
            told = found.setdefault(ranking.pool, []) if ranking.steps else []
            if ranking.steps and not any(one.ranking.steps == ranking.steps for one in told):
                told.append(_ranked(missing.goal, ranking))
    return list(found.items())


def _ranked(goal: Goal, ranking: Ranking) -> Ranked:
    last = ranking.steps[-1]
    needs = [need for step in ranking.steps for need in step.needs]
    text = said.unblock(needs, last.total_models, last.total_answers, ranking)
    return Ranked(
        tell(words.GOALS[goal]), tell(text), ranking, [tell(one) for one in said.left(ranking)]
    )


def _facts(page: FleetPage) -> tuple[tuple[str, str], ...]:
    run = page.summary.run
    dates = sorted({target.database_date for target in run.targets})
    return (
        ("manifest", run.manifest),
        ("run", f"{run.id:,}"),
        ("begun", run.begun),
        ("ended", run.ended),
        ("torch", run.torch_version),
        ("opcheck", run.opcheck_version),
        ("database", " ".join(dates[-1:])),
    )
