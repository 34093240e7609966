"""ONNX Runtime's other providers: which kernels they have, and what they leave to the CPU's."""

import json
from pathlib import Path

import pytest

from opcheck.db.importers.onnxruntime import provider
from opcheck.db.importers.onnxruntime.placement import _spans
from opcheck.db.importers.onnxruntime.provider import (
    Kernel,
    Node,
    documented,
    of_constants,
    of_shapes,
)
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node as Call
from opcheck.model.trace import OpName, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.calls import dense

DOCUMENT = """\
## Operators implemented by CPUExecutionProvider

|**Operator Domain:** *ai.onnx*||||
|Acos|*in* input:**T**<br> *out* output:**T**|22+|**T** = tensor(float)|

## Operators implemented by DmlExecutionProvider

|**Operator Domain:** *ai.onnx*||||
|Abs|*in* X:**T**<br> *out* Y:**T**|13+|**T** = tensor(float), tensor(float16)|
|||[6, 12]|**T** = tensor(float)|
|Cast|*in* input:**T1**<br>|20|**T1** = tensor(bool)<br/> **T2** = tensor(float)|
| |
|**Operator Domain:** *com.microsoft*||||
|Gelu|*in* X:**T**<br> *out* Y:**T**|1+|**T** = tensor(float)|
"""
FLOAT, HALF, WIDE, BRAIN = (
    dense(2, 3, dtype=dtype) for dtype in ("float32", "float16", "float64", "bfloat16")
)
WHOLE = dense(2, 3, dtype="int64")
IMAGE = dense(1, 3, 8, 8, dtype="float32")
CUDA, DML, CPU = "onnxruntime-cuda", "onnxruntime-dml", "onnxruntime-cpu"
CALLS: tuple[tuple[str, str, Value, Verdict, str], ...] = (
    (CUDA, "aten::relu", FLOAT, Verdict.NATIVE, "registered"),
    (CUDA, "aten::cos", FLOAT, Verdict.NATIVE, "registered"),
    (CUDA, "aten::acos", FLOAT, Verdict.FALLBACK, "left-to-cpu"),
    (CUDA, "aten::acos_", FLOAT, Verdict.FALLBACK, "left-to-cpu"),
    (CUDA, "aten::acos", WIDE, Verdict.UNSUPPORTED, "dtype-not-supported"),
    (CUDA, "aten::add.Tensor", BRAIN, Verdict.NATIVE, "registered"),
    (CPU, "aten::add.Tensor", BRAIN, Verdict.UNSUPPORTED, "dtype-not-supported"),
    (DML, "aten::add.Tensor", BRAIN, Verdict.UNSUPPORTED, "dtype-not-supported"),
    (DML, "aten::acos", FLOAT, Verdict.NATIVE, "registered"),
    (DML, "aten::add.Tensor", WIDE, Verdict.FALLBACK, "left-to-cpu"),
    (DML, "aten::scatter_add", FLOAT, Verdict.FALLBACK, "left-to-cpu"),
    (DML, "aten::scatter_add", HALF, Verdict.UNSUPPORTED, "dtype-not-supported"),
    (CUDA, "aten::scatter_add", HALF, Verdict.NATIVE, "registered"),
    (CUDA, "aten::ceil", WHOLE, Verdict.UNSUPPORTED, "dtype-not-supported"),
    (CUDA, "aten::cummax", FLOAT, Verdict.UNSUPPORTED, "no-converter"),
    (CUDA, "aten::bmm", WHOLE, Verdict.FALLBACK, "left-to-cpu"),
    (CUDA, "aten::upsample_bicubic2d.vec", IMAGE, Verdict.NATIVE, "registered"),
    (DML, "aten::upsample_bicubic2d.vec", IMAGE, Verdict.FALLBACK, "left-to-cpu"),
)


def found(database: Database, target: str, op: str, given: Value) -> tuple[Verdict, str]:
    matrix = database.matrix(database.resolve(TargetSpec.parse(target)))
    name = "input" if op.endswith(".vec") else "self"
    call = Call(OpName.parse(op), ((name, given),))
    said = Walk([call], matrix, "2.13.0").resolution(0)
    return said.verdict, said.code


@pytest.mark.parametrize(("target", "op", "given", "verdict", "code"), CALLS)
def test_a_call_falls_back_where_a_provider_has_no_kernel_of_what_it_gives(
    target: str, op: str, given: Value, verdict: Verdict, code: str, database: Database
) -> None:
    assert found(database, target, op, given) == (verdict, code)


def test_an_opset_has_kernels_of_its_own(database: Database) -> None:
    codes = {
        opset: found(database, f"{DML}+opset{opset}", "aten::acos", FLOAT)[1]
        for opset in (20, 21, 22)
    }
    assert codes == {20: "registered", 21: "registered", 22: "placement-not-looked-up"}


def test_rows_of_the_document_are_read_for_one_provider(tmp_path: Path) -> None:
    path = tmp_path / "OperatorKernels.md"
    path.write_text(DOCUMENT)
    real, half = "tensor(float)", "tensor(float16)"
    assert documented(path, "DmlExecutionProvider") == {
        ("", "Abs"): [
            Kernel(13, None, {"T": frozenset({real, half})}),
            Kernel(6, 12, {"T": frozenset({real})}),
        ],
        ("", "Cast"): [
            Kernel(20, 20, {"T1": frozenset({"tensor(bool)"}), "T2": frozenset({real})}),
        ],
        ("com.microsoft", "Gelu"): [Kernel(1, None, {"T": frozenset({real})})],
    }  # fmt: skip


def test_what_a_wheel_registers_is_read_for_one_provider(tmp_path: Path) -> None:
    path = tmp_path / "kernels.json"
    path.write_text(json.dumps([
        ["CUDAExecutionProvider", "", "Relu", [14, 2**31 - 1], {"T": ["tensor(float)"]}],
        ["CPUExecutionProvider", "", "Relu", [14, 2**31 - 1], {"T": ["tensor(int32)"]}],
        ["CUDAExecutionProvider", "", "NonMaxSuppression", [10, 10], {}],
    ]))  # fmt: skip
    assert provider.registered(path, "CUDAExecutionProvider") == {
        ("", "Relu"): [Kernel(14, None, {"T": frozenset({"tensor(float)"})})],
        ("", "NonMaxSuppression"): [Kernel(10, 10, {})],
    }


def test_a_kernel_without_an_end_is_of_one_version_alone() -> None:
    assert [Kernel(7, None, {}).takes(since) for since in (6, 7, 22)] == [False, True, False]
    assert [Kernel(7, 21, {}).takes(since) for since in (7, 21, 22)] == [True, True, False]


def test_what_is_computed_from_shapes_alone_is_left_to_the_cpu_on_purpose() -> None:
    whole, real = ["INT64"], ["FLOAT"]
    nodes = [
        Node("Shape", real, whole, [-1]),
        Node("Gather", ["INT64", "INT64"], whole, [0, -2]),
        Node("Mul", ["INT64", "INT64"], whole, [1, -2]),
        Node("Reshape", ["FLOAT", "INT64"], real, [-1, 2]),
        Node("Mul", ["INT64", "INT64"], whole, [1, -1]),
        Node("Reshape", ["FLOAT", "INT64"], real, [3, 1]),
        Node("Neg", ["FLOAT16"], ["FLOAT16"], [1]),
    ]
    assert of_shapes(nodes) == [False, True, True, *[False] * 4]


def test_what_is_computed_from_constants_alone_is_in_no_session() -> None:
    nodes = [
        Node("ConstantOfShape", ["INT64"], ["FLOAT"], [-2]),
        Node("Neg", ["FLOAT"], ["FLOAT"], [0]),
        Node("RandomNormalLike", ["FLOAT"], ["FLOAT"], [1]),
        Node("Add", ["FLOAT", "FLOAT"], ["FLOAT"], [1, -1]),
        Node("RandomNormal", [], ["FLOAT"], []),
    ]
    assert of_constants(nodes) == [True, True, False, False, False]


def test_spans_are_those_in_which_the_same_holds() -> None:
    told = [(18, ""), (19, "cpu Acos"), (20, "cpu Acos"), (21, ""), (22, "kernel Acos")]
    assert list(_spans(told)) == [(19, 20, "cpu Acos"), (22, 22, "kernel Acos")]


def test_an_attribute_that_a_provider_refuses_leaves_the_node() -> None:
    pytest.importorskip("onnx", reason="120 MB: pip install 'opcheck[onnx]'")
    rows = {("", "Resize"): [Kernel(19, None, {})], ("", "Relu"): [Kernel(14, None, {})]}
    one = provider.Provider(rows, "dml", 20)
    linear, cubic = (
        Node("Resize", ["FLOAT"], ["FLOAT"], [-1], {"mode": mode}) for mode in ("linear", "cubic")
    )
    relu = Node("Relu", ["FLOAT"], ["FLOAT"], [-1])
    assert one.left([linear, cubic, relu]) == [cubic]
    assert provider.Provider(rows, "cuda", 20).left([cubic]) == []
