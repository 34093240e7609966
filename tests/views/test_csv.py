"""The table as a spreadsheet reads it."""

import csv
import io

import pytest
from hypothesis import given, settings

from opcheck.model.report import Report
from opcheck.views.formats import report_view
from opcheck.views.report.csv import COLUMNS
from tests.views.hostile import HOSTILE, report_saying
from tests.views.plans import PLANS
from tests.views.samples import STANDARD
from tests.views.strategies import reports


def rows(report: Report) -> list[dict[str, str]]:
    header, *found = csv.reader(
        io.StringIO(report_view("csv").render(report), newline=""), strict=True
    )
    assert tuple(header) == COLUMNS
    assert all(len(row) == len(COLUMNS) for row in found)
    assert not any(cell.lstrip().startswith(tuple("=+-@＝＋－＠")) for row in found for cell in row)
    return [dict(zip(COLUMNS, row, strict=True)) for row in found]


def check(report: Report) -> None:
    findings = [finding for target in report.targets for finding in target.findings]
    found = rows(report)
    assert len(found) == sum(max(len(finding.uses), 1) for finding in findings)
    calls = sum(sum(u.count for u in f.uses) if f.uses else f.count for f in findings)
    assert sum(int(row["calls"]) for row in found) == calls


@pytest.mark.parametrize("report", [*STANDARD.values(), *PLANS.values(), *HOSTILE])
def test_every_place_is_a_row(report: Report) -> None:
    check(report)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(reports)
def test_any_report_is_a_table(report: Report) -> None:
    check(report)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", '"=1', "＝1"])
def test_what_a_spreadsheet_would_compute_is_text(text: str) -> None:
    first, *_ = rows(report_saying(text))
    assert {first[key] for key in ("target", "operator", "why", "file", "module")} == {f"'{text}"}


def test_other_text_stays_as_it_is() -> None:
    text = "a=1, 'b' \"c\"; -1"
    first, *_ = rows(report_saying(text))
    assert first["why"] == text
