"""When a condition bites, and what it does to a verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcheck.model.amounts import Item, Length, NumberType, OtherSize, ScaledSize
from opcheck.model.list_bounds import NotEqual, NotFactor, NotMultiple
from opcheck.model.matrix import Condition
from opcheck.model.predicates import (
    ArgumentValue,
    Dtype,
    Fewer,
    More,
    NoneOf,
    NotDivisible,
    Numel,
    Offset,
    OneOf,
    Outside,
    Place,
    Predicate,
    Product,
    Rank,
    Remainder,
    Size,
    Stride,
    Unlike,
)
from opcheck.model.trace import Composite, Constant, TensorMeta, Value
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.conditions import matches
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.resolve import made

F64, BF16 = made.tensor("float64"), made.tensor("bfloat16")
BIG = made.tensor("float32", 1, 2, 3, 4, 5, 6, 7)
PART_OF_LARGER = TensorMeta("float32", (5, 3), (11, 2))
SHARED = TensorMeta("float32", (4, 2), (0, 1))
SLICE = TensorMeta("float32", (4, 2), (2, 1), offset=8)
NOWHERE = TensorMeta("float32", (4, 2), (2, 1), offset=None)
NUMBER = TensorMeta("float64", (), (), host=True)
ON_HOST = OneOf(frozenset({"host"}))
IS_ZERO = OneOf(frozenset({"0"}))
BY_DEFAULT = ArgumentValue("pad", OneOf(frozenset({"True"})), default="True")
AT_DIM = Size("self", Outside(maximum=4), dim=-1, dim_argument="dim")
WHOLE = Size("self", NotMultiple("output_size"), dim=-1)
PART = Size("self", NotFactor("output_size"), dim=-1)
ALIGNED = Size("self", NotDivisible(8), dim=-1)
FEWER = Size("query", Fewer("key"), dim=-2)
MORE = Size("query", More("key"), dim=-2)
TALL = made.tensor("float32", 4, 2)
AREA = Product("kernel_size", Outside(maximum=64))
LIKE = Dtype("mask", Unlike("self"))
SQUARE = Size("self", Unlike("other"), dim=-2)
BELOW_ZERO = Item("padding", Outside(minimum=0))
DOUBLED = ScaledSize("self", NotEqual("output_size"), by="scales_h", dim=-2)
IS_COMPLEX = NumberType("value", OneOf(frozenset({"complex"})))
BESIDE = OtherSize("index", Unlike("self"), dim_argument="dim")
ALL_SIZES = OtherSize("index", Unlike("self"))
EMPTY = Length("dims", OneOf(frozenset({"0"})))
LONGER = Length("dims", More("self"))
ANY_DIM = Size("self", NoneOf(frozenset({"4", "6"})), dim_argument="dim")


@pytest.mark.parametrize(
    ("test", "arguments", "expected"),
    [
        (made.dtype("float64"), {"self": F64}, (("self", "float64"),)),
        (made.dtype("float64"), {"self": BF16}, None),
        (made.dtype("float64", argument="other"), {"self": F64}, None),
        (made.dtype("float64", argument="*"), {"a": BF16, "b": F64}, (("b", "float64"),)),
        (Dtype("self", NoneOf(frozenset({"float32"}))), {"self": F64}, 1),
        (Dtype("self", NoneOf(frozenset({"float64"}))), {"self": F64}, None),
        (made.dtype("float64"), {"self": (BF16, F64)}, (("self", "float64"),)),
        (made.dtype("float64", argument="*"), {"a": BF16, "b": NUMBER}, None),
        (made.dtype("float64", argument="b"), {"a": BF16, "b": NUMBER}, (("b", "float64"),)),
        (Rank("*", Outside(maximum=6)), {"self": BIG}, (("self", "7"),)),
        (Rank("*", Outside(maximum=6)), {"self": F64}, None),
        (Rank("self", Outside(minimum=3)), {"self": F64}, (("self", "2"),)),
        (Numel("self", Outside(maximum=5039)), {"self": BIG}, (("self", "5040"),)),
        (Numel("self", Outside(maximum=5040)), {"self": BIG}, None),
        (Numel("self", Outside(minimum=5)), {"self": 3}, None),
        (Stride("self", Outside(maximum=9)), {"self": PART_OF_LARGER}, (("self", "11"),)),
        (Stride("self", Outside(maximum=11)), {"self": PART_OF_LARGER}, None),
        (Stride("self", IS_ZERO), {"self": SHARED}, (("self", "0"),)),
        (Stride("self", IS_ZERO, dim=-1), {"self": SHARED}, None),
        (Stride("self", IS_ZERO, dim=2), {"self": SHARED}, None),
        (Stride("self", IS_ZERO), {"self": 0}, None),
        (Place("*", ON_HOST), {"self": F64, "other": NUMBER}, (("other", "host"),)),
        (Place("*", ON_HOST), {"self": F64, "other": 1}, None),
        (Offset("self", Outside(maximum=0)), {"self": SLICE}, (("self", "8"),)),
        (Offset("self", Outside(maximum=0)), {"self": F64}, None),
        (Offset("self", Outside(maximum=0)), {"self": NOWHERE}, None),
        (Offset("self", Outside(maximum=0)), {"self": 8}, None),
        (Offset("*", NotDivisible(16)), {"self": F64, "other": SLICE}, (("other", "8"),)),
        (Offset("*", NotDivisible(8)), {"self": F64, "other": SLICE}, None),
        (Size("self", Outside(maximum=4), dim=-1), {"self": BIG}, (("self", "7"),)),
        (Size("self", Outside(maximum=4), dim=9), {"self": BIG}, None),
        (ArgumentValue("pad", NoneOf(frozenset({"True"}))), {"self": F64}, None),
        (BY_DEFAULT, {"self": F64}, (("pad", "True"),)),
        (BY_DEFAULT, {"self": F64, "pad": True}, (("pad", "True"),)),
        (BY_DEFAULT, {"self": F64, "pad": False}, None),
        (AT_DIM, {"self": BIG}, (("self", "7"),)),
        (AT_DIM, {"self": BIG, "dim": 1}, None),
        (AT_DIM, {"self": BIG, "dim": 5}, (("self", "6"),)),
        (WHOLE, {"self": BIG, "output_size": (3, 2)}, (("self", "7"),)),
        (WHOLE, {"self": BIG, "output_size": (4, 7)}, None),
        (WHOLE, {"self": BIG, "output_size": (4, 0)}, None),
        (WHOLE, {"self": BIG, "output_size": ()}, None),
        (WHOLE, {"self": BIG}, None),
        (ALIGNED, {"self": BIG}, (("self", "7"),)),
        (ALIGNED, {"self": made.tensor("float32", 3, 16)}, None),
        (ArgumentValue("k", NotDivisible(8)), {"k": 12}, (("k", "12"),)),
        (ArgumentValue("k", NotDivisible(8)), {"k": True}, None),
        (ArgumentValue("k", NotDivisible(0)), {"k": 12}, None),
        (ArgumentValue("k", Remainder(8, 4)), {"k": 12}, (("k", "12"),)),
        (ArgumentValue("k", Remainder(8, 4)), {"k": 16}, None),
        (ArgumentValue("k", Remainder(8, 1)), {"k": True}, None),
        (ArgumentValue("k", Remainder(0, 0)), {"k": 12}, None),
        (FEWER, {"query": made.tensor("float32", 3, 2), "key": TALL}, (("query", "3"),)),
        (FEWER, {"query": TALL, "key": TALL}, None),
        (FEWER, {"query": TALL}, None),
        (FEWER, {"query": TALL, "key": made.tensor("float32", 3)}, None),
        (MORE, {"query": TALL, "key": made.tensor("float32", 3, 2)}, (("query", "4"),)),
        (MORE, {"query": TALL, "key": TALL}, None),
        (BELOW_ZERO, {"padding": (1, -1)}, (("padding", "-1"),)),
        (BESIDE, {"self": TALL, "index": made.tensor("int64", 4, 1), "dim": 1}, None),
        (BESIDE, {"self": TALL, "index": made.tensor("int64", 4, 1), "dim": -1}, None),
        (
            BESIDE,
            {"self": TALL, "index": made.tensor("int64", 4, 1), "dim": 0},
            (("index", "1"),),
        ),
        (BESIDE, {"self": None, "index": made.tensor("int64", 4, 1), "dim": 0}, None),
        (ALL_SIZES, {"self": TALL, "index": made.tensor("int64", 4, 1)}, (("index", "1"),)),
        (ALL_SIZES, {"self": TALL, "index": TALL}, None),
        (EMPTY, {"dims": ()}, (("dims", "0"),)),
        (EMPTY, {"dims": (1,)}, None),
        (EMPTY, {"dims": 1}, None),
        (LONGER, {"self": TALL, "dims": (1, 2, 3)}, (("dims", "3"),)),
        (LONGER, {"self": TALL, "dims": (1, 2)}, None),
        (BELOW_ZERO, {"padding": (1, 0)}, None),
        (BELOW_ZERO, {"padding": -1}, None),
        (DOUBLED, {"self": TALL, "output_size": (7, 4), "scales_h": 2.0}, (("self", "4"),)),
        (DOUBLED, {"self": TALL, "output_size": (8, 4), "scales_h": 2.0}, None),
        (DOUBLED, {"self": TALL, "output_size": (9, 4), "scales_h": 2.4}, None),
        (DOUBLED, {"self": TALL, "output_size": (7, 4), "scales_h": 1.0}, None),
        (DOUBLED, {"self": TALL, "output_size": (7, 4)}, None),
        (DOUBLED, {"self": TALL, "output_size": (), "scales_h": 2.0}, None),
        (DOUBLED, {"self": (1, 4, 4), "output_size": (7, 4), "scales_h": 2.0}, (("self", "4"),)),
        (IS_COMPLEX, {"value": "1j"}, (("value", "complex"),)),
        (IS_COMPLEX, {"value": "(2+0j)"}, (("value", "complex"),)),
        (IS_COMPLEX, {"value": "reflect"}, None),
        (IS_COMPLEX, {"value": "1"}, None),
        (IS_COMPLEX, {"value": 1.0}, None),
        (NumberType("value", OneOf(frozenset({"int"}))), {"value": True}, None),
        (AREA, {"kernel_size": (8, 8)}, None),
        (AREA, {"kernel_size": (8, 9)}, (("kernel_size", "72"),)),
        (AREA, {"kernel_size": ()}, None),
        (AREA, {"kernel_size": (8, "9")}, None),
        (AREA, {"kernel_size": 80}, None),
        (AREA, {"self": BIG}, None),
        (LIKE, {"self": F64, "mask": BF16}, (("mask", "bfloat16"),)),
        (LIKE, {"self": F64, "mask": F64}, None),
        (LIKE, {"mask": F64}, None),
        (LIKE, {"self": None, "mask": F64}, None),
        (SQUARE, {"self": BIG, "other": BIG}, None),
        (SQUARE, {"self": BIG, "other": made.tensor("float32", 5, 7)}, (("self", "6"),)),
        (SQUARE, {"self": BIG, "other": made.tensor("float32", 5)}, None),
        (Rank("self", Unlike("x")), {"self": BIG, "x": F64}, (("self", "7"),)),
        (ANY_DIM, {"self": BIG, "dim": (3, 5)}, None),
        (ANY_DIM, {"self": BIG, "dim": (3, 4)}, (("self", "5"),)),
        (ANY_DIM, {"self": BIG, "dim": ()}, (("self", "1"),)),
        (PART, {"self": BIG, "output_size": (3, 14)}, None),
        (PART, {"self": BIG, "output_size": (3, 15)}, (("self", "7"),)),
        (
            ArgumentValue("sorted", OneOf(frozenset({"False"}))),
            {"self": F64, "sorted": False},
            (("sorted", "False"),),
        ),
        (ArgumentValue("sorted", OneOf(frozenset({"False"}))), {"self": F64}, None),
        (
            ArgumentValue("dtype", OneOf(frozenset({"float64"}))),
            {"dtype": Constant("dtype", "float64")},
            (("dtype", "float64"),),
        ),
        (ArgumentValue("p", Outside(maximum=2)), {"p": 3.0}, (("p", "3.0"),)),
        (ArgumentValue("p", Outside(maximum=2)), {"p": "inf-like"}, None),
        (made.dtype("float32", argument="return"), {"self": F64}, (("the result", "float32"),)),
    ],
)
def test_what_a_test_bites_on(
    test: Predicate, arguments: dict[str, Value], expected: object
) -> None:
    found = matches(
        made.condition(Verdict.UNSUPPORTED, test), made.node("aten::op", given=arguments)
    )
    assert found == ((("self", "float64"),) if expected == 1 else expected)


def test_every_test_must_bite() -> None:
    both = made.condition(
        Verdict.UNSUPPORTED, made.dtype("float64"), Rank("self", Outside(maximum=1))
    )
    assert matches(both, made.node("aten::op", given={"self": F64})) is not None
    assert matches(both, made.node("aten::op", given={"self": made.tensor("float64", 3)})) is None


def test_condition_without_tests_always_holds() -> None:
    assert matches(made.condition(Verdict.FALLBACK), made.node("aten::op")) == ()


def resolution(
    *conditions: Condition, listed: bool = True, x: TensorMeta | None = None
) -> Resolution:
    """What becomes of one call of ``aten::op`` on ``x``."""
    matrix = made.matrix(*(["aten::op"] if listed else []), conditions={"aten::op": conditions})
    call = made.node("aten::op", given={"self": x or made.tensor()})
    return Walk((call,), matrix, "2.9.0").resolution(0)


def test_condition_makes_a_native_use_unsupported_and_says_on_what() -> None:
    found = resolution(made.condition(Verdict.UNSUPPORTED, made.dtype("float64"), code="d"), x=F64)
    assert (found.verdict, found.code, found.text, found.confidence, found.evidence) == (
        Verdict.UNSUPPORTED,
        "d",
        "self is float64 on chip",
        Confidence.MEDIUM,
        (made.TABLE,),
    )


def test_caution_keeps_the_verdict_and_shows() -> None:
    found = resolution(made.condition(Verdict.NATIVE, made.dtype("float64"), code="slow"), x=F64)
    assert (found.verdict, found.code) == (Verdict.NATIVE, "slow")


def test_worst_condition_wins_then_the_surest() -> None:
    found = resolution(
        made.condition(Verdict.NATIVE, code="caution"),
        made.condition(Verdict.UNSUPPORTED, code="documented"),
        made.condition(Verdict.UNSUPPORTED, code="in-code", confidence=Confidence.HIGH),
        made.condition(Verdict.FALLBACK, code="host"),
    )
    assert found.code == "in-code"


def test_computed_on_host_moves_its_tensors() -> None:
    found = resolution(made.condition(Verdict.FALLBACK, code="computed-on-host"))
    assert (found.verdict, found.fallback_bytes) == (Verdict.FALLBACK, 2 * 2 * 3 * 4)


def test_remark_on_a_fallback_is_added_to_its_reason() -> None:
    remark = made.condition(
        Verdict.NATIVE, text="import the extension", confidence=Confidence.HIGH, code="remark"
    )
    found = resolution(remark, listed=False)
    assert (found.verdict, found.code) == (Verdict.FALLBACK, "host-fallback")
    assert found.text.endswith("; import the extension")
    assert made.TABLE in found.evidence


def test_documents_do_not_matter_to_what_leaves_the_device_anyway() -> None:
    found = resolution(
        made.condition(Verdict.UNSUPPORTED, made.dtype("float64")), listed=False, x=F64
    )
    assert found.verdict is Verdict.FALLBACK


def test_condition_on_a_part_shows_on_the_whole() -> None:
    limited = made.condition(Verdict.UNSUPPORTED, made.dtype("float64"), code="d")
    matrix = made.matrix("aten::part", conditions={"aten::part": [limited]})
    nodes = (
        made.node("aten::part", given={"self": F64}),
        made.node("aten::whole", 0, composite=Composite.EXPLICIT, given={"self": F64}),
    )
    found = Walk(nodes, matrix, "2.9.0").resolution(1)
    assert (found.verdict, found.code) == (Verdict.UNSUPPORTED, "d")
    assert found.text == "it runs as aten::part: self is float64 on chip"


def test_caution_on_a_part_shows_on_the_whole_beside_plain_parts() -> None:
    caution = made.condition(Verdict.NATIVE, code="slow")
    matrix = made.matrix("aten::part", "aten::leaf", conditions={"aten::part": [caution]})
    nodes = (
        made.node("aten::leaf"),
        made.node("aten::plain", 0, composite=Composite.EXPLICIT),
        made.node("aten::part"),
        made.node("aten::whole", 1, 2, composite=Composite.EXPLICIT),
    )
    found = Walk(nodes, matrix, "2.9.0").resolution(3)
    assert (found.verdict, found.code) == (Verdict.DECOMPOSED, "slow")


def test_condition_for_every_overload() -> None:
    everywhere = made.condition(Verdict.UNSUPPORTED, made.dtype("bfloat16", argument="*"))
    matrix = made.matrix("aten::op", conditions={"*": [everywhere]})
    assert Walk((made.node("aten::op", given={"x": BF16}),), matrix, "2.9.0").resolution(
        0
    ).verdict is (Verdict.UNSUPPORTED)


VERDICTS = st.sampled_from(list(Verdict))


@given(st.lists(VERDICTS, max_size=4), VERDICTS, st.booleans())
def test_one_more_condition_never_makes_a_verdict_better(
    before: list[Verdict], added: Verdict, listed: bool
) -> None:
    conditions = [made.condition(v, confidence=Confidence.HIGH) for v in before]
    more = [*conditions, made.condition(added, confidence=Confidence.HIGH)]
    assert (
        resolution(*more, listed=listed).verdict.rank
        >= resolution(*conditions, listed=listed).verdict.rank
    )


def test_tensors_of_one_list_may_have_to_be_alike() -> None:
    alike = Size("hx", Unlike("hx"), dim=2)
    hidden, cell = made.tensor("float32", 1, 4, 8), made.tensor("float32", 1, 4, 16)
    assert alike.match(made.node("aten::lstm", given={"hx": (hidden, hidden)})) is None
    assert alike.match(made.node("aten::lstm", given={"hx": (hidden, cell)})) == ("hx", "8")
