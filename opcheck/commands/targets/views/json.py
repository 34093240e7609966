"""``opcheck.targets/1``: what there is to scan against."""

from collections.abc import Sequence

from opcheck.commands.targets.values import TargetRow
from opcheck.views.document.parts import Json, as_text
from opcheck.views.formats import PLAIN, Page

TARGETS_SCHEMA = "opcheck.targets/1"


def render(rows: Sequence[TargetRow], page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.targets/1``."""
    return as_text(targets_document(rows))


def targets_document(rows: Sequence[TargetRow]) -> Json:
    """The targets of the database."""
    return {"schema": TARGETS_SCHEMA, "targets": [_row(row) for row in rows]}


def _row(row: TargetRow) -> Json:
    return {
        "target": str(row.target),
        "name": row.target.name,
        "vendor": row.target.vendor,
        "chip": row.target.chip,
        "device_name": row.device_name,
        "device_type": row.target.device_type,
        "releases": list(row.releases),
        "torch_versions": list(row.torch_versions),
        "registered": row.registered,
        "date": row.date,
        "also": list(row.also),
        "vendor_also": list(row.vendor_also),
        "toolkits": list(row.toolkits),
        "opsets": list(row.opsets),
    }
