"""Calls of a saved graph settled from tables, or left to a trace."""

import pytest
from msgspec.structs import replace

from opcheck.db.tables import OperatorFacts
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.matrix import Choice, Condition, SupportMatrix
from opcheck.model.predicates import (
    ArgumentValue,
    Dtype,
    Numel,
    OneOf,
    Outside,
    Predicate,
    Product,
    Rank,
    Size,
    Unlike,
)
from opcheck.model.trace import Composite, Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.explain import explain
from opcheck.resolve.saved_calls import runs_as
from opcheck.resolve.table import Branches, TableNodes, decided
from opcheck.resolve.walk import Walk
from tests.resolve import made

IMPLICIT = OperatorFacts(Composite.IMPLICIT, cpu_kernel=True)
PLAIN = OperatorFacts(None, cpu_kernel=True)
OPERATORS = {
    "aten::linear": IMPLICIT,
    "aten::unseen": IMPLICIT,
    "aten::addmm": PLAIN,
    "aten::matmul": PLAIN,
    "aten::t": PLAIN,
    "aten::lost": PLAIN,
}
BRANCHES: Branches = {
    "aten::linear": (("aten::addmm", "aten::t"), ("aten::matmul", "aten::t")),
    "aten::linear|bool": (("aten::lost",),),
}


def settled(
    op: str, matrix: SupportMatrix, tensor: TensorMeta | None = None
) -> tuple[bool, Verdict]:
    table = TableNodes(OPERATORS, BRANCHES)
    root = table.of(Node(OpName.parse(op), (("input", tensor or made.tensor()),)))
    verdict = Walk(table.nodes, matrix, "2.9.0").resolution(root).verdict
    return decided(table.nodes, [root], matrix, "2.9.0"), verdict


ALL = ("aten::addmm", "aten::matmul", "aten::t")


@pytest.mark.parametrize(
    ("op", "registered", "expected"),
    [
        ("aten::addmm", ALL, (True, Verdict.NATIVE)),
        ("aten::lost", ALL, (True, Verdict.FALLBACK)),
        ("aten::linear", ALL, (True, Verdict.DECOMPOSED)),
        ("aten::linear", ("aten::addmm", "aten::t"), (False, Verdict.FALLBACK)),
        ("aten::unseen", ALL, (False, Verdict.UNKNOWN)),
        ("aten::not_in_table", ALL, (False, Verdict.UNKNOWN)),
        ("aten::unseen", ("aten::unseen",), (True, Verdict.NATIVE)),
    ],
)
def test_settled_where_every_branch_is_native(
    op: str, registered: tuple[str, ...], expected: tuple[bool, Verdict]
) -> None:
    assert settled(op, made.matrix(*registered)) == expected


def test_branches_of_a_dtype_class_come_before_the_general_ones() -> None:
    assert settled("aten::linear", made.matrix(*ALL), made.tensor("bool"))[0] is False


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (made.dtype("float32"), False),
        (made.dtype("float64"), True),
        (Rank("self", Outside(maximum=6)), True),
        (Rank("self", Outside(maximum=3)), False),
        (Numel("self", Outside(maximum=2**31 - 1)), True),
        (Numel("self", Outside(maximum=5000)), False),
        (Numel("self", Outside(minimum=1)), False),
        (ArgumentValue("flag", OneOf(frozenset({"True"}))), True),
        (ArgumentValue("flag", Outside(maximum=3)), False),
        (Size("self", Outside(maximum=3)), False),
        (Product("kernel_size", Outside(maximum=3)), False),
        (Dtype("mask", Unlike("query")), False),
        (Rank("key", Unlike("query")), False),
    ],
)
def test_a_condition_that_might_bite_inside_leaves_it_open(test: Predicate, expected: bool) -> None:
    limited: Condition = made.condition(Verdict.UNSUPPORTED, test)
    matrix = made.matrix(*ALL, conditions={"aten::addmm": [limited]})
    assert settled("aten::linear", matrix)[0] is expected


def test_extension_operators_are_settled_by_what_is_known_of_their_library() -> None:
    known = made.matrix(extensions={"torchvision::nms": True})
    assert settled("torchvision::nms", known) == (True, Verdict.FALLBACK)
    assert settled("mine::op", made.matrix()) == (False, Verdict.UNSUPPORTED)


def test_equal_calls_share_a_node() -> None:
    table = TableNodes(OPERATORS, BRANCHES)
    call = Node(OpName.parse("aten::linear"), (("input", made.tensor()),))
    assert table.of(call) == table.of(call)
    assert [str(node.op) for node in table.nodes].count("aten::linear") == 1


BATCH = made.tensor("float32", 1, 3, 8, 8)
FLOATS = Dtype("input", OneOf(frozenset({"float32"})))


@pytest.mark.parametrize(
    ("x", "test", "expected"),
    [
        (BATCH, FLOATS, True),
        (BATCH, Size("input", Outside(maximum=3)), True),
        (BATCH, ArgumentValue("groups", OneOf(frozenset({"2"}))), True),
        (made.tensor("float32", 3, 8, 8), FLOATS, False),
        (made.tensor("complex64", 1, 3, 8, 8), Size("input", Outside(maximum=3)), False),
    ],
    ids=["a dtype", "a size", "a value", "without a batch", "complex"],
)
def test_a_convolution_of_a_batch_hands_its_arguments_on(
    x: TensorMeta, test: Predicate, expected: bool
) -> None:
    limited: Condition = made.condition(Verdict.NATIVE, test)
    operators = {"aten::conv2d": IMPLICIT, "aten::convolution": PLAIN, "aten::view": PLAIN}
    table = TableNodes(operators, {"aten::conv2d": (("aten::convolution", "aten::view"),)})
    root = table.of(Node(OpName.parse("aten::conv2d"), (("input", x), ("weight", BATCH))))
    matrix = made.matrix("aten::convolution", "aten::view",
                         conditions={"aten::convolution": [limited]})  # fmt: skip
    assert decided(table.nodes, [root], matrix, "2.9.0") is expected


def test_a_transposed_convolution_is_one_that_is_transposed() -> None:
    table = TableNodes({"aten::conv_transpose2d.input": IMPLICIT, "aten::convolution": PLAIN}, {})
    given = (("input", BATCH), ("weight", BATCH), ("output_padding", (1, 1)))
    root = table.of(Node(OpName.parse("aten::conv_transpose2d.input"), given))
    ((inner, _),) = table.nodes[root].children or ()
    handed_on = dict(table.nodes[inner].arguments)
    assert (handed_on["transposed"], handed_on["output_padding"]) == (True, (1, 1))
    assert (handed_on["stride"], handed_on["groups"]) == ((1, 1), 1)


@pytest.mark.parametrize("dilation", [1, 2])
def test_a_pool_of_maxima_hands_its_arguments_on(dilation: int) -> None:
    limited = made.condition(Verdict.UNSUPPORTED, Product("dilation", Outside(maximum=1)))
    operators = {"aten::max_pool2d": IMPLICIT, "aten::max_pool2d_with_indices": PLAIN}
    table = TableNodes(operators, {"aten::max_pool2d": (("aten::max_pool2d_with_indices",),)})
    given = (("self", BATCH), ("kernel_size", (3, 3)), ("dilation", (dilation, dilation)))
    root = table.of(Node(OpName.parse("aten::max_pool2d"), given, (BATCH,)))
    matrix = made.matrix(
        "aten::max_pool2d_with_indices", conditions={"aten::max_pool2d_with_indices": [limited]}
    )
    assert decided(table.nodes, [root], matrix, "2.9.0")
    (inner,) = (table.nodes[child] for child, _ in table.nodes[root].children or ())
    assert [tensor.dtype for tensor in inner.output_tensors()] == ["float32", "int64"]
    verdict = Walk(table.nodes, matrix, "2.9.0").resolution(root).verdict
    assert verdict is (Verdict.DECOMPOSED if dilation == 1 else Verdict.UNSUPPORTED)


PERMUTED = replace(BATCH, stride=(192, 1, 24, 3))


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        ("aten::adaptive_avg_pool2d", (("self", BATCH), ("output_size", (1, 1))),
         ["aten::mean.dim"]),
        ("aten::adaptive_avg_pool2d", (("self", BATCH), ("output_size", (2, 1))), None),
        ("aten::adaptive_avg_pool2d", (("self", PERMUTED), ("output_size", (1, 1))), None),
        ("aten::dropout", (("input", BATCH), ("p", 0.5), ("train", False)), []),
        ("aten::dropout", (("input", BATCH), ("p", 0.5), ("train", True)), None),
        ("aten::linear", (("input", made.tensor("float32", 2, 3)),
                          ("weight", made.tensor("float32", 5, 3)),
                          ("bias", made.tensor("float32", 5))), ["aten::t", "aten::addmm"]),
        ("aten::linear", (("input", made.tensor("float32", 2, 3)),
                          ("weight", made.tensor("float32", 5, 3))), None),
        ("aten::embedding", (("weight", made.tensor("float32", 9, 4)),
                             ("indices", made.tensor("int64", 6))), ["aten::index_select"]),
        ("aten::embedding", (("weight", made.tensor("float32", 9, 4)),
                             ("indices", made.tensor("int64", 2, 3))),
         ["aten::view", "aten::index_select", "aten::view"]),
    ],
)  # fmt: skip
def test_what_the_arguments_decide(
    op: str, given: tuple[tuple[str, Value], ...], expected: list[str] | None
) -> None:
    found = runs_as(Node(OpName.parse(op), given, (made.tensor("float32", 2, 3, 4),)))
    assert (None if found is None else [str(call.op) for call in found]) == expected


def test_rows_of_a_table_are_taken_by_a_line_of_indices() -> None:
    given = (("weight", made.tensor("float32", 9, 4)), ("indices", made.tensor("int64", 2, 3)))
    found = runs_as(
        Node(OpName.parse("aten::embedding"), given, (made.tensor("float32", 2, 3, 4),))
    )
    assert found is not None
    flat, chosen, shaped = found
    assert [t.shape for t in flat.output_tensors()] == [(6,)]
    assert [t.shape for _, t in chosen.tensors()] == [(9, 4), (6,)]
    assert [t.shape for t in chosen.output_tensors()] == [(6, 4)]
    assert dict(shaped.arguments)["size"] == (2, 3, 4)


@pytest.mark.parametrize(("rank", "expected"), [(1, False), (2, True), (3, True)])
def test_a_product_of_matrices_is_none_of_vectors(rank: int, expected: bool) -> None:
    """Whichever branch is taken: what only a product of vectors calls need not be there."""
    operators = {"aten::linear": IMPLICIT, "aten::matmul": IMPLICIT, "aten::t": PLAIN}
    branches: Branches = {
        "aten::linear": (("aten::matmul", "aten::t"),),
        "aten::matmul": (("aten::dot",), ("aten::mm",)),
    }
    table = TableNodes({**operators, "aten::dot": PLAIN, "aten::mm": PLAIN}, branches)
    x, weight = made.tensor("float32", *(4, 3, 3)[-rank:]), made.tensor("float32", 5, 3)
    root = table.of(Node(OpName.parse("aten::linear"), (("input", x), ("weight", weight))))
    assert decided(table.nodes, [root], made.matrix("aten::mm", "aten::t"), "2.9.0") is expected


CUDA = "aten::cudnn_convolution"


@pytest.mark.parametrize(
    ("dtype", "rank", "expected"),
    [
        ("float32", 4, (True, "condition", {CUDA})),
        ("float64", 4, (True, "decomposes", {CUDA})),
        ("float64", 5, (True, "decomposes", {CUDA})),
        ("float32", 3, (False, "decomposes", {CUDA, "aten::slow"})),
    ],
)
def test_a_condition_on_what_the_device_is_asked_for_instead_is_met(
    dtype: str, rank: int, expected: tuple[bool, str, set[str]]
) -> None:
    """Of a line the arguments are not known, so that it may go any of the ways."""
    device = "aten::convolution_overrideable"
    operators = {"aten::convolution": OperatorFacts(Composite.EXPLICIT, True)}
    branches: Branches = {"aten::convolution": ((device,),)}
    rounds = made.condition(Verdict.NATIVE, Dtype("self", OneOf(frozenset({"float32"}))))
    short = Rank("input", Outside(maximum=5))
    sure = Confidence.HIGH
    ways = (
        Choice(("aten::slow",), (short,), False, "it is short", sure, ()),
        Choice((CUDA,), (), False, "cuDNN convolves", sure, (), {"input": "self"}),
    )
    on = made.matrix(CUDA, "aten::slow", conditions={CUDA: [rounds]})
    on = replace(on, choices={device: ways})
    table = TableNodes(operators, branches)
    x = made.tensor(dtype, *(2, 3, 4, 4, 4)[:rank])
    call = Node(OpName.parse("aten::convolution"), (("input", x), ("groups", 1)))
    root = table.of(call)
    found = Walk(table.nodes, on, "2.9.0").resolution(root)
    settles = decided(table.nodes, [root], on, "2.9.0")
    assert (settles, found.code, set(found.leaves)) == expected


def test_explanation_of_a_composite() -> None:
    caution = made.condition(Verdict.UNSUPPORTED, made.dtype("float64"))
    matrix = made.matrix(*ALL, conditions={"aten::linear": [caution]})
    found = explain(OpName.parse("aten::linear"), matrix, OPERATORS, BRANCHES, "2.9.0", ("1.0",))
    assert (found.verdict, found.conditions, found.registered_in) == (
        Verdict.DECOMPOSED,
        (caution,),
        ("1.0",),
    )
    assert found.branches == BRANCHES["aten::linear"]


def test_an_explanation_is_of_floats_and_tells_their_ways_first() -> None:
    complex_way, float_way = ("aten::lost", "aten::t"), ("aten::addmm",)
    branches: Branches = {
        "aten::linear": (complex_way, float_way),
        "aten::linear|float": (float_way,),
    }
    matrix = made.matrix("aten::addmm")
    found = explain(OpName.parse("aten::linear"), matrix, OPERATORS, branches, "2.9.0", ())
    assert (found.verdict, found.branches) == (Verdict.DECOMPOSED, (float_way, complex_way))


def test_an_explanation_tells_the_ways_of_the_device() -> None:
    way = Choice(("aten::addmm",), (), True, "it multiplies", Confidence.MEDIUM, ())
    matrix = replace(made.matrix("aten::addmm"), choices={"aten::linear": (way,)})
    found = explain(OpName.parse("aten::linear"), matrix, OPERATORS, BRANCHES, "2.9.0", ())
    assert found.choices == (way,)


@pytest.mark.parametrize(
    ("op", "reason", "chinese"),
    [
        ("aten::absent", "what aten::absent runs as could not be recorded: no table has this "
         "overload", "无法录制 aten::absent 分解后的算子：没有数据表含有该重载"),
        ("aten::unseen", "what aten::unseen runs as could not be recorded: no table says what it "
         "runs as", "无法录制 aten::unseen 分解后的算子：没有数据表说明它分解为什么"),
    ],
)  # fmt: skip
def test_what_no_table_has_is_told(op: str, reason: str, chinese: str) -> None:
    table = TableNodes(OPERATORS, BRANCHES)
    root = table.of(Node(OpName.parse(op), (("input", made.tensor()),)))
    found = Walk(table.nodes, made.matrix(), "2.9.0").resolution(root)
    assert (found.verdict, found.text) == (Verdict.UNKNOWN, reason)
    with speaking(Language.CHINESE):
        assert tell(found.text) == chinese


def test_what_was_not_recorded_without_a_reason_is_told() -> None:
    node = made.node("aten::opaque", composite=Composite.IMPLICIT, opaque=True)
    found = Walk([node], made.matrix(), "2.9.0").resolution(0)
    assert found.text == "what aten::opaque runs as could not be recorded: no reason given"
    with speaking(Language.CHINESE):
        assert tell(found.text) == "无法录制 aten::opaque 分解后的算子：没有给出原因"
