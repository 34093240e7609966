"""Conditions in words, where there is no use to tell of."""

import pytest

from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.amounts import Item, NumberType, ScaledSize
from opcheck.model.list_bounds import NotEqual, NotFactor, NotMultiple
from opcheck.model.matrix import Condition
from opcheck.model.predicates import (
    ANY,
    RETURN,
    ArgumentValue,
    Dtype,
    Fewer,
    Layout,
    More,
    NoneOf,
    NotDivisible,
    OneOf,
    Outside,
    Predicate,
    Product,
    Rank,
    Remainder,
    Size,
    Unlike,
)
from opcheck.model.spreads import LostDimensions, Squeezed
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.conditions import sentence, when


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (
            Size("self", NotMultiple("output_size"), dim=-1),
            "size of dimension -1 of self: no multiple of output_size",
        ),
        (
            Size("self", NotFactor("output_size"), dim=-2),
            "size of dimension -2 of self: no divisor of output_size",
        ),
        (
            Size("self", Outside(maximum=3840), dim=-1, dim_argument="dim"),
            "size of dimension dim of self: above 3840",
        ),
        (
            Size("self", NotDivisible(8), dim=-1),
            "size of dimension -1 of self: no multiple of 8",
        ),
        (
            Size("self", Remainder(32, 1), dim=-2),
            "size of dimension -2 of self: 1 more than a multiple of 32",
        ),
        (
            ScaledSize("self", NotEqual("output_size"), by="scales_h", dim=-2),
            "scaled-size of dimension -2 of self: another than in output_size",
        ),
        (Item("padding", Outside(minimum=0)), "item of padding: below 0"),
        (NumberType("start", OneOf(frozenset({"bool"}))), "number-type of start: bool"),
        (LostDimensions("self", Outside(maximum=0)), "lost-dimensions of self: above 0"),
        (Squeezed("self", OneOf(frozenset({"refused"}))), "squeezed of self: refused"),
        (Rank("self", Fewer("mask")), "rank of self: below that of mask"),
        (Rank("self", More("mask")), "rank of self: above that of mask"),
        (Product("kernel_size", Outside(maximum=64)), "product of kernel_size: above 64"),
        (
            Dtype("attn_mask", Unlike("query")),
            "dtype of attn_mask: another than that of query",
        ),
        (ArgumentValue("pad", OneOf(frozenset({"True"})), default="True"), "pad: True"),
        (Dtype(ANY, OneOf(frozenset({"bool"}))), "dtype of any tensor: bool"),
        (Dtype(RETURN, OneOf(frozenset({"bool"}))), "dtype of the result: bool"),
        (Layout("self", OneOf(frozenset({"permuted"}))), "layout of self: permuted"),
    ],
)
def test_when_a_condition_bites(test: Predicate, expected: str) -> None:
    condition = Condition("code", Verdict.FALLBACK, "{argument}", Confidence.HIGH, (test,))
    assert when([condition]) == expected


def test_the_result_is_told_in_chinese() -> None:
    test = Dtype(RETURN, OneOf(frozenset({"bool"})))
    with speaking(Language.CHINESE):
        said = when([Condition("code", Verdict.FALLBACK, "", Confidence.HIGH, (test,))])
    assert said == "结果的数据类型：bool"


def test_a_sentence_says_what_must_divide() -> None:
    test = Size("self", NotMultiple("output_size"), dim=-1)
    text = "a size of {argument} is {actual} on {chip}"
    condition = Condition("code", Verdict.FALLBACK, text, Confidence.HIGH, (test,))
    assert sentence([condition], "v4") == "a size of self is no multiple of output_size on v4"


def test_a_sentence_without_a_test_is_about_an_input() -> None:
    text = '{argument} has no elements: "Placeholder tensor is empty!"'
    said = sentence([Condition("code", Verdict.UNSUPPORTED, text, Confidence.HIGH)], "v4")
    assert said == 'an input has no elements: "Placeholder tensor is empty!"'
    with speaking(Language.CHINESE):
        assert tell(said) == '某个输入没有元素："Placeholder tensor is empty!"'


def test_many_alternatives_are_told_in_halves() -> None:
    """A translation goes through every part of each part: a chain of forty would take minutes."""
    dtypes = [f"float{number}" for number in range(40)]
    listed = [
        Condition(
            "code", Verdict.UNSUPPORTED, "{actual} is not taken", Confidence.HIGH,
            (Dtype("self", NoneOf(frozenset({name}))),),
        )
        for name in dtypes
    ]  # fmt: skip
    found = sentence(listed, "chip")
    assert found == f"{' or '.join(f'anything but {name}' for name in dtypes)} is not taken"
    assert _depth(found) <= 9


def _depth(text: str) -> int:
    parts = text.arguments.values() if isinstance(text, Sentence) else ()
    return 1 + max(map(_depth, parts), default=0)
