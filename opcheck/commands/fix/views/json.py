"""``opcheck.fix/1``: what was written, and the proof."""

from opcheck.commands.fix.values import SCHEMA, Fix
from opcheck.views.document.parts import Json, as_text, model_value
from opcheck.views.document.plan import proof_value
from opcheck.views.document.report import report_document
from opcheck.views.formats import PLAIN, Page


def render(found: Fix, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.fix/1``."""
    return as_text(fix_document(found))


def fix_document(found: Fix) -> Json:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "torch_version": found.torch_version,
        "model": model_value(found.model),
        "target": found.target,
        "kind": found.kind.value,
        "files": list(found.files),
        "text": found.text,
        "followed": [
            {
                "op": way.op,
                "replaces": way.replaces,
                "rule": way.rule,
                "tier": int(way.tier),
                "label": way.label.value,
                "places": list(way.places),
            }
            for way in found.followed
        ],
        "left": [
            {"op": rest.op, "replaces": rest.replaces, "reason": rest.reason} for rest in found.left
        ],
        "proof": None if found.proof is None else proof_value(found.proof),
        "unproven": found.unproven,
        "report": None if found.report is None else report_document(found.report),
    }
