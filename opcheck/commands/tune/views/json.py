"""``opcheck.tune/1``: what a model costs on targets' chips, and what would make it cost less."""

from opcheck.commands.tune.values import (
    SCHEMA,
    Advice,
    ChipFigure,
    OperatorCost,
    TunedTarget,
    Tuning,
)
from opcheck.costs.roofline import Bound, MemoryNeed
from opcheck.views.document.parts import Json, as_text, evidence_value, gap_value, model_value
from opcheck.views.formats import PLAIN, Page

DIGITS = 6
"""Significant digits of a time or a share: no figure of a chip's has more."""


def render(found: Tuning, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.tune/1``."""
    return as_text(tune_document(found))


def tune_document(found: Tuning) -> Json:
    """The whole answer as JSON."""
    trace = found.trace
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "torch_version": found.torch_version,
        "model": model_value(found.model),
        "trace": {
            "mode": trace.mode,
            "device_type": trace.device_type,
            "calls": trace.calls,
            "operators": trace.operators,
            "gaps": list(map(gap_value, trace.gaps)),
            "notes": list(trace.notes),
        },
        "targets": [_target(target) for target in found.targets],
    }


def _target(one: TunedTarget) -> Json:
    return {
        "target": one.target,
        "vendor": one.vendor,
        "chip": one.chip,
        "title": one.title,
        "product": one.product or None,
        "other_products": list(one.others),
        "runs": one.runs,
        "figures": [_figure(figure) for figure in one.figures],
        "flops": one.flops,
        "elements": one.elements,
        "bytes": one.moved,
        "bound": _bound(one.bound),
        "memory": {**_memory(one.memory), "largest_batch": one.largest_batch},
        "operators": [_operator(operator) for operator in one.operators],
        "advice": [_advice(advice) for advice in one.advice],
        "unknown": list(one.unknown),
    }


def _figure(one: ChipFigure) -> Json:
    evidence = [evidence_value(fact) for fact in one.evidence]
    return {"name": one.name, "value": one.value, "evidence": evidence}


def _bound(one: Bound) -> Json:
    return {"seconds": _rounded(one.seconds), "limit": one.limit.value, "whole": one.whole}


def _memory(one: MemoryNeed) -> dict[str, object]:
    return {
        "total": one.total,
        "weights": one.weights,
        "buffers": one.buffers,
        "inputs": one.inputs,
        "activations": one.activations,
        "gradients": one.gradients,
        "states": one.states,
        "batch": one.batch,
    }


def _operator(one: OperatorCost) -> Json:
    return {
        "op": one.op,
        "calls": one.calls,
        "flops": one.flops,
        "bytes": one.moved,
        "bound": _bound(one.bound),
        "share": _rounded(one.share),
        "module": one.module,
    }


def _advice(one: Advice) -> Json:
    return {
        "code": one.code,
        "title": one.title,
        "needed": one.needed,
        "where": list(one.where),
        "reason": one.reason,
        "gain": {
            "share": _rounded(one.gain.share),
            "seconds": _rounded(one.gain.seconds),
            "bytes": one.gain.nbytes,
            "text": one.gain.text,
        },
        "actions": list(one.actions),
        "lines": list(one.lines),
        "evidence": [evidence_value(fact) for fact in one.evidence],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
