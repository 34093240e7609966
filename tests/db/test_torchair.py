"""TorchAir: converters read by eye in its files, and what calls come to in a graph."""

from collections import Counter
from pathlib import Path

import pytest

from opcheck.db.importers.ascend_torchair import TorchairImporter, registered
from opcheck.db.importers.ascend_torchair.extract import converters, overload, read, text
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetKind, TargetSpec
from opcheck.model.trace import Composite, Constant, Node, OpName, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.calls import dense

TARGET = "ascend-910b:torchair"
FOLDER = "python/torchair/_ge_concrete_graph/ge_converter/"
CELLS = (
    ("26.0.0", "aten::add.Tensor", "aten/add.py", 16, "converter"),
    ("26.0.0", "aten::amax", "aten/amax.py", 5, "raises"),
    ("26.0.0", "aten::silu", "aten/silu.py", 5, "converter"),
    ("26.0.0", "aten::sort.stable", "aten/sort.py", 38, "raises"),
    ("7.2.0", "aten::isnan", "aten/isnan.py", 5, "raises"),
    ("26.0.0", "aten::mm", "aten/mm.py", 5, "converter"),
    ("26.0.0", "aten::topk", "aten/topk.py", 5, "converter"),
    ("26.0.0", "aten::index_put", "aten/index_put.py", 5, "raises"),
    ("26.0.0", "aten::convolution", "aten/convolution.py", 182, "converter"),
    ("7.2.0", "aten::convolution", "aten/convolution.py", 172, "converter"),
    ("26.0.0", "aten::native_layer_norm", "aten/native_layer_norm.py", 26, "converter"),
    ("7.3.0", "aten::cumprod", "aten/cumprod.py", 5, "raises"),
    ("7.3.0", "aten::where.self", "aten/where.py", 12, "converter"),
    ("26.0.0", "aten::roll", "aten/roll.py", 5, "raises"),
    ("26.0.0", "aten::softplus", "aten/softplus.py", 5, "raises"),
    ("26.0.0", "aten::gelu", "aten/gelu.py", 9, "converter"),
    ("7.2.0", "aten::scatter.src", "aten/scatter.py", 31, "converter"),
    ("26.0.0", "aten::min.dim", "aten/min.py", 17, "raises"),
    ("26.0.0", "aten::var.correction", "aten/var.py", 25, "raises"),
    ("26.0.0", "aten::triu", "aten/triu.py", 8, "converter"),
    ("26.0.0", "aten::add_.Tensor", "aten/add.py", 16, "aten::add.Tensor"),
    ("26.0.0", "aten::lift_fresh", "aten/lift_fresh_copy.py", 5, "aten::lift_fresh_copy"),
    ("26.0.0", "npu::npu_fusion_attention", "custom/npu_fusion_attention.py", 5, "converter"),
)
FLOAT, EIGHT, FLAG = (dense(2, 3, dtype=name) for name in ("float32", "int8", "bool"))
LINE = dense(4, dtype="float32")
CHANNELS_LAST = Constant("memory_format", "channels_last")
CALLS: tuple[tuple[str, dict[str, Value], Verdict, str], ...] = (
    ("aten::relu", {"self": FLOAT}, Verdict.NATIVE, "registered"),
    ("aten::relu_", {"self": FLOAT}, Verdict.NATIVE, "registered"),
    ("aten::amax", {"self": FLOAT}, Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::logcumsumexp", {"self": FLOAT}, Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::cauchy", {"self": FLOAT}, Verdict.UNSUPPORTED, "no-converter"),
    ("aten::mm", {"self": FLOAT, "mat2": FLOAT}, Verdict.NATIVE, "registered"),
    ("aten::mm", {"self": FLOAT, "mat2": EIGHT}, Verdict.UNSUPPORTED, "dtype-not-supported"),
    ("aten::bmm", {"self": EIGHT, "mat2": EIGHT}, Verdict.UNSUPPORTED, "dtype-not-supported"),
    ("aten::_unsafe_index.Tensor", {"self": FLAG}, Verdict.UNSUPPORTED, "dtype-not-supported"),
    ("aten::eq.Tensor", {"self": FLOAT, "other": EIGHT}, Verdict.UNSUPPORTED,
     "dtype-not-supported"),
    ("aten::eq.Tensor", {"self": FLOAT, "other": FLOAT}, Verdict.NATIVE, "registered"),
    ("aten::_native_batch_norm_legit_no_training", {"input": LINE}, Verdict.UNSUPPORTED,
     "rank-not-supported"),
    ("aten::batch_norm_elemt", {"input": FLOAT}, Verdict.UNSUPPORTED, "rank-not-supported"),
    ("aten::clone", {"self": FLOAT, "memory_format": CHANNELS_LAST}, Verdict.UNSUPPORTED,
     "memory-format-not-supported"),
    ("aten::empty_like", {"self": FLOAT, "memory_format": CHANNELS_LAST}, Verdict.UNSUPPORTED,
     "memory-format-not-supported"),
    ("aten::embedding", {"weight": FLOAT, "sparse": Constant("bool", "True")}, Verdict.UNSUPPORTED,
     "value-not-supported"),
    ("aten::upsample_bilinear2d", {"self": FLOAT}, Verdict.DECOMPOSED,
     "decomposed-before-conversion"),
    ("aten::multilabel_margin_loss_forward", {"self": FLOAT}, Verdict.UNSUPPORTED,
     "part-not-converted"),
    ("aten::upsample_linear1d.vec", {"input": FLOAT}, Verdict.DECOMPOSED,
     "decomposed-before-conversion"),
    ("aten::lstm.input", {"input": FLOAT}, Verdict.UNKNOWN, "not-stated"),
    ("aten::zero_", {"self": FLOAT}, Verdict.NATIVE, "registered"),
    ("aten::_reshape_alias", {"self": FLOAT}, Verdict.NATIVE, "registered"),
    ("aten::nonzero", {"self": FLOAT}, Verdict.FALLBACK, "graph-break"),
    ("aten::_local_scalar_dense", {"self": LINE}, Verdict.FALLBACK, "graph-break"),
    ("aten::index.Tensor", {"self": FLOAT, "indices": (FLAG,)}, Verdict.FALLBACK, "graph-break"),
    ("aten::index.Tensor", {"self": FLOAT, "indices": (dense(2, dtype="int64"),)}, Verdict.NATIVE,
     "registered"),
)  # fmt: skip


def matrix(database: Database, text: str = TARGET) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(text)))


@pytest.mark.parametrize(("release", "op", "path", "line", "kernel"), CELLS)
def test_cells_read_by_eye(
    release: str, op: str, path: str, line: int, kernel: str, database: Database
) -> None:
    entry = matrix(database, f"{TARGET}@{release}").entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert (evidence.source, evidence.path, evidence.line) == (
        "Ascend/torchair", f"{FOLDER}{path}", line,
    )  # fmt: skip


@pytest.mark.parametrize(("op", "given", "verdict", "code"), CALLS)
def test_calls_are_converted_broken_out_or_refused(
    op: str, given: dict[str, Value], verdict: Verdict, code: str, database: Database
) -> None:
    node = Node(OpName.parse(op), tuple(given.items()))
    found = Walk([node], matrix(database), "2.13.0").resolution(0)
    assert (found.verdict, found.code) == (verdict, code)
    assert found.evidence


def test_what_has_no_converter_is_told_by_its_error(database: Database) -> None:
    node = Node(OpName.parse("aten::cauchy"), (("self", FLOAT),))
    found = Walk([node], matrix(database), "2.13.0").resolution(0)
    assert found.text == (
        "ascend-torchair has no converter for aten::cauchy and raises, "
        '"Ascend op converter is not implemented of: aten::cauchy"'
    )
    with speaking(Language.CHINESE):
        assert tell(found.text) == (
            "ascend-torchair 没有 aten::cauchy 的 converter，会抛出异常："
            "“Ascend op converter is not implemented of: aten::cauchy”"
        )


def test_a_call_of_a_host_tensor_is_asked_of_the_graph(database: Database) -> None:
    steps = Walk([], matrix(database), "2.13.0").steps(
        Node(OpName.parse("aten::cauchy"), (("self", FLOAT),))
    )
    assert [tell(step.text) for step in steps][-1] == (
        "host: what a graph holds is not run by PyTorch"
    )


def test_implicit_composites_reach_no_graph(database: Database) -> None:
    found = matrix(database)
    assert found.kind is TargetKind.COMPILER and found.compiles_graphs and not found.exports
    assert found.inherits == {Composite.IMPLICIT}
    assert {"aten::matmul", "aten::reshape", "aten::linear"}.isdisjoint(found.entries)


@pytest.mark.parametrize(
    ("release", "every", "raising"), [("7.2.0", 2012, 1611), ("26.0.0", 2071, 1596)]
)
def test_three_quarters_of_the_converters_only_raise(
    release: str, every: int, raising: int
) -> None:
    counted = Counter(raises for _, raises in registered(release).values())
    assert (counted.total(), counted[True]) == (every, raising)


def test_chips_are_those_that_a_release_names(database: Database) -> None:
    assert [t.sdk for t in database.releases("ascend-910c:torchair")] == ["26.0.0"] * 3
    assert {t.sdk for t in database.releases(TARGET)} == {"7.2.0", "7.3.0", "26.0.0"}


CODE = '''
@declare_supported([Support(F32(2, 2))])
@register_fx_node_ge_converter(torch.ops.aten.abs.default)
def one(self, meta_outputs=None):
    """NB: aten::abs(Tensor self) -> Tensor"""
    return ge.Abs(self)


@register_fx_node_ge_converter(torch.ops.aten.abs.out)
def two(self, out=None):
    """NB: aten::abs.out"""
    raise NotImplementedError("torch.ops.aten.abs.out ge_converter is not implemented!")


@register_fx_node_ge_converter(operator.add)
def three(a, b):
    if a:
        raise RuntimeError("no")
    return a


@other(torch.ops.aten.neg.default)
def four(self): ...


@register_fx_node_ge_converter(torch.ops.npu.npu_x.default)
def five(self):
    if self:
        raise RuntimeError("no")
    return self
'''


def test_converters_are_read_from_decorators() -> None:
    assert list(read(CODE)) == [
        ("aten::abs", 4, False), ("aten::abs.out", 10, True), ("npu::npu_x", 27, False),
    ]  # fmt: skip
    assert overload("torch.ops.aten.sym_size") == overload("math.floor") == ""


def test_the_file_of_converters_has_the_releases_of_each_place() -> None:
    places = {"aten::abs": {("aten/abs.py:4", False): ["1"], ("aten/abs.py:9", True): ["2"]}}
    assert text(places).splitlines()[-1] == (
        'aten::abs: [{at: aten/abs.py:4, in: ["1"]}, {at: aten/abs.py:9, raises: true, in: ["2"]}]'
    )


def test_what_is_no_repository_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError):
        converters(tmp_path, ["26.0.0"])


def test_an_unknown_release_is_told(sources: Path) -> None:
    with pytest.raises(DatabaseError, match=r"no converters of TorchAir 0\.1 were read"):
        TorchairImporter().run(sources, "0.1")
