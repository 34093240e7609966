"""What users met is what a scan says, and the page of cases tells so."""

import pytest

from tests.user_cases import case_of, cases, said_of
from tests.user_cases_document import COMMAND, PATH, page

NAMES = tuple(name for name, case in cases().items() if case.program is not None)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_scan_tells_what_users_met(name: str) -> None:
    assert {said.target: said.code for said in said_of(name)} == case_of(name).expected


def test_a_case_has_threads_and_says_what_is_missing_where_nothing_is_scanned() -> None:
    assert [name for name, case in cases().items() if not case.threads] == []
    assert [n for n, case in cases().items() if case.program is None and not case.lacking] == []


@pytest.mark.slow
def test_the_page_of_cases_is_current() -> None:
    assert PATH.read_text(encoding="utf-8") == page(), f"run {COMMAND}"
