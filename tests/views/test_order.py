"""The one order of a report."""

import random

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from opcheck.model.report import Report
from opcheck.model.verdict import Verdict
from opcheck.views.order import WORST_FIRST, arranged
from tests.views.samples import STANDARD
from tests.views.strategies import reports


def test_worst_first() -> None:
    assert WORST_FIRST == (
        Verdict.UNSUPPORTED,
        Verdict.UNKNOWN,
        Verdict.FALLBACK,
        Verdict.DECOMPOSED,
        Verdict.NATIVE,
    )


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(reports)
def test_arranging_twice_changes_nothing(report: Report) -> None:
    assert arranged(arranged(report)) == arranged(report)


@pytest.mark.parametrize("sample", STANDARD)
def test_order_of_findings_does_not_matter(sample: str) -> None:
    report = STANDARD[sample]
    shuffler = random.Random(0)
    shuffled = replace(
        report,
        targets=tuple(
            replace(t, findings=tuple(shuffler.sample(t.findings, len(t.findings))))
            for t in report.targets
        ),
    )
    assert arranged(shuffled) == arranged(report)


def test_findings_come_by_verdict_then_operator() -> None:
    (target,) = arranged(STANDARD["mixed"]).targets
    assert [finding.op for finding in target.findings] == [
        "aten::_scaled_dot_product_efficient_attention.with_a_long_overload_name_that_is_not_cut",
        "aten::view_as_complex",
        "torchvision::nms",
        "aten::chunk",
        "aten::cat",
        "aten::conv2d",
        "aten::nonzero",
        "aten::silu_",
    ]


def test_figures_name_every_verdict() -> None:
    (target,) = STANDARD["mixed"].targets
    bare = replace(target, summary=replace(target.summary, operators={Verdict.NATIVE: 1}))
    (found,) = arranged(replace(STANDARD["mixed"], targets=(bare,))).targets
    assert found.summary.operators == {
        Verdict.NATIVE: 1,
        Verdict.DECOMPOSED: 0,
        Verdict.FALLBACK: 0,
        Verdict.UNSUPPORTED: 0,
        Verdict.UNKNOWN: 0,
    }
