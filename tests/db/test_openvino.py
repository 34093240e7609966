"""OpenVINO on the CPU: what calls come to, and the file of what was converted."""

from pathlib import Path

import pytest
import torch

from opcheck.db.importers.openvino import OpenVinoImporter
from opcheck.db.importers.openvino.extract import added, earlier, facts, text, why
from opcheck.db.importers.openvino.lowering import _others
from opcheck.db.importers.openvino.schema_calls import made, tried
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Constant, Node, OpName, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.calls import dense

TARGET = "openvino-cpu"
CELLS = (
    ("aten::add.Tensor", "pytorch/src/op_table.cpp", "converter"),
    ("aten::add_.Tensor", "pytorch/src/op_table.cpp", "aten::add.Tensor"),
    ("aten::scaled_dot_product_attention", "pytorch/src/op_table.cpp", "converter"),
    ("aten::addcmul", "torchdynamo/export_decompositions.py", "decomposition"),
)
FLOAT, WIDE, WHOLE = (dense(2, 3, dtype=name) for name in ("float32", "float64", "int64"))
CALLS: tuple[tuple[str, Value, Verdict, str], ...] = (
    ("aten::relu", FLOAT, Verdict.NATIVE, "registered"),
    ("aten::atan", WIDE, Verdict.NATIVE, "registered"),
    ("aten::add_.Tensor", WHOLE, Verdict.NATIVE, "registered"),
    ("aten::cumprod", FLOAT, Verdict.UNSUPPORTED, "no-converter"),
    ("aten::argmax", dense(dtype="float32"), Verdict.UNSUPPORTED, "not-converted"),
    ("aten::abs", dense(2, 3, dtype="complex64"), Verdict.UNSUPPORTED, "numbers-not-converted"),
    ("aten::_adaptive_avg_pool2d", dense(1, 2, 3, dtype="complex64"), Verdict.UNKNOWN,
     "numbers-not-looked-up"),
    ("aten::_reshape_alias", FLOAT, Verdict.NATIVE, "registered"),
    ("aten::index_add", FLOAT, Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::isnan", WHOLE, Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::nonzero", FLOAT, Verdict.UNKNOWN, "may-not-be-captured"),
    ("aten::addcmul", FLOAT, Verdict.DECOMPOSED, "decomposed-before-conversion"),
)  # fmt: skip
RAISES_FOR: tuple[tuple[str, tuple[tuple[str, Value], ...], str], ...] = (
    ("aten::avg_pool2d", (("self", FLOAT), ("divisor_override", 3)), "op/avg_poolnd.cpp"),
    ("aten::avg_pool2d", (("self", FLOAT), ("divisor_override", None)), ""),
    ("aten::_embedding_bag_forward_only", (("weight", FLOAT), ("mode", 2)), "op/embedding_bag.cpp"),
    ("aten::_embedding_bag_forward_only", (("weight", FLOAT), ("mode", 1)), ""),
    ("aten::var.correction", (("self", FLOAT), ("correction", 2)), "op/var_mean.cpp"),
    ("aten::var.correction", (("self", FLOAT), ("correction", 0)), ""),
    ("aten::linalg_vector_norm", (("self", FLOAT), ("ord", 2)), "src/utils.cpp"),
    ("aten::linalg_vector_norm", (("self", FLOAT), ("ord", 2), ("dim", (0,))), ""),
    ("aten::linalg_vector_norm", (("self", FLOAT), ("ord", 0), ("dim", (0,))), "op/norm.cpp"),
    ("aten::index_fill.int_Scalar", (("self", FLOAT), ("value", 1)),
     "util/scatter_elements_update_base.cpp"),
    ("aten::index_fill.int_Scalar", (("self", FLOAT), ("value", 1.0)), ""),
    ("aten::index_fill.int_Scalar", (("self", WHOLE), ("value", 1)), ""),
    ("aten::linalg_cross", (("self", FLOAT), ("other", FLOAT), ("dim", 1)), "src/utils.cpp"),
    ("aten::repeat_interleave.self_Tensor",
     (("self", FLOAT), ("repeats", dense(2, dtype="int64")), ("dim", 0)),
     "op/repeat_interleave.cpp"),
    ("aten::cat", (("tensors", (dense(0), FLOAT)), ("dim", 1)), "concat_shape_inference.hpp"),
    ("aten::cat", (("tensors", (FLOAT, FLOAT)), ("dim", 1)), ""),
    ("aten::unfold", (("self", FLOAT), ("dimension", -1)), "transpose_shape_inference.hpp"),
    ("aten::unfold", (("self", FLOAT), ("dimension", 1)), ""),
    ("aten::reflection_pad1d", (("self", dense(0, 2, 3)), ("padding", (1, 1))),
     "pad_shape_inference.hpp"),
    ("aten::reflection_pad1d", (("self", dense(1, 2, 3)), ("padding", (1, 1))), ""),
    ("aten::pixel_shuffle", (("self", dense(1, 4, 2, 0)), ("upscale_factor", 2)),
     "reshape_shape_inference.hpp"),
    ("aten::pixel_shuffle", (("self", dense(0, 4, 2, 2)), ("upscale_factor", 2)), ""),
    ("aten::pixel_unshuffle", (("self", dense(0, 1, 2, 2)), ("downscale_factor", 2)),
     "reshape_shape_inference.hpp"),
    ("aten::linalg_vector_norm", (("self", dense()), ("ord", 2), ("dim", (0,)), ("keepdim", True)),
     "src/shape_util.cpp"),
    ("aten::linalg_vector_norm", (("self", dense()), ("ord", 2), ("dim", (0,)), ("keepdim", False)),
     ""),
)  # fmt: skip
MISSING: dict[str, object] = {"stage": "conversion", "missing": ["aten.prod.dim_int"], "error": ""}
RAISES: dict[str, object] = {
    "stage": "conversion",
    "missing": [],
    "error": "Got less inputs 2 than expected 3",
}


@pytest.mark.parametrize(("op", "path", "kernel"), CELLS)
def test_cells_cite_the_table_of_converters(
    op: str, path: str, kernel: str, database: Database
) -> None:
    entry = database.matrix(database.resolve(TargetSpec(TARGET))).entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert evidence.path.endswith(path)


@pytest.mark.parametrize(("op", "given", "verdict", "code"), CALLS)
def test_calls_end_at_the_stage_that_refuses_them(
    op: str, given: Value, verdict: Verdict, code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    found = Walk([Node(OpName.parse(op), (("self", given),))], matrix, "2.13.0").resolution(0)
    assert (found.verdict, found.code) == (verdict, code)


@pytest.mark.parametrize(
    ("shape", "keepdim", "code"),
    [((), True, "not-converted"), ((), False, "registered"), ((2,), True, "registered")],
)
def test_sums_of_no_dimensions_are_refused_where_they_keep_them(
    shape: tuple[int, ...], keepdim: bool, code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    given = (("self", dense(*shape, dtype="float32")), ("dim", (0,)), ("keepdim", keepdim))
    node = Node(OpName.parse("aten::sum.dim_IntList"), given)
    assert Walk([node], matrix, "2.13.0").resolution(0).code == code


@pytest.mark.parametrize(("op", "given", "path"), RAISES_FOR)
def test_a_converter_raises_where_its_code_does(
    op: str, given: tuple[tuple[str, Value], ...], path: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    found = Walk([Node(OpName.parse(op), given)], matrix, "2.13.0").resolution(0)
    if not path:
        assert found.code == "registered"
        return
    assert found.code == "converter-raises"
    (evidence,) = found.evidence
    assert evidence.path.endswith(path)
    assert evidence.line


def test_no_dtype_of_complex_numbers_is_cast_to(database: Database) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    for dtype, code in (("complex64", "numbers-not-converted"), ("float64", "registered")):
        given = (("self", FLOAT), ("dtype", Constant("dtype", dtype)))
        found = Walk([Node(OpName.parse("aten::_to_copy"), given)], matrix, "2.13.0").resolution(0)
        assert found.code == code


def test_the_plugin_refuses_indexing_and_whole_products_of_no_elements(database: Database) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    whole, none = dense(2, 3, dtype="int64"), dense(0, 3, dtype="int64")
    for op, given, refused in (
        ("aten::index.Tensor", (("self", dense(0, 2, 3)), ("indices", (whole,))), True),
        ("aten::index.Tensor", (("self", dense(1, 2, 3)), ("indices", (whole,))), False),
        ("aten::mm", (("self", whole), ("mat2", dense(3, 0, dtype="int64"))), True),
        ("aten::mm", (("self", none), ("mat2", whole)), True),
        ("aten::mm", (("self", whole), ("mat2", whole)), False),
        ("aten::mm", (("self", dense(0, 3)), ("mat2", dense(3, 2))), False),
    ):
        found = Walk([Node(OpName.parse(op), given)], matrix, "2.13.0").resolution(0)
        assert (found.code == "runtime-refuses") is refused


def test_calls_are_made_from_the_schema_as_pytorch_takes_them() -> None:
    size = torch.ops.aten._upsample_nearest_exact2d.default
    args, kwargs = made(size, torch.float32) or ((), {})
    assert (args[0].dim(), args[1], kwargs) == (4, [2, 2], {})
    assert made(torch.ops.aten.logaddexp2.default, torch.int64) is None
    calls = (size, torch.ops.aten.frac_.default, torch.ops.aten.tanh_backward.default)
    names = {call.name() for call in calls}
    assert list(tried(names, iter((*calls, torch.ops.aten.relu.default)))) == [size]


def test_a_made_call_that_raises_for_its_arguments_adds_nothing() -> None:
    calls: dict[tuple[str, str], list[dict[str, object]]] = {
        ("aten::b", "float32"): [{"stage": "ok"}],
        ("aten::c", "float32"): [RAISES],
        ("aten::d", "float32"): [MISSING],
    }
    file = {
        "overloads": {"aten::a": {"converter": True}},
        "decomposed": ["aten::b", "aten::c", "aten::d"],
    }
    assert added(file, calls) == {
        "aten::a": {"converter": True},
        "aten::b": {"tried": ["float32"]},
        "aten::c": {},
        "aten::d": {"tried": ["float32"], "not": {"float32": "leaf aten::prod.dim_int"}},
    }


def test_an_earlier_release_converts_less(database: Database) -> None:
    spec = TargetSpec.parse("openvino-cpu@2025.4.1")
    matrix = database.matrix(database.resolve(spec))
    codes = [
        Walk([Node(OpName.parse(op), (("self", FLOAT),))], matrix, "2.13.0").resolution(0).code
        for op in ("aten::relu", "aten::remainder.Tensor", "aten::silu", "aten::amax")
    ]
    assert codes == [
        "registered", "no-converter", "decomposed-before-conversion", "converter-raises",
    ]  # fmt: skip


def test_what_a_release_lacks_is_told_by_what_becomes_of_it() -> None:
    listed = {"aten::a": {"converter": True}, "aten::b": {"converter": True}, "aten::c": {}}
    assert earlier(listed, set(), {"aten::b"}) == {"lacks": ["aten::a"], "decomposed": ["aten::b"]}


def test_the_sample_that_the_benchmark_exports_is_not_asked() -> None:
    assert [_others(list("abcde"[:n])) for n in (0, 1, 2, 5)] == [[], [], ["a"], list("abce")]


def test_an_unknown_release_is_told(sources: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nothing of OpenVINO 0\.1 was read"):
        OpenVinoImporter().run(sources, "0.1")


@pytest.mark.parametrize(
    ("said", "dtype", "reason"),
    [
        ({"stage": "ok"}, "float32", ""),
        ({"stage": "capture", "error": "DataDependentOutputException"}, "float32", "capture"),
        ({"stage": "runtime", "error": "not implemented"}, "float32", "plugin"),
        (MISSING, "complex64", "leaf aten::prod.dim_int"),
        (RAISES, "complex64", "complex"),
        (RAISES, "float32", "other"),
    ],
)
def test_each_end_has_its_reason(said: dict[str, object], dtype: str, reason: str) -> None:
    assert why(said, dtype) == reason


def test_a_dtype_is_refused_where_no_call_of_it_came_through() -> None:
    calls: dict[tuple[str, str], list[dict[str, object]]] = {
        ("aten::a", "float32"): [RAISES, {"stage": "ok"}],
        ("aten::a", "int64"): [MISSING, RAISES],
        ("aten::a", "float16"): [{"stage": "conversion", "error": "opset1::Reshape of sizes"}],
        ("aten::none", "float32"): [{"stage": "ok"}],
    }
    found = facts(calls, frozenset({"aten::a"}), frozenset({"aten::a", "aten::b"}))
    assert found == {
        "aten::a": {
            "converter": True,
            "tried": ["float32", "int64"],
            "not": {"int64": "leaf aten::prod.dim_int"},
        },
        "aten::b": {},
    }
    assert text(found, {"torch": "2.13.0"}).splitlines()[-1] == "decomposed: [aten::b]"
