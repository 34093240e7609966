"""``opcheck.padding/1``: inputs padded to few sizes, as JSON."""

from opcheck.commands.fix.padded import SCHEMA, Padding, VaryingPlace
from opcheck.model.padding import PadCheck, StaticCache
from opcheck.views.document.parts import Json, evidence_value, model_value
from opcheck.views.document.report import taken_value


def padded_document(found: Padding) -> Json:
    """The whole document."""
    run = found.run
    return {
        "schema": SCHEMA,
        "opcheck_version": found.opcheck_version,
        "torch_version": found.torch_version,
        "model": model_value(found.model),
        "target": found.target,
        "files": list(found.files),
        "holds": found.holds,
        "reason": run.reason or None,
        "axes": [
            {
                "name": axis.name,
                "members": list(axis.members),
                "buckets": list(axis.buckets),
                "smallest": axis.smallest,
            }
            for axis in run.axes
        ],
        "padded": [
            {"name": one.name, "value": one.value or None, "made": one.made} for one in run.inputs
        ],
        "cut": [
            {"name": cut.name, "dim": cut.dim, "axis": cut.axis, "size": cut.size}
            for cut in run.cuts
        ],
        "shapes": {"before": found.shapes_before, "after": found.shapes_after},
        "elements": float(f"{found.padded_share:.6g}"),
        "taken": None if found.taken is None else taken_value(found.taken),
        "dtype": run.dtype or None,
        "draws": run.draws,
        "results": run.results,
        "checks": list(map(_check, run.checks)),
        "places": list(map(_place, found.places)),
        "cache": None if run.cache is None else _cache(run.cache),
        "notes": list(run.notes),
    }


def _place(one: VaryingPlace) -> Json:
    site, code = one.site, one.code
    return {
        "kind": site.kind.value,
        "op": site.op,
        "module": site.module,
        "file": site.file,
        "line": site.line,
        "count": site.count,
        "advice": one.advice,
        "evidence": list(map(evidence_value, one.evidence)),
        "code": None
        if code is None
        else {
            "text": code.code,
            "needs": code.needs,
            "there": one.there,
            "draws": code.draws,
            "right": code.right,
        },
    }


def _cache(cache: StaticCache) -> Json:
    return {
        "library": cache.library,
        "switch": 'cache_implementation="static"',
        "taken": cache.taken,
        "file": cache.file,
        "line": cache.line,
    }


def _check(check: PadCheck) -> Json:
    return {
        "sizes": check.sizes,
        "bucket": check.bucket,
        "result": check.result,
        "difference": check.difference,
        "allowed": check.allowed,
        "error": check.error or None,
        "holds": check.holds,
    }
