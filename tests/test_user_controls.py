"""What users say works is not said to fail, and a scan says what is written down."""

import pytest

from opcheck.model.verdict import Verdict
from tests.user_controls.answers import CAUSES, FIRST, NOW, first, now
from tests.user_controls.control import Control, answer_of, controls
from tests.user_controls.sources import COMMITS

NOT_TRACED = "XPU: rfft of bfloat16"
SCANNED = tuple(name for name in controls() if name != NOT_TRACED)
QUICK = tuple(name for number, name in enumerate(SCANNED) if number % 10 == 0 or name in NOW)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_scan_says_of_every_tenth_control_what_is_written_down(name: str) -> None:
    assert answer_of(name) == now(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCANNED if name not in QUICK])
def test_a_scan_says_of_a_control_what_is_written_down(name: str) -> None:
    assert answer_of(name) == now(name)


def test_every_answer_is_of_a_control() -> None:
    assert {*FIRST, *NOW, *CAUSES} <= controls().keys()


def test_what_is_not_said_to_run_has_a_cause() -> None:
    runs = {Verdict.NATIVE.value, Verdict.FALLBACK.value}
    assert {name for name in controls() if first(name).verdict not in runs} == CAUSES.keys()


@pytest.mark.parametrize("control", controls().values(), ids=lambda control: control.name)
def test_a_control_names_an_issue_or_a_file_at_a_commit(control: Control) -> None:
    project, mark, _ = control.source.partition(":")
    assert project in COMMITS if mark else "#" in control.source
