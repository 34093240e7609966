"""Uses that fare otherwise than the lists suggest: what bites where, and how sure that is."""

from math import prod

import pytest

from opcheck.db.store import Database
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.predicates import (
    ArgumentValue,
    Dtype,
    NoneOf,
    OneOf,
    Outside,
    Predicate,
    Rank,
)
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve.conditions import matches
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import is_fixed, is_thread

NEWEST = ("ascend-310b", "ascend-310p", "ascend-910a", "ascend-910b", "ascend-910c", "ascend-950")


def _matrix(database: Database, target: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(target)))


def _about(
    matrix: SupportMatrix, op: str, argument: str, value: str, kind: type[Predicate] = Dtype
) -> list[Condition]:
    """Conditions of an overload with a predicate that matches one value of one argument."""
    return [
        condition
        for condition in matrix.conditions_for(op)
        for predicate in condition.predicates
        if isinstance(predicate, kind)
        and predicate.argument in (argument, "*")
        and _matches(predicate, value)
    ]


def _matches(predicate: Predicate, value: str) -> bool:
    return isinstance(predicate.bound, OneOf | NoneOf) and predicate.bound.holds(value)


def _said(conditions: list[Condition]) -> list[tuple[str, Verdict, Confidence]]:
    return [(c.code, c.verdict, c.confidence) for c in conditions]


UNDOCUMENTED = [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.MEDIUM)]
ON_AI_CPU = ("runs-on-aicpu", Verdict.NATIVE, Confidence.HIGH)
NEWER = ("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.LOW)
DOUBTED = [("document-contradicts-registration", Verdict.UNKNOWN, Confidence.LOW)]
OVERRULED = [("document-overruled", Verdict.NATIVE, Confidence.MEDIUM)]
NO_COMPLEX = [("complex-needs-jit-compile-off", Verdict.UNSUPPORTED, Confidence.HIGH)]
NO_BFLOAT16 = [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)]


@pytest.mark.parametrize(
    ("target", "op", "dtype", "expected"),
    [
        ("ascend-910b", "aten::gelu", "complex64", UNDOCUMENTED),
        ("ascend-910b", "aten::gelu", "float64", UNDOCUMENTED),
        ("ascend-910b", "aten::gelu", "bfloat16", []),
        ("ascend-910b", "aten::gelu", "float32", []),
        ("ascend-910b", "aten::abs", "complex64", [ON_AI_CPU, *OVERRULED]),  # aclnnAbs lists it
        ("ascend-910b", "aten::abs", "int64", []),
        ("ascend-910b", "aten::cumsum", "complex64", []),
        ("ascend-910b", "aten::cumsum", "bool", []),
        ("ascend-910b", "aten::cumsum", "uint16", [*UNDOCUMENTED, *DOUBTED]),
        ("ascend-910b@26.1.0+torch2.7", "aten::mm", "bfloat16", []),
        # the table for torch 2.12 leaves it out, the one for 2.7 lists it: the kernel is the same
        ("ascend-910b@26.1.0+torch2.12", "aten::mm", "bfloat16", []),
        ("ascend-910a", "aten::mm", "bfloat16", NO_BFLOAT16),
        ("ascend-310p", "aten::mm", "bfloat16", NO_BFLOAT16),
        ("ascend-310b", "aten::mm", "bfloat16", []),
        ("ascend-910a", "aten::relu", "complex64", [*DOUBTED, *NO_COMPLEX]),
        ("ascend-310b", "aten::relu", "complex64", DOUBTED),
        ("ascend-910a@5.0.0", "aten::mm", "bfloat16", NO_BFLOAT16),
        # the list of that time was one for all: what the next tables list is not compared with it
        ("ascend-910b@7.2.0", "aten::mm", "bfloat16", []),
        ("ascend-910b@7.2.0", "aten::gelu", "complex64", [*UNDOCUMENTED, NEWER]),
    ],
)
def test_dtypes(
    database: Database,
    target: str,
    op: str,
    dtype: str,
    expected: list[tuple[str, Verdict, Confidence]],
) -> None:
    assert _said(_about(_matrix(database, target), op, "self", dtype)) == expected


@pytest.mark.parametrize(
    ("target", "confidence", "method"),
    [("ascend-910b", "high", Method.REGISTERED), ("ascend-910b@6.0.0", "medium", Method.INFERRED)],
)
def test_what_the_ai_cpu_computes(
    database: Database, target: str, confidence: str, method: Method
) -> None:
    (condition,) = _about(_matrix(database, target), "aten::cumsum", "return", "int64")
    assert (condition.code, condition.verdict, condition.confidence) == (
        "runs-on-aicpu", Verdict.NATIVE, Confidence(confidence)
    )  # fmt: skip
    assert {evidence.method for evidence in condition.evidence} == {method}
    assert condition.harmful
    matrix = _matrix(database, "ascend-950")  # has an AI core kernel for it
    assert _about(matrix, "aten::cumsum", "return", "int64") == []


@pytest.mark.parametrize(("release", "bites"), [("5.0.0", True), ("6.0.0", True), ("7.1.0", False)])
def test_bfloat16_in_convolutions_of_three_dimensions(
    database: Database, release: str, bites: bool
) -> None:
    matrix = _matrix(database, f"ascend-910b@{release}")
    found = [c for c in matrix.conditions["aten::convolution"] if "Conv3D" in c.text]
    assert len(found) == bites
    for rank in (4, 5):
        weight = TensorMeta("bfloat16", (2,) * rank, (1,) * rank)
        call = Node(OpName.parse("aten::convolution"), (("input", weight), ("weight", weight)))
        assert [matches(c, call) is not None for c in found] == [rank == 5] * bites


@pytest.mark.parametrize("op", ["aten::conv2d", "aten::conv1d", "aten::conv3d"])
def test_convolution_in_float64(database: Database, op: str) -> None:
    found = _about(_matrix(database, "ascend-910b"), op, "input", "float64")
    assert _said(found) == UNDOCUMENTED
    assert {evidence.method for evidence in found[0].evidence} == {Method.DOCUMENTED}
    *tables, page = found[0].evidence
    assert tables and all(evidence.path.startswith("docs/zh/") for evidence in tables)
    assert page.path == "conv/convolution_forward/docs/aclnnConvolution.md"
    assert all(evidence.line for evidence in found[0].evidence)


@pytest.mark.parametrize("target", NEWEST)
@pytest.mark.parametrize(
    "op", ["aten::view", "aten::squeeze_", "aten::zeros_like", "aten::permute", "aten::embedding"]
)
def test_no_list_where_no_kernel_reads_the_named_argument(
    database: Database, target: str, op: str
) -> None:
    refused = [
        condition
        for condition in _matrix(database, target).conditions.get(op, ())
        if condition.code == "dtype-not-supported" and "native APIs" in condition.text
    ]
    assert not refused


def test_index_arguments_are_free(database: Database) -> None:
    matrix = _matrix(database, "ascend-910b")
    for op, argument in (("aten::gather", "index"), ("aten::embedding", "indices")):
        assert _about(matrix, op, argument, "int64") == []


@pytest.mark.parametrize("target", NEWEST)
def test_a_cast_to_float64_gives_float32(database: Database, target: str) -> None:
    found = _about(_matrix(database, target), "aten::_to_copy", "dtype", "float64", ArgumentValue)
    assert _said(found) == [("float64-becomes-float32", Verdict.NATIVE, Confidence.HIGH)]


def test_channels_last_raises(database: Database) -> None:
    found = _about(
        _matrix(database, "ascend-910b"),
        "aten::to.dtype_layout",
        "memory_format",
        "channels_last",
        ArgumentValue,
    )
    assert _said(found) == [("memory-format-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)]


@pytest.mark.parametrize(
    ("op", "on_host"),
    [
        ("aten::polar", {"ascend-910a", "ascend-310p"}),
        ("aten::complex", {"ascend-910a", "ascend-310p"}),
        ("aten::isneginf.out", {"ascend-910a", "ascend-310p"}),
        ("aten::logit", {"ascend-910a", "ascend-310p", "ascend-310b"}),
        ("aten::unfold_backward", {"ascend-910a", "ascend-310p", "ascend-310b"}),
        ("aten::add.Tensor", set()),
    ],
)
def test_kernels_that_compute_on_the_host(database: Database, op: str, on_host: set[str]) -> None:
    found = {
        target: [
            condition
            for condition in _matrix(database, target).conditions_for(op)
            if condition.code == "computed-on-host"
        ]
        for target in NEWEST
    }
    assert {target for target, conditions in found.items() if conditions} == on_host
    for condition in (c for conditions in found.values() for c in conditions):
        assert condition.verdict is Verdict.FALLBACK
        assert condition.confidence is Confidence.HIGH
        assert condition.evidence[0].source == "Ascend/op-plugin"
        assert condition.evidence[0].path.endswith(".cpp")
        assert condition.evidence[0].line


def test_which_path_is_the_default_was_not_in_the_code_before_7_2(database: Database) -> None:
    for release, confidence in (("7.1.0", Confidence.LOW), ("7.2.0", Confidence.HIGH)):
        conditions = _matrix(database, f"ascend-910a@{release}").conditions["aten::polar"]
        assert [c.confidence for c in conditions if c.code == "computed-on-host"] == [confidence]


def test_float64_pooling_on_the_host_only_by_dtype(database: Database) -> None:
    matrix = _matrix(database, "ascend-910b")
    found = _about(matrix, "aten::adaptive_max_pool3d", "self", "float64")
    assert _said(found) == [("computed-on-host", Verdict.FALLBACK, Confidence.HIGH)]
    codes = {c.code for c in _about(matrix, "aten::adaptive_max_pool3d", "self", "float32")}
    assert "computed-on-host" not in codes


@pytest.mark.parametrize(
    ("op", "code", "tests"),
    [
        ("aten::_adaptive_avg_pool3d", "value-not-supported", 1),
        ("aten::adaptive_max_pool2d", "size-not-supported", 3),
        ("aten::avg_pool2d", "value-not-supported", 1),
        ("aten::mm", "dtype-not-supported", 2),
    ],
)
def test_acl_op_kernels_refuse_what_those_of_newer_chips_take(
    database: Database, op: str, code: str, tests: int
) -> None:
    found = {
        target: [
            condition
            for condition in _matrix(database, target).conditions_for(op)
            if condition.code == code and "acl_op path" in condition.text
        ]
        for target in NEWEST
    }
    assert {t: len(c) for t, c in found.items() if c} == dict.fromkeys(
        ("ascend-910a", "ascend-310p"), tests
    )
    for condition in found["ascend-910a"]:
        assert (condition.verdict, condition.confidence) == (
            Verdict.UNSUPPORTED,
            Confidence.HIGH,
        )
        assert condition.evidence[0].path.startswith("op_plugin/ops/aclops/")


_NEW = ("ascend-910b", "ascend-910c", "ascend-950")
_OLD = ("ascend-310p", "ascend-910a")
_HALF, _FULL, _DOUBLE = ("float16", (1, 1, 4, 8)), ("float32", (4, 8)), ("float64", (4, 8))
_FP8, _E5 = ("float8_e4m3fn", (16, 32)), ("float8_e5m2", (16, 32))
_GROUPED = {
    "self": _FP8,
    "mat2": ("float8_e4m3fn", (2, 32, 64)),
    "scale_a": ("float32", (16,)),
    "scale_b": ("float32", (2, 64)),
    "offs": ("int32", (2,)),
}


@pytest.mark.parametrize(
    ("op", "tensors", "values", "expected"),
    [
        ("sort.stable", {"self": _DOUBLE}, {}, NEWEST),
        ("sort.stable", {"self": _FULL}, {}, ()),
        ("upsample_bilinear2d", {"self": _DOUBLE}, {}, ("ascend-310b", *_NEW)),
        ("_linalg_svd", {"A": _DOUBLE}, {}, ("ascend-310b", *_NEW)),
        ("_foreach_exp", {"self": _DOUBLE}, {}, _NEW),
        ("_foreach_exp", {"self": _FULL}, {}, ()),
        ("scaled_dot_product_attention", {"query": _HALF, "attn_mask": _FULL}, {}, NEWEST),
        ("scaled_dot_product_attention", {"query": _HALF, "attn_mask": _HALF}, {}, ()),
        ("random_.from", {"self": ("uint16", (4,))}, {}, ("ascend-310b", *_NEW)),
        ("index_fill_.int_Scalar", {"index": ("int64", ())}, {}, _OLD),
        ("index_fill_.int_Scalar", {"index": ("int64", (2,))}, {}, ()),
        ("dot", {"self": ("int32", (4,))}, {}, _OLD),
        ("clamp_min.Tensor", {"self": ("bool", (4,))}, {}, _OLD),
        ("clamp_max.Tensor_out", {"out": ("bool", (4,))}, {}, _OLD),
        ("clamp_max.Tensor", {"self": ("int32", (4,))}, {}, ()),
        ("argmin", {"self": ("float32", (0, 3))}, {}, _OLD),
        ("argmin", {"self": ("float32", (3, 0))}, {}, _OLD),
        ("argmin", {"self": ("float32", (3, 3))}, {}, ()),
        ("_pdist_forward", {"self": _FULL}, {"p": 1e39}, NEWEST),
        ("_pdist_forward", {"self": _FULL}, {"p": float("inf")}, ()),
        ("_scaled_mm", {"self": _FP8, "mat2": _FP8}, {}, NEWEST[:-1]),
        ("_scaled_mm", {"self": _E5, "mat2": _FP8}, {}, NEWEST[:-1]),
        ("_scaled_mm", {"self": _E5, "mat2": _E5}, {}, NEWEST),
        ("_scaled_mm", {"self": _FP8}, {"out_dtype": "float8_e4m3fn"}, NEWEST),
        ("_scaled_mm", {"self": _FP8}, {"out_dtype": "bfloat16"}, NEWEST[:-1]),
        ("_scaled_mm", {"bias": _HALF}, {}, NEWEST),
        ("_scaled_mm", {"bias": _HALF}, {"out_dtype": "float16"}, NEWEST[:-1]),
        ("_scaled_grouped_mm", _GROUPED, {}, NEWEST[:-1]),
        ("_scaled_grouped_mm", _GROUPED, {"out_dtype": "bfloat16"}, NEWEST[:-1]),
        ("_scaled_grouped_mm", _GROUPED, {"out_dtype": "float32"}, NEWEST),
        ("_scaled_grouped_mm", {**_GROUPED, "scale_a": ("float32", (17,))}, {}, NEWEST),
        ("_scaled_grouped_mm", {**_GROUPED, "scale_b": ("float32", (2, 65))}, {}, NEWEST),
        ("_scaled_grouped_mm", {**_GROUPED, "offs": ("int64", (2,))}, {}, NEWEST),
        ("_scaled_grouped_mm", {**_GROUPED, "bias": ("bfloat16", (2, 64))}, {}, NEWEST),
    ],
)
def test_what_kernels_refuse(
    database: Database,
    op: str,
    tensors: dict[str, tuple[str, tuple[int, ...]]],
    values: dict[str, Value],
    expected: tuple[str, ...],
) -> None:
    given = tuple(
        (name, TensorMeta(dtype, shape, tuple(prod(shape[i + 1 :]) for i in range(len(shape)))))
        for name, (dtype, shape) in tensors.items()
    )
    node = Node(OpName.parse(f"aten::{op}"), (*given, *values.items()))
    found = {
        target: [
            condition
            for condition in _matrix(database, target).conditions_for(f"aten::{op}")
            if condition.verdict is Verdict.UNSUPPORTED
            and condition.evidence[0].source == "Ascend/op-plugin"
            and matches(condition, node) is not None
        ]
        for target in NEWEST
    }
    assert tuple(target for target in NEWEST if found[target]) == tuple(
        target for target in NEWEST if target in expected
    )
    for condition in (c for conditions in found.values() for c in conditions):
        assert condition.confidence is Confidence.HIGH
        assert condition.evidence[0].line


@pytest.mark.parametrize(
    ("op", "release", "said"),
    [
        ("aten::sort.stable", "6.0.0", True),
        ("aten::_linalg_svd", "7.3.0", False),
        ("aten::_linalg_svd", "26.0.0", True),
        ("aten::_thnn_fused_lstm_cell", "7.3.0", False),
        ("aten::_thnn_fused_lstm_cell", "26.0.0", True),
    ],
)
def test_a_release_whose_kernels_do_not_check_yet_refuses_nothing(
    database: Database, op: str, release: str, said: bool
) -> None:
    found = [
        condition
        for condition in _matrix(database, f"ascend-910b@{release}").conditions.get(op, ())
        if condition.evidence[0].source == "Ascend/op-plugin"
    ]
    assert bool(found) == said


@pytest.mark.parametrize("target", ["ascend-910a@5.0.0", "ascend-910b@7.1.0", "ascend-910b"])
@pytest.mark.parametrize("op", ["aten::lstm.input", "aten::gru.input", "aten::lstm.data"])
def test_layers_that_drop_nothing_between_them(database: Database, target: str, op: str) -> None:
    matrix = _matrix(database, target)

    def told(dropout: float, layers: int, train: bool = True) -> set[str]:
        use = Node(
            OpName.parse(op),
            (("num_layers", layers), ("dropout", dropout), ("train", train)),
        )
        found = (c for c in matrix.conditions_for(op) if matches(c, use) is not None)
        return {c.code for c in found} & {"dropout-left-out", "value-not-supported"}

    assert told(0.5, 2) == {"dropout-left-out"}
    assert told(0.0, 2) == told(0.5, 1) == told(0.5, 2, train=False) == set()
    packed = op == "aten::lstm.data"
    assert told(0.0, 3) == ({"value-not-supported"} if packed else set())


@pytest.mark.parametrize("op", ["aten::gru.input", "aten::lstm_cell", "aten::slow_conv3d_forward"])
def test_acl_op_kernels_do_not_run_on_950(database: Database, op: str) -> None:
    for target in NEWEST:
        codes = {c.code for c in _matrix(database, target).conditions_for(op) if not c.predicates}
        assert ("no-aclnn-kernel" in codes) == (target == "ascend-950")


def test_marks_of_the_tables_are_about_their_chips(database: Database) -> None:
    for target in NEWEST:
        found = [
            (c.verdict, c.confidence)
            for c in _matrix(database, target).conditions_for("aten::mm")
            if not c.predicates
        ]
        expected = [(Verdict.NATIVE, Confidence.MEDIUM)] if target == "ascend-950" else []
        assert found == expected


def test_values(database: Database) -> None:
    matrix = _matrix(database, "ascend-910b")
    for op, argument, denied, allowed, code, verdict in (
        ("aten::topk", "sorted", "False", "True", "sorted-all-the-same", Verdict.NATIVE),
        ("aten::kl_div", "log_target", "True", "False", DOUBTED[0][0], Verdict.UNKNOWN),
    ):
        found = _about(matrix, op, argument, denied, ArgumentValue)
        assert [(c.code, c.verdict) for c in found] == [(code, verdict)]
        assert _about(matrix, op, argument, allowed, ArgumentValue) == []


@pytest.mark.parametrize(
    ("target", "op", "dtype", "rank", "expected"),
    [
        ("ascend-910b", "aten::_to_copy", "float8_e4m3fn", 1, ["dtype-not-supported"]),
        ("ascend-910c@7.2.0", "aten::_to_copy", "float8_e5m2", 1, ["dtype-not-supported"]),
        ("ascend-950", "aten::_to_copy", "float8_e4m3fn", 1, []),
        ("ascend-910b", "aten::clone", "float32", 9, ["rank-not-supported"]),
        ("ascend-910b", "aten::clone", "float32", 8, []),
        (
            "ascend-910b",
            "aten::expm1",
            "float64",
            1,
            ["dtype-not-supported", "dtype-not-supported"],
        ),
        ("ascend-910b@5.0.0", "aten::expm1", "float64", 1, []),
    ],
)
def test_what_users_were_told_that_no_list_says(
    database: Database, target: str, op: str, dtype: str, rank: int, expected: list[str]
) -> None:
    node = Node(OpName.parse(op), (("self", TensorMeta(dtype, (1,) * rank, (1,) * rank)),))
    found = [
        c for c in _matrix(database, target).conditions_for(op) if matches(c, node) is not None
    ]
    assert [c.code for c in found] == expected
    assert all(c.confidence is Confidence.MEDIUM for c in found)


def test_rank(database: Database) -> None:
    found = [
        predicate.bound.maximum
        for condition in _matrix(database, "ascend-910b").conditions_for("aten::matmul")
        for predicate in condition.predicates[:1]
        if isinstance(predicate, Rank) and isinstance(predicate.bound, Outside)
    ]
    assert found == [6]


@pytest.mark.parametrize("target", NEWEST)
def test_every_condition_of_every_target_can_be_read(database: Database, target: str) -> None:
    matrix = _matrix(database, target)
    assert matrix.conditions
    for op in matrix.conditions:
        for condition in matrix.conditions[op]:
            assert condition.evidence
            assert condition.text
            for evidence in condition.evidence:
                of_users = evidence.method is Method.TESTED and "test/" not in evidence.path
                assert is_thread(evidence) if of_users else is_fixed(evidence)


@pytest.mark.parametrize("target", NEWEST)
@pytest.mark.parametrize(("op", "given"), [("lstm.input", "input"), ("lstm.data", "data")])
def test_an_lstm_with_projections_is_refused(
    target: str, op: str, given: str, database: Database
) -> None:
    """op-plugin's kernel has no place for the projection's weights."""
    matrix = _matrix(database, target)

    def code(hidden: int, cell: int) -> str:
        x, h, c = (
            TensorMeta("float32", (5, 2, size), (2 * size, size, 1)) for size in (8, hidden, cell)
        )
        node = Node(OpName.parse(f"aten::{op}"), ((given, x), ("hx", (h, c))))
        return Walk([node], matrix, "2.13.0").resolution(0).code

    assert code(4, 16) == "size-not-supported"
    assert code(16, 16) != "size-not-supported"
