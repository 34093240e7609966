"""``opcheck.fix/1``: what was written, and the proof; of other modes their own schemas."""

from math import isfinite

from opcheck.commands.fix.fused import SCHEMA as FUSED
from opcheck.commands.fix.fused import Better
from opcheck.commands.fix.padded import Padding
from opcheck.commands.fix.padded_document import padded_document
from opcheck.commands.fix.values import SCHEMA, Fix
from opcheck.model.fusing import FusedCalls, ModelCheck
from opcheck.views.document.parts import Json, as_text, evidence_value, model_value
from opcheck.views.document.plan import proof_value
from opcheck.views.document.report import report_document
from opcheck.views.formats import PLAIN, Page


def render(found: Fix | Better | Padding, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.fix/1``, or as the schema of another mode."""
    if isinstance(found, Padding):
        return as_text(padded_document(found))
    return as_text(fused_document(found) if isinstance(found, Better) else fix_document(found))


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


def fused_document(found: Better) -> Json:
    """The whole document of fused calls."""
    return {
        "schema": FUSED,
        "opcheck_version": found.opcheck_version,
        "torch_version": found.torch_version,
        "model": model_value(found.model),
        "target": found.target,
        "files": list(found.files),
        "text": found.text,
        "layers": list(found.layers),
        "holds": found.holds,
        "calls": found.calls,
        "bytes": found.moved,
        "product": found.product or None,
        "fused": list(map(_fused, found.fused)),
        "left": [
            {"rule": one.rule, "module": one.module, "reason": one.reason} for one in found.left
        ],
        "newly_off_device": list(found.newly_off),
        "check": None if found.check is None else _check(found.check),
    }


def _fused(one: FusedCalls) -> Json:
    return {
        "rule": one.rule,
        "summary": one.summary,
        "kernel": one.kernel,
        "label": one.label.value,
        "tolerance": one.tolerance,
        "modules": list(one.modules),
        "calls": {"before": one.calls_before, "after": one.calls_after},
        "bytes": {"before": one.bytes_before, "after": one.bytes_after},
        "seconds": one.seconds,
        "checks": [
            {
                "dtype": check.dtype,
                "draws": check.draws,
                "error": _finite(check.error),
                "allowed": check.allowed,
                "holds": check.holds,
            }
            for check in one.checks
        ],
        "references": list(one.references),
        "evidence": [evidence_value(fact) for fact in one.evidence],
    }


def _finite(number: float) -> float | None:
    """JSON has no NaN."""
    return float(f"{number:.6g}") if isfinite(number) else None


def _check(check: ModelCheck) -> Json:
    return {
        "results": check.results,
        "draws": check.draws,
        "name": check.name,
        "difference": check.difference,
        "allowed": check.allowed,
        "holds": check.holds,
    }
