"""``opcheck.choose/1``: targets ranked for a model, and why each has its place."""

from opcheck.commands.choose.values import SCHEMA, Choice, Choosing, Offer
from opcheck.costs.roofline import MemoryNeed
from opcheck.model.costs import Figure
from opcheck.views.document.parts import Json, as_text, evidence_value, model_value
from opcheck.views.document.report import trace_value
from opcheck.views.formats import PLAIN, Page


def render(found: Choosing, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.choose/1``."""
    return as_text(choose_document(found))


def choose_document(found: Choosing) -> Json:
    """The whole document, in the order that the answer has."""
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "torch_version": found.torch_version,
        "model": model_value(found.model),
        "trace": trace_value(found.trace),
        "flops": dict(found.dtypes),
        "unknown": list(found.unknown),
        "choices": [_choice(choice) for choice in found.choices],
    }


def _choice(choice: Choice) -> Json:
    return {
        "place": choice.place,
        "target": choice.target,
        "vendor": choice.vendor,
        "chip": choice.chip,
        "name": choice.name,
        "takes": choice.takes,
        "way": choice.way.value,
        "tier": None if choice.tier is None else int(choice.tier),
        "blocking": list(choice.blocking),
        "support_rate": choice.support_rate,
        "repaired_rate": choice.repaired_rate,
        "host_calls": choice.host_calls,
        "host_bytes": choice.host_bytes,
        "fit": choice.fit.value,
        "need": _need(choice.need),
        "product": None if choice.best is None else choice.best.name,
        "seconds": choice.seconds,
        "floor": choice.floor,
        "products": [_offer(offer) for offer in choice.offers],
        "criterion": None if choice.criterion is None else choice.criterion.value,
        "why": choice.why,
        "unknown": list(choice.unknown),
    }


def _need(need: MemoryNeed) -> Json:
    return {
        "total": need.total,
        "weights": need.weights,
        "buffers": need.buffers,
        "inputs": need.inputs,
        "activations": need.activations,
        "gradients": need.gradients,
        "states": need.states,
    }


def _offer(offer: Offer) -> Json:
    return {
        "name": offer.name,
        "memory": _figure(offer.memory),
        "bandwidth": _figure(offer.bandwidth),
        "peaks": {dtype: _figure(rate) for dtype, rate in offer.peaks.items()},
        "fits": offer.fits,
        "seconds": offer.seconds,
        "limit": offer.bound.limit.value,
        "missing": list(offer.missing),
    }


def _figure(figure: Figure | None) -> Json | None:
    if figure is None:
        return None
    return {
        "value": figure.value,
        "most": figure.most,
        "grade": figure.grade.value,
        "note": figure.note,
        "evidence": [evidence_value(fact) for fact in figure.evidence],
    }
