"""The page of user reports: what was said first never changes, and what is said now is so."""

import pytest

from tests.user_reports import answers
from tests.user_reports.causes import NAMES, causes
from tests.user_reports.document import PATH, first_counts, row, verdict_now
from tests.user_reports.judge import Judged, reports
from tests.whole import WHOLE

EVERY = tuple(reports())
SAMPLED = EVERY if WHOLE else EVERY[::10]


def test_every_report_has_a_first_answer() -> None:
    assert answers.first().keys() == reports().keys()


def test_the_page_counts_what_was_said_first() -> None:
    assert first_counts() in PATH.read_text(encoding="utf-8")


def test_what_is_not_right_has_a_cause_and_nothing_else_has_one() -> None:
    lines = set(PATH.read_text(encoding="utf-8").splitlines())
    right = {name for name in reports() if row(name, Judged.RIGHT) in lines}
    assert reports().keys() - right == causes().keys()


def test_a_report_has_one_cause() -> None:
    assert len(causes()) == sum(map(len, NAMES.values()))


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_the_page_says_what_a_scan_says_now(name: str) -> None:
    assert row(name, verdict_now(name)) in PATH.read_text(encoding="utf-8").splitlines()
