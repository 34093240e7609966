"""ExecuTorch on the CPU: what its code takes, as it is read, and what calls come to."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.db.importers.executorch import ExecuTorchImporter
from opcheck.db.importers.executorch.extract import Release, in_edge, is_core, out_variant, worst
from opcheck.db.importers.executorch.kernels import Kernel, constraints, kernels, takes
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.calls import dense, node

PORTABLE, XNNPACK = "executorch-portable", "executorch-xnnpack"
FLOAT, HALF, WHOLE = (dense(2, 3, dtype=name) for name in ("float32", "float16", "int64"))
COMPLEX = dense(2, 3, dtype="complex64")
BYTES = dense(2, 3, dtype="uint8")
CALLS: tuple[tuple[str, str, Value, Verdict, str], ...] = (
    (PORTABLE, "aten::relu", FLOAT, Verdict.NATIVE, "registered"),
    (PORTABLE, "aten::_reshape_alias", FLOAT, Verdict.NATIVE, "registered"),
    (PORTABLE, "aten::relu_", FLOAT, Verdict.NATIVE, "registered"),
    (PORTABLE, "aten::silu", HALF, Verdict.DECOMPOSED, "decomposed-before-conversion"),
    (PORTABLE, "aten::cumprod", FLOAT, Verdict.UNSUPPORTED, "no-converter"),
    (PORTABLE, "aten::sort", FLOAT, Verdict.UNSUPPORTED, "no-runtime-kernel"),
    (PORTABLE, "aten::sin", COMPLEX, Verdict.UNSUPPORTED, "edge-refuses-dtype"),
    (PORTABLE, "aten::nonzero", FLOAT, Verdict.UNKNOWN, "may-not-be-captured"),
    (XNNPACK, "aten::relu", FLOAT, Verdict.NATIVE, "registered"),
    (XNNPACK, "aten::relu", WHOLE, Verdict.FALLBACK, "left-to-portable-kernels"),
    (XNNPACK, "aten::sinh", FLOAT, Verdict.FALLBACK, "left-to-portable-kernels"),
    (XNNPACK, "aten::gelu", HALF, Verdict.FALLBACK, "left-to-portable-kernels"),
    (XNNPACK, "aten::sort", FLOAT, Verdict.UNSUPPORTED, "no-runtime-kernel"),
)  # fmt: skip
ADD = """\
namespace native {
Tensor& add_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_SWITCH_REALB_TYPES(compute, ctx, name, C, [&]() {
    apply(a, utils::SupportedTensorDtypes::REALHBBF16, out);
  });
}
"""
LIST = """\
- op: add.out
  kernels:
    - arg_meta: null
      kernel_name: torch::executor::add_out
"""
EDGE = """\
- func: aten::add.Tensor
  type_alias:
    T0: [Float, ComplexFloat]
    T1: [Long]
  type_constraint:
  - self: T0
    other: T1
    __ret_0: T0
"""


def resolution(target: str, op: str, given: Value, database: Database) -> tuple[Verdict, str]:
    matrix = database.matrix(database.resolve(TargetSpec(target)))
    found = Walk([Node(OpName.parse(op), (("self", given),))], matrix, "2.13.0").resolution(0)
    return found.verdict, found.code


@pytest.mark.parametrize(("target", "op", "given", "verdict", "code"), CALLS)
def test_calls_end_at_the_stage_that_refuses_them(
    target: str, op: str, given: Value, verdict: Verdict, code: str, database: Database
) -> None:
    assert resolution(target, op, given, database) == (verdict, code)


PRODUCT = node("aten::mul.Tensor", self=dense(1, 8, 1), other=dense(8, 5))
HALVES = node("aten::mul.Tensor", self=HALF, other=dense(1, 1, 3, dtype="float16"))
WHOLES = node("aten::mul.Tensor", self=WHOLE, other=dense(1, 1, 3, dtype="int64"))


@pytest.mark.parametrize(
    ("target", "call", "result", "refused"),
    [
        (PORTABLE, PRODUCT, dense(1, 8, 5), True),
        (XNNPACK, PRODUCT, dense(1, 8, 5), False),
        (PORTABLE, HALVES, dense(1, 2, 3, dtype="float16"), False),
        (XNNPACK, WHOLES, dense(1, 2, 3, dtype="int64"), True),
        (PORTABLE, node("aten::constant_pad_nd", self=FLOAT, pad=(1, -1)), dense(2, 3), True),
        (PORTABLE, node("aten::constant_pad_nd", self=FLOAT, pad=(1, 1)), dense(2, 5), False),
        (PORTABLE, node("aten::arange.start_step", start=False, end=4), dense(4), True),
        (PORTABLE, node("aten::arange.start_step", start=0, end=4), dense(4), False),
        (PORTABLE, node("aten::hardtanh", self=BYTES, min_val=0, max_val=255.5), BYTES, True),
        (PORTABLE, node("aten::hardtanh", self=BYTES, min_val=0, max_val=255), BYTES, False),
        (PORTABLE, node("aten::hardtanh", self=WHOLE, min_val=0, max_val=6.5), WHOLE, False),
        (PORTABLE, node("aten::clamp", self=BYTES, min=-1), BYTES, True),
        (PORTABLE, node("aten::clamp", self=BYTES, min=-0.5), BYTES, False),
        (PORTABLE, node("aten::clamp", self=WHOLE, min=-1), WHOLE, False),
    ],
)
def test_what_kernels_check_is_told(
    target: str, call: Node, result: Value, refused: bool, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(target)))
    found = Walk([replace(call, outputs=(result,))], matrix, "2.13.0").resolution(0)
    assert (found.code == "runtime-refuses") is refused


OWN = node("aten::linear", input=dense(4, 3), weight=dense(5, 3), bias=dense(5))


@pytest.mark.parametrize(
    ("target", "modes", "code"),
    [
        (XNNPACK, (), "decomposed-before-conversion"),
        (XNNPACK, (("computed weight", "parameters"),), "weight-is-computed"),
        (XNNPACK, (("computed weight", "inputs"),), "weight-of-inputs"),
        (XNNPACK, (("computed bias", "inputs"),), "weight-of-inputs"),
        (PORTABLE, (("computed weight", "inputs"),), "decomposed-before-conversion"),
    ],
)
def test_xnnpack_takes_weights_that_are_parameters_as_they_are(
    target: str, modes: tuple[tuple[str, str], ...], code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(target)))
    call = replace(OWN, outputs=(dense(4, 5),), modes=modes)
    found = Walk([call], matrix, "2.13.0").resolution(0)
    assert found.code == code


IMAGE, EMPTY = dense(2, 3, 4, 4), dense(0, 3)


def norm(given: Value, training: bool = False) -> Node:
    stats = {name: dense(3) for name in ("weight", "bias", "running_mean", "running_var")}
    return node(
        "aten::native_batch_norm", input=given, **stats, training=training, momentum=0.1, eps=1e-5
    )


@pytest.mark.parametrize(
    ("call", "result", "left"),
    [
        (node("aten::_softmax", self=FLOAT, dim=1, half_to_float=False), FLOAT, False),
        (node("aten::_softmax", self=FLOAT, dim=-1, half_to_float=False), FLOAT, False),
        (node("aten::_softmax", self=FLOAT, dim=0, half_to_float=False), FLOAT, True),
        (node("aten::unsqueeze", self=FLOAT, dim=2), dense(2, 3, 1), False),
        (node("aten::unsqueeze", self=FLOAT, dim=1), dense(2, 1, 3), True),
        (node("aten::mean.dim", self=IMAGE, dim=(2, 3), keepdim=True), dense(2, 3, 1, 1), False),
        (node("aten::mean.dim", self=IMAGE, dim=(1, 2), keepdim=True), dense(2, 1, 1, 4), True),
        (node("aten::max_pool2d", self=IMAGE, kernel_size=(2, 2), stride=(2, 2)), IMAGE, False),
        (node("aten::max_pool2d", self=IMAGE, kernel_size=(2, 2), stride=(3, 3)), IMAGE, True),
        (node("aten::cat", tensors=(FLOAT, FLOAT)), dense(4, 3), False),
        (node("aten::cat", tensors=(FLOAT,)), FLOAT, True),
        (node("aten::_to_copy", self=FLOAT), FLOAT, False),
        (node("aten::_to_copy", self=FLOAT), HALF, True),
        (node("aten::mul.Tensor", self=FLOAT, other=FLOAT), FLOAT, False),
        (node("aten::mul.Tensor", self=FLOAT, other=WHOLE), FLOAT, True),
        (node("aten::mul.Tensor", self=FLOAT, other=2.0), FLOAT, False),
        (node("aten::mul.Tensor", self=FLOAT, other=2), FLOAT, True),
        (node("aten::mul.Tensor", self=EMPTY, other=EMPTY), EMPTY, True),
        (node("aten::transpose.int", self=FLOAT, dim0=0, dim1=1), dense(3, 2), False),
        (node("aten::transpose.int", self=dense(3), dim0=0, dim1=0), dense(3), True),
        (norm(IMAGE), IMAGE, False),
        (norm(IMAGE, training=True), IMAGE, True),
        (norm(dense(2, 3, 4, 4, 4)), dense(2, 3, 4, 4, 4), True),
        (norm(dense(2, 3, dtype="float64")), dense(2, 3, dtype="float64"), True),
        (node("aten::empty.memory_format", size=(0,)), dense(0, dtype="uint8"), False),
        (node("aten::empty.memory_format", size=(2, 3)), FLOAT, True),
    ],
)
def test_what_the_partitioner_leaves_is_told(
    call: Node, result: Value, left: bool, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(XNNPACK)))
    found = Walk([replace(call, outputs=(result,))], matrix, "2.13.0").resolution(0)
    assert (found.verdict is Verdict.FALLBACK) is left
    assert found.verdict in (Verdict.NATIVE, Verdict.DECOMPOSED, Verdict.FALLBACK)


@pytest.mark.parametrize(("result", "refused"), [(dense(2, 2), False), (dense(4, 3), True)])
def test_a_resize_is_refused_where_it_grows(
    result: Value, refused: bool, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(PORTABLE)))
    call = replace(node("aten::resize_", self=FLOAT), outputs=(result,))
    found = Walk([call], matrix, "2.13.0").resolution(0)
    assert (found.code == "not-core-aten") is refused


def test_cells_cite_the_code_of_the_kernel(database: Database) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(PORTABLE)))
    (evidence,) = matrix.entries["aten::relu"].evidence
    assert matrix.entries["aten::relu"].implementation == ("relu.out",)
    assert evidence.path == "kernels/portable/cpu/op_relu.cpp"
    assert evidence.line


@pytest.mark.parametrize(
    ("code", "dtypes"),
    [
        ("ET_SWITCH_FLOATHBF16_TYPES(t, ctx", {"float16", "bfloat16", "float32", "float64"}),
        ("ET_SWITCH_FLOATH_TYPES_AND(Long, t", {"float16", "float32", "float64", "int64"}),
        ("ET_SWITCH_TWO_TYPES(Long, Int, t", set()),
        ("DEFINE_UNARY_UFUNC_REALHBBF16_TO_FLOATHBF16(sin_out, std::sin)",
         {"uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "bool"}),
        ("ET_SWITCH_COMPLEX_TYPES(t", {"complex64", "complex128"}),
        ("switch (t) {\n case ScalarType::Float: {\n case ScalarType::Half:",
         {"float32", "float16"}),
        ("memcpy(out, in)", set()),
    ],
)  # fmt: skip
def test_dtypes_are_those_that_the_code_switches_over(code: str, dtypes: set[str]) -> None:
    assert set(takes(code)) == dtypes


def test_a_folder_of_sources_is_read(tmp_path: Path) -> None:
    for path, text in (
        ("kernels/portable/functions.yaml", LIST),
        ("kernels/portable/cpu/op_add.cpp", ADD),
        ("exir/dialects/edge/edge.yaml", EDGE),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (found,) = kernels(tmp_path).items()
    assert (found[0], found[1].at) == ("add.out", "kernels/portable/cpu/op_add.cpp:2")
    assert set(found[1].takes) == set(takes(ADD))
    both = frozenset({"float32", "complex64"})
    assert constraints(tmp_path) == {"aten::add.Tensor": [(both, both)]}


def test_an_optimized_kernel_is_what_runs(tmp_path: Path) -> None:
    narrow = "Tensor& opt_add_out() {\n case ScalarType::Float:\n"
    for path, text in (
        ("kernels/portable/functions.yaml", LIST),
        ("kernels/portable/cpu/op_add.cpp", ADD),
        ("kernels/optimized/optimized.yaml", LIST.replace("add_out", "opt_add_out")),
        ("kernels/optimized/cpu/op_add.cpp", narrow),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert kernels(tmp_path)["add.out"] == Kernel(
        "kernels/optimized/cpu/op_add.cpp:1", ("float32",)
    )
    code = tmp_path / "kernels/optimized/cpu/op_add.cpp"
    code.write_text(f"{narrow} return add_out(ctx, a, b, out);\n")
    assert set(kernels(tmp_path)["add.out"].takes) == {*takes(ADD), "float32"}


@pytest.mark.parametrize(
    ("name", "edge", "core", "out"),
    [
        ("aten::add_.Tensor", "aten::add.Tensor", True, "add.out"),
        ("aten::view", "aten::view_copy", True, "view_copy.out"),
        ("aten::sum.dim_IntList", "aten::sum.dim_IntList", True, "sum.IntList_out"),
        ("aten::_to_copy", "aten::_to_copy", True, "dim_order_ops::_to_dim_order_copy.out"),
        ("aten::cumprod", "aten::cumprod", False, "cumprod.out"),
        ("aten::full", "aten::full", True, "full.out"),
    ],
)
def test_overloads_have_the_names_of_the_edge_dialect(
    name: str, edge: str, core: bool, out: str
) -> None:
    assert (in_edge(name), is_core(edge), out_variant(edge)) == (edge, core, out)


def test_a_part_is_refused_by_the_first_that_asks() -> None:
    allowed = [(frozenset({"float32"}), frozenset({"float32"}))]
    release = Release({"sin.out": Kernel("at", ("float32",))}, {"aten::cos": allowed})
    leaves = {
        ("aten::sin", "float32", "float32"): "",
        ("aten::sin", "int64", "float32"): "dtype aten::sin",
        ("aten::cos", "int64", "float32"): "edge aten::cos",
        ("aten::cos", "float32", "float32"): "kernel aten::cos",
        ("aten::cumprod", "float32", "float32"): "verifier aten::cumprod",
        ("torchvision::nms", "float32", "int64"): "variant torchvision::nms",
        ("aten::_local_scalar_dense", "float32", "none"): "",
    }
    assert {leaf: release.why(leaf) for leaf in leaves} == leaves
    assert worst(leaves.values()) == "verifier aten::cumprod"


def test_an_unknown_release_is_told(sources: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nothing of ExecuTorch 0\.1 was read"):
        ExecuTorchImporter().run(sources, "0.1")
