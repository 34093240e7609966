"""Conditions in words, where there is no use to tell of."""

import pytest

from opcheck.model.matrix import Condition, Subject, Test
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.conditions import sentence, when


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (
            Test(Subject.SIZE, "self", dim=-1, multiple_of="output_size"),
            "size of dimension -1 of self: no multiple of output_size",
        ),
        (
            Test(Subject.SIZE, "self", dim=-2, factor_of="output_size"),
            "size of dimension -2 of self: no divisor of output_size",
        ),
        (
            Test(Subject.SIZE, "self", dim=-1, dim_argument="dim", maximum=3840),
            "size of dimension dim of self: above 3840",
        ),
        (
            Test(Subject.SIZE, "self", dim=-1, divisible_by=8),
            "size of dimension -1 of self: no multiple of 8",
        ),
        (Test(Subject.PRODUCT, "kernel_size", maximum=64), "product of kernel_size: above 64"),
        (
            Test(Subject.DTYPE, "attn_mask", same_as="query"),
            "dtype of attn_mask: another than that of query",
        ),
        (Test(Subject.VALUE, "pad", one_of=frozenset({"True"}), default="True"), "pad: True"),
    ],
)
def test_when_a_condition_bites(test: Test, expected: str) -> None:
    condition = Condition("code", Verdict.FALLBACK, "{argument}", Confidence.HIGH, (test,))
    assert when(condition) == expected


def test_a_sentence_says_what_must_divide() -> None:
    test = Test(Subject.SIZE, "self", dim=-1, multiple_of="output_size")
    text = "a size of {argument} is {actual} on {chip}"
    condition = Condition("code", Verdict.FALLBACK, text, Confidence.HIGH, (test,))
    assert sentence([condition], "v4") == "a size of self is no multiple of output_size on v4"
