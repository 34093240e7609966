"""JUnit's XML as a library for it reads it."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from junitparser import Error, Failure, JUnitXml, Skipped
from msgspec.structs import replace

from opcheck.app.output import Output
from opcheck.model.report import Report
from opcheck.model.verdict import Verdict
from opcheck.views.formats import Page, command_view, report_view
from opcheck.views.order import arranged
from tests.views.gates import GATES
from tests.views.hostile import HOSTILE
from tests.views.plans import PLANS
from tests.views.samples import STANDARD
from tests.views.strategies import reports

KINDS = {Verdict.UNSUPPORTED: Failure, Verdict.UNKNOWN: Error, Verdict.FALLBACK: Skipped}
REQUIRED = {"name", "timestamp", "hostname", "tests", "failures", "errors", "time", "package", "id"}
"""Attributes of a suite that the strictest of the common schemas asks for."""
PARTS = ["properties", "testcase", "system-out", "system-err"]


def check(report: Report) -> None:
    text = report_view("junit").render(report)
    read = JUnitXml.fromstring(text.encode())
    for suite, target in zip(read, arranged(report).targets, strict=True):
        counted = (suite.tests, suite.failures, suite.errors, suite.skipped)
        cases = list(suite)
        results = [[type(result) for result in case.result] for case in cases]
        expected = [KINDS[f.verdict] for f in target.findings if f.verdict in KINDS]
        assert [kind for one in results for kind in one] == expected
        kinds = (Failure, Error, Skipped)
        assert counted == (len(target.findings), *(expected.count(kind) for kind in kinds))
    for element in ET.fromstring(text):
        assert set(element.attrib) >= REQUIRED
        assert list(dict.fromkeys(part.tag for part in element)) == [
            part for part in PARTS if part != "testcase" or element.find("testcase") is not None
        ]


@pytest.mark.parametrize("report", [*STANDARD.values(), *PLANS.values(), *HOSTILE])
def test_every_finding_is_a_test_case(report: Report) -> None:
    check(report)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(reports)
def test_any_report_is_read_as_it_was_meant(report: Report) -> None:
    check(report)


@pytest.mark.parametrize(
    ("date", "told"),
    [("2026-05-31", "2026-05-31"), ("", "1970-01-01"), ("2026-02-30", "1970-01-01")],
)
def test_without_a_command_the_time_is_the_databases(date: str, told: str) -> None:
    report = STANDARD["mixed"]
    dated = tuple(replace(target, database_date=date) for target in report.targets)
    assert f' timestamp="{told}T00:00:00" ' in report_view("junit").render(
        replace(report, targets=dated)
    )


def test_the_time_is_when_the_command_began() -> None:
    page = Page(started="2026-11-29T08:30:00")
    for report, view in (
        (STANDARD["three-targets"], report_view("junit")),
        (next(iter(GATES.values())), command_view("gate", "junit")),
    ):
        suites = ET.fromstring(view.render(report, page)).findall("testsuite")
        assert suites
        assert {suite.attrib["timestamp"] for suite in suites} == {"2026-11-29T08:30:00"}


@pytest.mark.parametrize(
    ("epoch", "told"),
    [("0", "1970-01-01T00:00:00"), ("1796000000", "2026-11-30T00:53:20")],
)
def test_a_build_may_set_the_time(
    epoch: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert Output(tmp_path / "junit.xml").page().started == told


@pytest.mark.parametrize("epoch", ["", "yesterday", "9" * 40])
def test_a_time_that_is_none_is_left_out(
    epoch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    before = datetime.now(UTC).replace(microsecond=0)
    started = datetime.fromisoformat(Output(tmp_path / "a").page().started).replace(tzinfo=UTC)
    assert before <= started <= datetime.now(UTC)
