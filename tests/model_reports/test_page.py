"""The page of reports about whole models says what a scan says, and nothing got worse."""

import pytest

from tests.model_reports.document import EVERY, PATH, answers_now, first
from tests.model_reports.report import Answer, Judged, Met, ModelReport, judged, python
from tests.whole import WHOLE

pytestmark = pytest.mark.usefixtures("libraries_are_loaded")  # half of the models are of one
REPORTS = {report.name: report for report in EVERY}
REFUSED = Answer(False, ("bitsandbytes::gemv_4bit: no kernel",))


@pytest.mark.parametrize(
    ("met", "answer", "expected"),
    [
        (Met.REFUSED, REFUSED, Judged.RIGHT),
        (Met.REFUSED, Answer(False, ("aten::add: no kernel",)), Judged.PARTLY),
        (Met.REFUSED, Answer(None, (), ("weights quantised by BitsAndBytes",)), Judged.PARTLY),
        (Met.REFUSED, Answer(None, (), ("something else",)), Judged.MISSED),
        (Met.REFUSED, Answer(True, (), ("bitsandbytes: slow",)), Judged.MISSED),
        (Met.WORKS, Answer(True), Judged.RIGHT),
        (Met.WORKS, Answer(None), Judged.PARTLY),
        (Met.WORKS, REFUSED, Judged.ALARM),
    ],
)
def test_an_answer_is_judged_by_what_users_met(met: Met, answer: Answer, expected: Judged) -> None:
    report = ModelReport("nf4", "a/b#1", "", {"t": met}, python(""), ("bitsandbytes",))
    assert judged(report, {"t": answer}) is expected


def test_every_report_has_its_first_answer() -> None:
    assert first().keys() == REPORTS.keys()
    assert len(REPORTS) == len(EVERY) == len({report.thread for report in EVERY})


SCANNED = list(REPORTS.values()) if WHOLE else list(REPORTS.values())[::6]


@pytest.mark.slow
@pytest.mark.parametrize("report", SCANNED, ids=lambda report: report.name)
def test_the_page_is_what_a_scan_says(report: ModelReport) -> None:
    said = f"{report.thread}]("
    (line,) = (one for one in PATH.read_text(encoding="utf-8").splitlines() if said in one)
    assert line.endswith(f" {judged(report, answers_now(report))} |")
