"""What the script of a fleet's page works on: every cell, with what cells share kept once."""

from collections.abc import Mapping

from opcheck.commands.fleet.answers.page_values import FleetPage, ModelRow
from opcheck.commands.fleet.answers.values import BlockedBy, Standing
from opcheck.commands.fleet.html.words import FOR_SCRIPT, SIGNS, STANDINGS
from opcheck.commands.fleet.terminal.words import CAUSES, ENDINGS
from opcheck.lang.speech import tell
from opcheck.model.verdict import Confidence
from opcheck.views.document.parts import Json
from opcheck.views.html.data import escaped, translated
from opcheck.views.targets import short_target_names

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
