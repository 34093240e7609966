"""ExecuTorch's Vulkan partitioner: its registry as it is read, and what it leaves."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.db.importers.executorch.vulkan import kept, parts, registry
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.calls import dense, node

VULKAN = "executorch-vulkan"
SETS = """\
_VULKAN_DTYPES: Dict[torch.dtype, VkDataType] = {torch.bool: 1, torch.float32: 2}
FP_T: DtypeSet = {torch.float16, torch.float32}
INT_T: DtypeSet = {torch.int64}
BOOL_T: DtypeSet = {torch.bool}
ALL_T: DtypeSet = set(_VULKAN_DTYPES.keys())
FP_INT_T: DtypeSet = FP_T | INT_T
"""
REGISTRY = """\
@update_features([exir_ops.edge.aten.relu.default, exir_ops.edge.aten.pow.Tensor_Scalar])
def register_unary():
    return OpFeatures(inputs_storage=utils.ANY_STORAGE, inputs_dtypes=utils.FP_T)


@update_features(exir_ops.edge.aten.embedding.default)
def register_embedding():
    def check(node):
        return True

    return OpFeatures(
        inputs_storage=[utils.ANY_BUFFER, utils.ANY_STORAGE],
        inputs_dtypes=[utils.FP_INT_T, utils.INT_T],
        outputs_dtypes=utils.BOOL_T,
        supports_highdim=True,
        are_node_inputs_supported_fn=check,
    )


@update_features([operator.getitem, exir_ops.edge.dim_order_ops._to_dim_order_copy.default])
def register_copy():
    return OpFeatures(inputs_storage=utils.ANY_BUFFER, supports_highdim=True)
"""
PARTITIONER = "ops_not_to_decompose = [torch.ops.aten.hardswish.default]\n"
FLOATS, ANY = ("float16", "float32"), ("bool", "float32")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (
        ("op_registry.py", REGISTRY), ("utils.py", SETS),
        ("partitioner/vulkan_partitioner.py", PARTITIONER),
    ):  # fmt: skip
        path = tmp_path / "backends/vulkan" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_registrations_are_read_with_their_lines(folder: Path) -> None:
    found = {
        name: (one.line, one.takes, one.gives, one.lies, one.flat, one.asks)
        for name, one in registry(folder).items()
    }
    relu = (2, (FLOATS,), (FLOATS,), "ANY_STORAGE", True, ())
    assert found == {
        "aten::relu": relu,
        "aten::pow.Tensor_Scalar": relu,
        "aten::embedding": (
            7, ((*FLOATS, "int64"), ("int64",)), (("bool",),), "ANY_BUFFER", False, ("check",)
        ),
        "aten::_to_copy": (21, (ANY,), (ANY,), "ANY_BUFFER", False, ()),
    }  # fmt: skip
    assert kept(folder) == {"aten::hardswish"}


def test_parts_are_taken_where_each_is(folder: Path) -> None:
    def line(op: str, dtype: str, *leaves: tuple[str, str, str]) -> dict[str, object]:
        return {"op": op, "dtype": dtype, "leaves": leaves, "whole": False}

    relu = ("aten::relu", "float32", "float32")
    lines = [
        line("aten::all_taken", "float32", relu),
        line("aten::all_taken", "float32", ("aten::relu", "float64", "float64")),
        line("aten::all_taken", "int64", ("aten::relu", "int64", "float32")),
        line("aten::some_left", "float32", relu, ("aten::sinh", "float32", "float32")),
        line("aten::hardswish", "float32", relu),
    ]
    found = parts(lines, registry(folder), kept(folder))
    assert found == {"aten::all_taken": {"takes": ["float16", "float32"], "flat": True}}


FLOAT, WHOLE, TRUTH = (dense(2, 3, dtype=name) for name in ("float32", "int64", "bool"))
DOUBLE, IMAGE, VOLUME = dense(2, 3, dtype="float64"), dense(1, 3, 4, 4), dense(1, 3, 4, 4, 4)


def reduced(given: Value, dim: Value, keepdim: bool = False) -> Node:
    return node("aten::mean.dim", self=given, dim=dim, keepdim=keepdim)


def convolved(given: Value) -> Node:
    return node(
        "aten::convolution", input=given, weight=dense(4, 3, 1, 1), bias=None, stride=(1, 1),
        padding=(0, 0), dilation=(1, 1), transposed=False, output_padding=(0, 0), groups=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("call", "result", "verdict"),
    [
        (node("aten::relu", self=FLOAT), FLOAT, Verdict.NATIVE),
        (node("aten::relu", self=WHOLE), WHOLE, Verdict.FALLBACK),
        (node("aten::relu", self=VOLUME), VOLUME, Verdict.FALLBACK),
        (node("aten::add.Tensor", self=VOLUME, other=VOLUME), VOLUME, Verdict.NATIVE),
        (node("aten::add.Tensor", self=FLOAT, other=TRUTH), FLOAT, Verdict.NATIVE),
        (node("aten::add.Tensor", self=DOUBLE, other=FLOAT), DOUBLE, Verdict.FALLBACK),
        (node("aten::bitwise_not", self=TRUTH), TRUTH, Verdict.NATIVE),
        (node("aten::bitwise_not", self=WHOLE), WHOLE, Verdict.FALLBACK),
        (node("aten::eq.Tensor", self=FLOAT, other=FLOAT), TRUTH, Verdict.NATIVE),
        (node("aten::_to_copy", self=FLOAT), DOUBLE, Verdict.FALLBACK),
        (node("aten::sinh", self=FLOAT), FLOAT, Verdict.FALLBACK),
        (node("aten::silu", self=FLOAT), FLOAT, Verdict.DECOMPOSED),
        (node("aten::hardswish", self=FLOAT), FLOAT, Verdict.DECOMPOSED),
        (node("aten::sort", self=FLOAT), FLOAT, Verdict.UNSUPPORTED),
        (reduced(FLOAT, (-1,)), dense(2), Verdict.NATIVE),
        (reduced(FLOAT, (0,)), dense(3), Verdict.FALLBACK),
        (reduced(FLOAT, (0,), keepdim=True), dense(1, 3), Verdict.NATIVE),
        (reduced(IMAGE, (2, 3)), dense(1, 3), Verdict.FALLBACK),
        (reduced(IMAGE, (2, 3), keepdim=True), dense(1, 3, 1, 1), Verdict.NATIVE),
        (reduced(IMAGE, (1, 2, 3), keepdim=True), dense(1, 1, 1, 1), Verdict.FALLBACK),
        (reduced(VOLUME, (3,), keepdim=True), dense(1, 3, 4, 1, 4), Verdict.FALLBACK),
        (reduced(VOLUME, (4,), keepdim=True), dense(1, 3, 4, 4, 1), Verdict.NATIVE),
        (convolved(IMAGE), dense(1, 4, 4, 4), Verdict.NATIVE),
        (convolved(dense(2, 3, 4, 4)), dense(2, 4, 4, 4), Verdict.FALLBACK),
        (node("aten::index.Tensor", self=FLOAT, indices=(dense(2, dtype="int64"),)), FLOAT,
         Verdict.FALLBACK),
        (node("aten::avg_pool2d", self=dense(1, 1, 4, 20000), kernel_size=(2, 2)),
         dense(1, 1, 2, 10000), Verdict.FALLBACK),
        (node("aten::eq.Scalar", self=FLOAT, other=float("-inf")), TRUTH, Verdict.UNSUPPORTED),
        (node("aten::eq.Scalar", self=FLOAT, other=0.0), TRUTH, Verdict.NATIVE),
    ],
)  # fmt: skip
def test_what_the_partitioner_takes_is_told(
    call: Node, result: Value, verdict: Verdict, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(VULKAN)))
    found = Walk([replace(call, outputs=(result,))], matrix, "2.13.0").resolution(0)
    assert found.verdict is verdict
