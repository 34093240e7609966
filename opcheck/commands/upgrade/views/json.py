"""``opcheck.upgrade/1``: what blocks a model, and which moves remove it."""

from opcheck.commands.upgrade.values import SCHEMA, Blocked, Move, MoveKind, Upgrade
from opcheck.views.document.parts import Json, as_text, model_value
from opcheck.views.document.report import finding_value, trace_value
from opcheck.views.formats import PLAIN, Page


def render(found: Upgrade, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.upgrade/1``."""
    return as_text(upgrade_document(found))


def upgrade_document(found: Upgrade) -> Json:
    """The whole document, in the order that the answer has."""
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "torch_version": found.torch_version,
        "model": model_value(found.model),
        "trace": trace_value(found.trace),
        "target": str(found.target),
        "runs": found.runs,
        "support_rate": found.support_rate,
        "blocked": [_blocked(blocked) for blocked in found.blocked],
        "moves": [_move(move) for move in found.moves],
        "best": None if found.best is None else str(found.best.target),
        "tried": found.tried,
    }


def _blocked(blocked: Blocked) -> Json:
    targets = {kind: blocked.gone.get(kind) for kind in MoveKind}
    return {
        "finding": finding_value(blocked.finding),
        "gone": {kind.value: target and str(target) for kind, target in targets.items()},
    }


def _move(move: Move) -> Json:
    return {
        "kind": move.kind.value,
        "target": str(move.target),
        "removes": list(move.removes),
        "brings": list(move.brings),
        "runs": move.runs,
        "support_rate": move.support_rate,
    }
