"""ONNX Runtime on the CPU: cells read by eye in the converters' files, and what calls come to."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.db.importers.onnxruntime import OnnxRuntimeImporter
from opcheck.db.importers.onnxruntime.extract import spelled_out, text
from opcheck.db.selection import names_groups, select
from opcheck.db.store import Database
from opcheck.errors import DatabaseError, UsageError
from opcheck.model.target import TargetKind, TargetSpec
from opcheck.model.trace import Composite, Constant, Node, OpName, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.calls import dense

TARGET = "onnxruntime-cpu"
CELLS = (
    ("aten::acos", "function_libs/torch_lib/ops/core.py", "converter"),
    ("aten::scaled_dot_product_attention", "torch_lib/ops/nn.py", "converter"),
    ("aten::add_.Tensor", "_torchlib/ops/core.py", "aten::add.Tensor"),
    ("aten::tril_", "torch_lib/ops/core.py", "aten::tril"),
)
FLOAT, HALF, WIDE = (dense(2, 3, dtype=f"float{bits}") for bits in (32, 16, 64))
WHOLE = dense(2, 3, dtype="int64")
CALLS: tuple[tuple[str, Value, Verdict, str], ...] = (
    ("aten::relu", FLOAT, Verdict.NATIVE, "registered"),
    ("aten::acos", HALF, Verdict.NATIVE, "registered"),
    ("aten::acos", WIDE, Verdict.UNSUPPORTED, "dtype-not-supported"),
    ("aten::ceil", WHOLE, Verdict.UNSUPPORTED, "dtype-not-supported"),
    ("aten::ceil_", WHOLE, Verdict.UNSUPPORTED, "dtype-not-supported"),
    ("aten::acos", dense(2, 3, dtype="complex64"), Verdict.UNSUPPORTED, "numbers-not-converted"),
    ("aten::relu", WHOLE, Verdict.UNSUPPORTED, "dtype-not-supported"),
    ("aten::relu", dense(2, 3, dtype="int32"), Verdict.NATIVE, "registered"),
    ("aten::elu", WIDE, Verdict.UNSUPPORTED, "dtype-not-supported"),
    ("aten::relu", dense(2, 3, dtype="complex32"), Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::copysign.Tensor", FLOAT, Verdict.UNSUPPORTED, "part-not-converted"),
    ("aten::cummax", FLOAT, Verdict.UNSUPPORTED, "no-converter"),
    ("aten::nonzero", FLOAT, Verdict.UNKNOWN, "may-not-be-captured"),
    ("aten::diag_embed", FLOAT, Verdict.DECOMPOSED, "decomposed-before-conversion"),
)


NONE = dense(dtype="float32")
MANY, FEW = dense(40, dtype="int64"), dense(9, dtype="int64")
PADDED = (("input", FLOAT), ("weight", FLOAT), ("stride", (2, 1)), ("transposed", True))
REFUSALS: tuple[tuple[str, tuple[tuple[str, Value], ...], str], ...] = (
    ("aten::amin", (("self", FLOAT),), "not-converted"),
    ("aten::aminmax", (("self", FLOAT),), "not-converted"),
    ("aten::amax", (("self", FLOAT), ("dim", (0,))), "registered"),
    ("aten::amax", (("self", NONE), ("dim", (0,))), "shape-not-supported"),
    ("aten::linalg_vector_norm", (("self", NONE), ("dim", (0,))), "shape-not-supported"),
    ("aten::linalg_vector_norm", (("self", NONE),), "registered"),
    ("aten::topk", (("self", NONE), ("k", 1)), "shape-not-supported"),
    ("aten::max_pool2d", (("self", WHOLE),), "dtype-not-supported"),
    ("aten::divide.Tensor", (("self", FLOAT), ("other", WHOLE)), "dtype-not-supported"),
    ("aten::div.Tensor", (("self", FLOAT), ("other", WHOLE)), "registered"),
    ("aten::stack", (("tensors", (FLOAT, WHOLE)),), "dtype-not-supported"),
    ("aten::select_scatter", (("self", FLOAT), ("src", WHOLE)), "dtype-not-supported"),
    ("aten::rand", (("size", (2,)), ("dtype", Constant("dtype", "float16"))),
     "dtype-not-supported"),
    ("aten::convolution", (*PADDED, ("output_padding", (1, 0))), "registered"),
    ("aten::convolution", (*PADDED, ("output_padding", (0, 1))), "shape-not-supported"),
    ("aten::im2col", (("self", dense(0, 2, 4, 4, dtype="float32")),), "shape-not-supported"),
    ("aten::im2col", (("self", dense(2, 4, 4, dtype="float32")),), "shape-not-supported"),
    ("aten::_to_copy", (("self", FLOAT), ("dtype", Constant("dtype", "complex32"))),
     "converter-raises"),
    ("aten::_to_copy", (("self", FLOAT), ("dtype", Constant("dtype", "complex64"))),
     "registered"),
    ("aten::index_add", (("self", HALF),), "dtype-not-supported"),
    ("aten::index_put", (("self", HALF), ("accumulate", True)), "dtype-not-supported"),
    ("aten::index_put", (("self", HALF), ("accumulate", False)), "registered"),
    ("aten::index_put", (("self", FLOAT), ("accumulate", True)), "registered"),
    ("aten::scatter_reduce.two", (("self", HALF), ("reduce", "prod")), "dtype-not-supported"),
    ("aten::resize_", (("self", FLOAT), ("size", (3, 3))), "no-converter"),
    ("aten::resize_", (("self", FLOAT), ("size", (2, 2))), "decomposed-before-conversion"),
    ("aten::isin.Tensor_Tensor", (("elements", WHOLE), ("test_elements", MANY)),
     "part-not-converted"),
    ("aten::isin.Tensor_Tensor", (("elements", WHOLE), ("test_elements", FEW)),
     "decomposed-before-conversion"),
    ("aten::isin.Tensor_Tensor", (("elements", dense(10**8, dtype="int64")),
                                  ("test_elements", MANY)), "part-not-converted"),
)  # fmt: skip


@pytest.mark.parametrize(("op", "given", "code"), REFUSALS)
def test_what_code_refuses_is_told_of_the_calls_that_it_refuses(
    op: str, given: tuple[tuple[str, Value], ...], code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    assert Walk([Node(OpName.parse(op), given)], matrix, "2.13.0").resolution(0).code == code


@pytest.mark.parametrize(("op", "path", "kernel"), CELLS)
def test_cells_cite_the_converter(op: str, path: str, kernel: str, database: Database) -> None:
    entry = database.matrix(database.resolve(TargetSpec(TARGET))).entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert evidence.path.endswith(path)
    assert evidence.line


@pytest.mark.parametrize(("op", "given", "verdict", "code"), CALLS)
def test_calls_end_at_the_stage_that_refuses_them(
    op: str, given: Value, verdict: Verdict, code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    found = Walk([Node(OpName.parse(op), (("self", given),))], matrix, "2.13.0").resolution(0)
    assert (found.verdict, found.code) == (verdict, code)


def test_attention_is_converted_of_four_dimensions(database: Database) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    codes = []
    for shape in ((2, 3, 4, 5), (3, 4, 5)):
        given = tuple((name, dense(*shape, dtype="float32")) for name in ("query", "key", "value"))
        node = Node(OpName.parse("aten::scaled_dot_product_attention"), given)
        codes.append(Walk([node], matrix, "2.13.0").resolution(0).code)
    assert codes == ["registered", "not-converted"]


def test_host_and_device_are_one_place(database: Database) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    node = Node(OpName.parse("aten::add.Tensor"), (
        ("self", FLOAT), ("other", replace(FLOAT, host=True)),
    ))  # fmt: skip
    assert Walk([node], matrix, "2.13.0").resolution(0).verdict is Verdict.NATIVE
    assert matrix.compiles_graphs and matrix.exports
    assert matrix.inherits == {Composite.IMPLICIT}


def test_groups_name_the_targets_of_a_class(database: Database) -> None:
    named = {
        group: [target.name for target in select(database, (TargetSpec(group),))]
        for group in ("devices", "compilers", "export", "all")
    }
    assert named["export"] == [
        "coreml-ane", "coreml-cpu", "coreml-gpu", "executorch-portable", "executorch-vulkan",
        "executorch-xnnpack", "litert-cpu", TARGET, "onnxruntime-cuda", "onnxruntime-dml",
        "openvino-cpu",
    ]  # fmt: skip
    assert named["compilers"][0] == "nvidia-tensorrt"
    assert "nvidia-tensorrt" not in named["devices"]
    modes = [target.name for target in database.of_kind(*TargetKind) if target.mode]
    assert named["all"] == [
        *(target.name for target in database.targets()), *modes, *named["export"],
    ]  # fmt: skip
    assert TARGET not in {target.name for target in select(database, ())}
    assert names_groups(database, (TargetSpec("export"),))
    with pytest.raises(UsageError, match="'export' takes neither a release"):
        select(database, (TargetSpec("export", "1.32.0"),))


def test_every_target_is_of_one_kind(database: Database) -> None:
    found = [target for kind in TargetKind for target in database.of_kind(kind)]
    assert sorted(target.name for target in found) == sorted(database.names())


def test_an_unknown_release_is_told(sources: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nothing of ONNX Runtime 0\.1 was read"):
        OnnxRuntimeImporter().run(sources, "0.1")


def test_the_file_of_lowerings_is_written_by_overload() -> None:
    written = text({"aten::b": {"tried": ["float32"]}, "aten::c": {}}, {"torch": "2.13.0"})
    assert "  aten::b: {tried: [float32]}" in written
    assert written.splitlines()[-1] == "decomposed: [aten::c]"


def test_a_target_may_name_the_opset_that_it_is_written_in(database: Database) -> None:
    spec = TargetSpec.parse("onnxruntime-cpu@1.32.0+opset18")
    target = database.resolve(spec)
    assert str(target) == "onnxruntime-cpu@1.32.0+torch2.13+opset18"
    assert database.resolve(TargetSpec.parse(str(target))) == target
    call = Node(OpName.parse("aten::amax"), (("self", dense(2, 3, dtype="bool")), ("dim", (0,))))
    codes = {}
    for opset in ("", "+opset18", "+opset19", "+opset20", "+opset24"):
        matrix = database.matrix(database.resolve(TargetSpec.parse(f"{TARGET}{opset}")))
        said = any(one.code == "opset" for one in matrix.advisories)
        codes[opset] = (Walk([call], matrix, "2.13.0").resolution(0).code, said)
    refused, taken = ("dtype-not-supported", False), ("registered", True)
    assert codes == {
        "": taken, "+opset18": refused, "+opset19": refused, "+opset20": taken,
        "+opset24": ("registered", False),
    }  # fmt: skip
    assert database.opsets(target) == ("20", "18", "19", "21", "22", "23", "24")


@pytest.mark.parametrize(
    ("target", "message", "hint"),
    [
        ("onnxruntime-cpu+opset99", "onnxruntime-cpu is written in opset 18 to 24, not in 99",
         "leave it out for opset 20"),
        ("nvidia-h100+opset21", "nvidia-h100 is not written in operators of ONNX",
         "leave out +opset21"),
    ],
)  # fmt: skip
def test_another_opset_is_refused(target: str, message: str, hint: str, database: Database) -> None:
    with pytest.raises(UsageError) as error:
        database.resolve(TargetSpec.parse(target))
    assert (str(error.value.message), str(error.value.hint)) == (message, hint)


def test_opsets_are_told_where_one_refuses_more() -> None:
    written = text({}, {"torch": "2.13.0"}, {"18..19": {"aten::amax": {"bool": "type ReduceMax"}}})
    assert 'opsets: {"18..19": {aten::amax: {bool: "type ReduceMax"}}}' in written


@pytest.mark.parametrize(("opset", "code"), [(18, "registered"), (19, "dtype-not-supported")])
def test_a_definition_stands_in_for_a_kernel_until_what_it_is_made_of_changes(
    opset: int, code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec.parse(f"{TARGET}+opset{opset}")))
    call = Node(OpName.parse("aten::relu"), (("self", WHOLE),))
    assert Walk([call], matrix, "2.13.0").resolution(0).code == code


def test_onnx_itself_has_the_definitions_that_are_taken_for_kernels() -> None:
    defs = pytest.importorskip("onnx.defs", reason="120 MB: pip install 'opcheck[onnx]'")
    found = {
        opset: spelled_out(defs.get_schema("Relu", opset, ""), opset) for opset in (17, 18, 19, 24)
    }
    assert found == {17: False, 18: True, 19: False, 24: False}
    assert spelled_out(defs.get_schema("Celu", 20, ""), 20)  # made for the types that it is given
