"""A table for spreadsheets: one row for each place of each finding on each target."""

import csv
import io
from collections.abc import Iterable, Iterator

from opcheck.lang.languages import Language
from opcheck.lang.speech import speaking
from opcheck.model.fleet_answers import FleetView
from opcheck.model.gate import GateResult
from opcheck.model.report import Finding, Place, Report, TargetReport
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.order import arranged
from opcheck.report.problems import one_line
from opcheck.report.terminal.units import source

COLUMNS = (
    *("target", "vendor", "chip", "sdk", "torch"),
    *("verdict", "operator", "phase", "calls", "file", "line", "module"),
    *("reason", "why", "confidence", "inputs", "runs_as", "evidence", "suggestion", "id"),
)
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What begins a formula, as ASCII and in the full width that spreadsheets take for it."""


class CsvFormat(Format):
    """Every finding, native ones too, with one header row.

    Cells that a spreadsheet would compute are led by an apostrophe.
    """

    name = "csv"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the rows in the report's order."""
        rows = (
            _row(target, finding, place)
            for target in arranged(report).targets
            for finding in target.findings
            for place in finding.uses or (None,)
        )
        return _written(COLUMNS, rows)

    def render_gate(
        self, found: GateResult, page: Page = PLAIN, *, show_waived: bool = False
    ) -> str:
        """Give what fails and what is hidden, with what hides it."""
        from opcheck.report.gate import table

        with speaking(Language.ENGLISH):
            return _written(table.COLUMNS, table.rows(found))

    def render_fleet(self, view: FleetView, page: Page = PLAIN) -> str:
        """Give a row for each target, each need of a step, or each change."""
        from opcheck.report.fleet_table import fleet_rows

        with speaking(Language.ENGLISH):
            return _written(*fleet_rows(view))


def _written(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(map(_cell, row))
    return text.getvalue()


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


def _cell(value: object) -> object:
    """Numbers as they are; text on one line, and never a formula."""
    if isinstance(value, int):
        return value
    text = one_line(str(value))
    return f"'{text}" if text.lstrip(" '\"").startswith(_FORMULA) else text
