"""The rules by which an answer is compared with what users met."""

import pytest

from tests.user_reports.judge import Answer, Judged, judged
from tests.user_reports.report import Because, Met, Report


def report(met: Met, because: Because = Because.DTYPE) -> Report:
    return Report("roll", "a/b#1", 0, "It raises.", "ascend-910b", met, because, lambda x: x)


DTYPE = Answer("unsupported", "dtype-not-supported", "aten::roll")
NO_KERNEL = Answer("unsupported", "no-kernel", "aten::roll")
HOST = Answer("fallback", "host-fallback", "aten::roll")
NATIVE = Answer("native", "registered", "aten::roll")
ADVISORY = Answer("native", "mps-roll", "aten::roll")
UNKNOWN = Answer("unknown", "document-contradicts-registration", "aten::roll")


@pytest.mark.parametrize(
    ("met", "answers", "expected"),
    [
        (Met.REFUSED, (DTYPE,), Judged.RIGHT),
        (Met.REFUSED, (NO_KERNEL,), Judged.PARTLY),
        (Met.REFUSED, (NATIVE, DTYPE), Judged.RIGHT),
        (Met.REFUSED, (NATIVE,), Judged.MISSED),
        (Met.REFUSED, (UNKNOWN,), Judged.PARTLY),
        (Met.REFUSED, (), Judged.MISSED),
        (Met.ON_THE_HOST, (HOST,), Judged.PARTLY),  # it was met for a dtype
        (Met.ON_THE_HOST, (Answer("fallback", "dtype-not-supported", "aten::roll"),), Judged.RIGHT),
        (Met.WRONG, (ADVISORY,), Judged.RIGHT),
        (Met.WRONG, (DTYPE,), Judged.PARTLY),
        (Met.WRONG, (NATIVE,), Judged.MISSED),
        (Met.SLOW, (ADVISORY,), Judged.RIGHT),
        (Met.WORKS, (NATIVE,), Judged.RIGHT),
        (Met.WORKS, (HOST,), Judged.RIGHT),
        (Met.WORKS, (DTYPE,), Judged.ALARM),
        (Met.WORKS, (NATIVE, DTYPE), Judged.ALARM),
    ],
)
def test_an_answer_is_compared_with_what_users_met(
    met: Met, answers: tuple[Answer, ...], expected: Judged
) -> None:
    assert judged(report(met), answers) is expected


def test_a_missing_kernel_is_no_kernel_on_the_host() -> None:
    assert judged(report(Met.ON_THE_HOST, Because.NO_KERNEL), (HOST,)) is Judged.RIGHT
    assert judged(report(Met.REFUSED, Because.NO_KERNEL), (NO_KERNEL,)) is Judged.RIGHT
    assert judged(report(Met.REFUSED, Because.NO_KERNEL), (DTYPE,)) is Judged.PARTLY
