"""A table for spreadsheets: one row for each place of each finding on each target."""

from collections.abc import Iterator

from opcheck.model.report import Finding, Place, Report, TargetReport
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import as_csv
from opcheck.views.order import arranged
from opcheck.views.terminal.notation import source

COLUMNS = (
    *("target", "vendor", "chip", "sdk", "torch"),
    *("verdict", "operator", "phase", "calls", "file", "line", "module"),
    *("reason", "why", "confidence", "inputs", "runs_as", "evidence", "suggestion", "id"),
)


def render(report: Report, page: Page = PLAIN) -> str:
    """Give every finding, native ones too, in the report's order, with one header row."""
    rows = (
        _row(target, finding, place)
        for target in arranged(report).targets
        for finding in target.findings
        for place in finding.uses or (None,)
    )
    return as_csv(COLUMNS, rows)


def _row(target: TargetReport, finding: Finding, place: Place | None) -> Iterator[object]:
    yield from (target.target, target.vendor, target.chip, target.sdk, target.torch)
    yield from (finding.verdict, finding.op, finding.phase)
    if place is None:
        yield from (finding.count, "", "", "")
    else:
        yield from (place.count, place.file, place.line or "", place.module)
    yield from (finding.reason.code, finding.reason.text, finding.confidence)
    yield "; ".join(place.inputs) if place else ""
    yield "; ".join(place.decomposed_into) if place else ""
    yield "; ".join(f"{known.method}: {source(known, verbose=True)}" for known in finding.evidence)
    yield "; ".join(f"{found.rule} ({found.label})" for found in finding.suggestions)
    yield finding.id
