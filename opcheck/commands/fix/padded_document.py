"""``opcheck.padding/1``: inputs padded to few sizes, as JSON."""

from opcheck.commands.fix.padded import SCHEMA, Padding
from opcheck.model.padding import PadCheck
from opcheck.views.document.parts import Json, model_value
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
        "notes": list(run.notes),
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
