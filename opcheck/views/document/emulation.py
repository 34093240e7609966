"""``opcheck.emulation/1``: what happened on an emulated device as a JSON object, key by key."""

from collections.abc import Sequence

from opcheck.model.emulation import (
    SCHEMA,
    Agreement,
    Caution,
    Difference,
    Disagreement,
    Emulation,
    HostCalls,
    Refusal,
    Site,
)
from opcheck.views.document.parts import (
    Json,
    gap_value,
    kernel_value,
    model_value,
    reason_value,
)


def emulation_document(found: Emulation) -> Json:
    """The whole document, in the order that the value has."""
    differences, agreement = found.differences, found.agreement
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "torch_version": found.torch_version,
        "target": found.target,
        "database": {"digest": found.database_digest},
        "model": model_value(found.model),
        "mode": found.mode,
        "values": found.values,
        "runs": found.runs,
        "finished": found.finished,
        "error": None if found.finished else _error(found),
        "refusals": [{**calls_value(item), "error": item.error} for item in found.refusals],
        "host_calls": [{**calls_value(item), "bytes": item.nbytes} for item in found.host_calls],
        "cautions": list(map(caution_value, found.cautions)),
        "islands": found.islands,
        "memory_peak": found.memory_peak,
        "kernels": [kernel_value(kernel) for kernel in found.kernels],
        "differences": None if differences is None else [_difference(d) for d in differences],
        "agreement": None if agreement is None else _agreement(agreement),
        "gaps": list(map(gap_value, found.gaps)),
        "notes": list(found.notes),
    }


def _error(found: Emulation) -> Json:
    site = found.error_site
    return {
        "text": found.error,
        "site": None if site is None else site_value(site),
        "source": found.error_source,
    }


def calls_value(item: Refusal | HostCalls | Caution) -> Json:
    """What is the same for all of them, as JSON."""
    return {
        "op": item.op,
        "reason": reason_value(item.reason),
        "count": item.count,
        "phase": item.phase.value,
        "sites": _sites(item.sites),
    }


def caution_value(item: Caution) -> Json:
    """Calls that ran otherwise, or of which nobody knows, as JSON."""
    return {**calls_value(item), "verdict": item.verdict.value}


def _sites(sites: Sequence[Site]) -> list[Json]:
    return [site_value(site) for site in sites]


def site_value(site: Site) -> Json:
    """Where in the user's code something is, as JSON."""
    return {"module": site.module, "file": site.file, "line": site.line}


def _difference(difference: Difference) -> Json:
    return {
        "name": difference.name,
        "shape": list(difference.shape),
        "dtype": difference.dtype,
        "largest": difference.largest,
    }


def _agreement(agreement: Agreement) -> Json:
    return {
        "native": agreement.native,
        "missing": agreement.missing,
        "refused": agreement.refused,
        "disagreements": [_disagreement(item) for item in agreement.disagreements],
        "ended": agreement.ended,
    }


def _disagreement(item: Disagreement) -> Json:
    return {
        "op": item.op,
        "kind": item.kind,
        "phase": item.phase.value,
        "predicted": item.predicted,
        "asked": item.asked,
    }
