"""Core ML: what calls come to, and how converters are read."""

import gzip
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.db.importers.coreml import CoreMlImporter
from opcheck.db.importers.coreml.domains import Definition, definitions
from opcheck.db.importers.coreml.extract import (
    Argument,
    Converter,
    converters,
    counts,
    refusals,
    sanitized,
    schemas,
)
from opcheck.db.importers.coreml.reader import Reader
from opcheck.db.importers.coreml.values import UNKNOWN, Var
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Composite, Node, OpName, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.calls import dense, node

FLOAT, HALF, WHOLE = (dense(2, 3, dtype=name) for name in ("float32", "float16", "int64"))
COMPLEX = dense(2, 3, dtype="complex64")


def _computed(op: str, argument: str, of: str, **arguments: Value) -> Node:
    """A call, one of whose arguments is computed of this."""
    call = node(op, **arguments, **{argument: dense(3)})
    return replace(call, modes=((f"computed {argument}", of),))


CALLS: tuple[tuple[str, str, Value, Verdict, str], ...] = (
    ("coreml-cpu", "aten::relu", FLOAT, Verdict.NATIVE, "registered"),
    ("coreml-cpu", "aten::relu_", FLOAT, Verdict.NATIVE, "registered"),
    ("coreml-cpu", "aten::relu", WHOLE, Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::selu", HALF, Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::selu", FLOAT, Verdict.NATIVE, "registered"),
    ("coreml-cpu", "aten::kthvalue", FLOAT, Verdict.UNSUPPORTED, "no-converter"),
    ("coreml-cpu", "aten::diff", FLOAT, Verdict.UNSUPPORTED, "no-converter"),
    ("coreml-cpu", "aten::relu", dense(2, dtype="bfloat16"), Verdict.UNSUPPORTED,
     "converter-raises"),
    ("coreml-cpu", "aten::relu", dense(2, dtype="uint8"), Verdict.UNKNOWN,
     "numbers-not-looked-up"),
    ("coreml-cpu", "aten::argmax", dense(), Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::argmax", FLOAT, Verdict.NATIVE, "registered"),
    ("coreml-cpu", "aten::relu", dense(1, 1, 1, 1, 1, 2), Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::view", dense(1, 1, 1, 1, 1, 2), Verdict.NATIVE, "registered"),
    ("coreml-cpu", "aten::var", HALF, Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::var", FLOAT, Verdict.NATIVE, "registered"),
    ("coreml-cpu", "aten::roll", FLOAT, Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::unbind.int", FLOAT, Verdict.NATIVE, "registered"),
    ("coreml-cpu", "aten::softshrink", FLOAT, Verdict.UNKNOWN, "decomposed-in-capture"),
    ("coreml-cpu", "aten::neg", COMPLEX, Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::mul.Tensor", COMPLEX, Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::permute", COMPLEX, Verdict.UNSUPPORTED, "converter-raises"),
    ("coreml-cpu", "aten::add.Tensor", COMPLEX, Verdict.UNKNOWN, "numbers-not-looked-up"),
    ("coreml-cpu", "aten::clone", COMPLEX, Verdict.UNKNOWN, "numbers-not-looked-up"),
    ("coreml-gpu", "aten::relu", FLOAT, Verdict.UNKNOWN, "placement-not-known"),
    ("coreml-ane", "aten::relu", WHOLE, Verdict.UNSUPPORTED, "converter-raises"),
)  # fmt: skip
IMAGE, KERNEL = dense(1, 2, 4, 4), dense(2, 2, 3, 3)
HALF_IMAGE, GRID = dense(1, 2, 4, 4, dtype="float16"), dense(1, 3, 3, 2)
UPSAMPLING: dict[str, Value] = {"input": IMAGE, "weight": KERNEL, "stride": (3, 3)}
WITH_ARGUMENTS: tuple[tuple[Node, str], ...] = (
    (node("aten::conv_transpose2d.input", **UPSAMPLING), "registered"),
    (node("aten::conv_transpose2d.input", **UPSAMPLING, output_padding=(1, 1)),
     "converter-raises"),
    (node("aten::conv_transpose2d.input", **UPSAMPLING, padding=(1, 1), output_padding=(1, 1)),
     "registered"),
    (node("aten::conv_transpose2d.input", input=dense(2, 4, 4), weight=KERNEL, padding=(1, 1),
          output_padding=(1, 1)), "converter-raises"),
    (node("aten::conv_transpose3d.input", input=dense(1, 2, 4, 4, 4), weight=dense(2, 2, 3, 3, 3),
          padding=(1, 1, 1), output_padding=(1, 1, 1)), "converter-raises"),
    (node("aten::grid_sampler", input=IMAGE, grid=GRID), "registered"),
    (node("aten::grid_sampler", input=HALF_IMAGE, grid=GRID), "converter-raises"),
    (node("aten::linalg_vector_norm", self=HALF), "registered"),
    (node("aten::linalg_vector_norm", self=HALF, ord=3), "converter-raises"),
    (node("aten::linalg_vector_norm", self=HALF, ord=float("inf")), "registered"),
    (node("aten::linalg_vector_norm", self=HALF, ord=3.0), "registered"),
    (node("aten::linalg_vector_norm", self=FLOAT, ord=3), "registered"),
    (node("aten::layer_norm", input=HALF, normalized_shape=(3,)), "registered"),
    (node("aten::layer_norm", input=HALF, normalized_shape=(3,), weight=dense(3, dtype="float16")),
     "converter-raises"),
    (node("aten::layer_norm", input=FLOAT, normalized_shape=(3,), weight=dense(3)), "registered"),
    (node("aten::instance_norm", input=HALF, weight=dense(3, dtype="float16")),
     "converter-raises"),
    (_computed("aten::instance_norm", "weight", "inputs", input=FLOAT), "converter-raises"),
    (_computed("aten::instance_norm", "weight", "parameters", input=FLOAT), "registered"),
    (_computed("aten::layer_norm", "bias", "inputs", input=FLOAT, normalized_shape=(3,)),
     "converter-raises"),
    (node("aten::nan_to_num", self=FLOAT), "registered"),
    (node("aten::nan_to_num", self=WHOLE), "converter-raises"),
    (node("aten::prelu", self=dense(), weight=dense()), "converter-raises"),
    (node("aten::narrow.Tensor", self=FLOAT, dim=0, start=dense(dtype="int64"), length=1),
     "not-captured"),
    (node("aten::narrow", self=FLOAT, dim=0, start=0, length=1), "registered"),
    (node("aten::linalg_norm", self=FLOAT, ord=2, dim=(0, 1)), "converter-raises"),
    (node("aten::linalg_norm", self=FLOAT, ord=2, dim=(0,)), "registered"),
    (node("aten::linalg_norm", self=FLOAT), "registered"),
    (node("aten::native_layer_norm", input=FLOAT, normalized_shape=(3,)), "values-not-known"),
    (node("aten::affine_grid_generator", theta=dense(1, 2, 3)), "converter-raises"),
    (node("aten::col2im", self=FLOAT, kernel_size=(2, 2), stride=(2, 2), dilation=(1, 1)),
     "registered"),
    (node("aten::col2im", self=FLOAT, kernel_size=(2, 2), stride=(1, 1), dilation=(1, 1)),
     "converter-raises"),
    (node("aten::col2im", self=FLOAT, kernel_size=(2, 2), stride=(2, 2), dilation=(2, 2)),
     "converter-raises"),
)  # fmt: skip
COMPOSITES = {"aten::selu", "aten::diff"}
MIL = {
    "a/iOS15/unary.py": """
class unary(Operation):
    input_spec = InputSpec(x=TensorInputType(type_domain="T"), y=TensorInputType(type_domain="T"))
    type_domains = {"T": (types.fp16, types.fp32)}
    def type_inference(self):
        return self.x.sym_type
@register_op
class exp(unary):
    pass
@register_op
class cast(Operation):
    input_spec = InputSpec(x=TensorInputType(type_domain=(types.int32, types.bool)))
""",
    "a/iOS17/unary.py": """
from mil.iOS15.unary import exp as _exp_iOS15
@register_op(opset_version=1)
class exp(_exp_iOS15):
    type_domains = {"T": (types.fp16, types.fp32, types.int32)}
""",
}
SOURCE = """
@register_torch_op(torch_alias=["sum.dim_intlist"])
def plain(context, node):
    x, other = _get_inputs(context, node, expected=[2, 3])
    context.add(mb.exp(x=x))

@register_torch_op
def cast_first(context, node):
    x = _get_inputs(context, node)[0]
    if types.is_bool(x.dtype):
        x = mb.cast(x=x, dtype="fp32")
    context.add(mb.exp(x=x))

@register_torch_op
def one_way(context, node):
    x = _get_inputs(context, node)[0]
    if x.rank == 3:
        raise ValueError("three")
    helper(x)

def helper(y):
    return mb.exp(x=y, y=2.0)

@register_torch_op
def with_number(context, node):
    inputs = _get_inputs(context, node)
    nargs = len(inputs)
    scale = inputs[1] if nargs > 1 else 1.0
    context.add(mb.exp(x=inputs[0], y=scale))
"""


@pytest.mark.parametrize(("target", "op", "given", "verdict", "code"), CALLS)
def test_calls_end_where_a_converter_refuses_them(
    target: str, op: str, given: Value, verdict: Verdict, code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(target)))
    composite = Composite.IMPLICIT if op in COMPOSITES else None
    node = Node(OpName.parse(op), (("self", given),), (given,), composite, children=())
    found = Walk([node], matrix, "2.13").resolution(0)
    assert (found.verdict, found.code) == (verdict, code)


@pytest.mark.parametrize(("call", "code"), WITH_ARGUMENTS)
def test_what_a_converter_refuses_rests_on_the_arguments(
    call: Node, code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec("coreml-cpu")))
    assert Walk([call], matrix, "2.13").resolution(0).code == code


def test_a_cell_cites_the_line_of_its_converter(database: Database) -> None:
    entry = database.matrix(database.resolve(TargetSpec.parse("coreml-cpu@9.0"))).entries[
        "aten::relu"
    ]
    (evidence,) = entry.evidence
    assert evidence.path.startswith("coremltools/converters/mil/frontend/torch/ops.py")
    assert evidence.line is not None


def test_composites_are_taken_apart_for_releases_of_torch_before_2_6(database: Database) -> None:
    older = database.matrix(database.resolve(TargetSpec.parse("coreml-cpu@8.3")))
    newer = database.matrix(database.resolve(TargetSpec.parse("coreml-cpu@9.0")))
    assert "aten::linear" not in older.entries
    assert newer.entries["aten::linear"].implementation == ("converter",)


@pytest.mark.parametrize(
    ("overload", "name"),
    [("aten::sum.dim_IntList", "sum.dim_intlist"), ("aten::add.Tensor", "add"),
     ("aten::relu", "relu"), ("torchvision::nms", "torchvision::nms"),
     ("aten::pow.Tensor_Scalar", "pow")],
)  # fmt: skip
def test_overloads_have_the_names_of_the_registry(overload: str, name: str) -> None:
    assert sanitized(overload) == name


def test_a_newer_definition_takes_the_place_of_an_older_one() -> None:
    found = definitions(MIL)
    assert found["exp"].taken("x") == frozenset({"fp16", "fp32", "int32"})
    assert found["exp"].gives == "x"
    assert found["cast"] == Definition({"x": frozenset({"int32", "bool"})}, {})


@pytest.mark.parametrize(
    ("name", "dtype", "line"),
    [("plain", "bool", 5), ("plain", "fp16", 0), ("cast_first", "bool", 0),
     ("one_way", "fp32", 0), ("one_way", "int32", 22)],
)  # fmt: skip
def test_a_call_is_refused_where_each_way_ends_in_an_error(
    name: str, dtype: str, line: int
) -> None:
    found = Reader(SOURCE, definitions(MIL)).refusal(name, [Var(dtype), UNKNOWN])
    assert (found.line if found else 0) == line


def test_a_tensor_that_the_result_is_part_of_is_an_argument_too(tmp_path: Path) -> None:
    path = tmp_path / "functions.yaml.gz"
    function = "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]"
    path.write_bytes(gzip.compress(f'- func: "{function}"\n'.encode()))
    names = [(each.name, each.tensor) for each in schemas(path)["aten::unbind.int"]]
    assert names == [("self", True), ("dim", False)]


def test_a_number_becomes_a_constant_that_has_a_dtype_of_its_own() -> None:
    arguments = [
        Argument("self", tensor=True, default=None),
        Argument("scale", tensor=False, default="1", numbers=("float", "int")),
    ]
    converter = dict(converters("ops", SOURCE))["with_number"]
    found = list(refusals(Reader(SOURCE, definitions(MIL)), converter, arguments))
    line = SOURCE.splitlines().index("    context.add(mb.exp(x=inputs[0], y=scale))") + 1
    assert found == [
        ("exp", "fp32", line, ("self",), ("scale", "int")),
        ("exp", "fp16", line, ("self",), ("scale", "float")),
        ("exp", "fp16", line, ("self",), ("scale", "int")),
        ("exp", "int32", line, ("self",), ("scale", "float")),
        ("exp", "bool", line, ("self",), None),
    ]


def test_aliases_and_counts_are_read_of_a_converter() -> None:
    found = dict(converters("ops", SOURCE))
    assert found["sum.dim_intlist"] == found["plain"] == Converter("ops", "plain", 3, 2, 3)
    arguments = [
        Argument("self", tensor=True, default=None),
        Argument("dim", tensor=False, default="None"),
        Argument("keepdim", tensor=False, default="False"),
        Argument("dtype", tensor=False, default="None"),
    ]
    assert list(counts(found["plain"], arguments)) == [
        ("few", {"dim": "None", "keepdim": "False", "dtype": "None"}),
        ("many", {"dtype": "None"}),
    ]


def test_a_release_that_was_not_read_is_refused(sources: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nothing of Core ML 0\.1 was read"):
        CoreMlImporter().run(sources, "0.1")
