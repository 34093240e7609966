"""``opcheck.fix/1``: what was written, and the proof."""

from opcheck.model.fix import SCHEMA, Fix, Proof
from opcheck.report.document.parts import Json, model_value


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
        "proof": None if found.proof is None else _proof(found.proof),
        "unproven": found.unproven,
    }


def _proof(proof: Proof) -> Json:
    largest = proof.largest
    return {
        "how": proof.how,
        "target": proof.target,
        "holds": proof.holds,
        "gone": list(proof.gone),
        "remaining": list(proof.remaining),
        "runs": proof.runs,
        "compared": proof.compared,
        "largest": None
        if largest is None
        else {"name": largest.name, "dtype": largest.dtype, "difference": largest.largest},
        "error": proof.error,
        "note": proof.note,
    }
