"""Torch-TensorRT's converters, decompositions and validators, against figures others took."""

import csv
import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from opcheck.db.importers.nvidia_tensorrt import (
    TensorrtImporter,
    converters,
    overload,
    registered,
    taken_apart_first,
)
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.trace import Composite, Constant, Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import (
    check_evidence,
    check_names,
    matrix,
    newest_of_each_release,
)

_RELEASES = (
    "2.2.0", "2.3.0", "2.4.0", "2.5.0", "2.6.0", "2.7.0",
    "2.8.0", "2.9.0", "2.10.0", "2.11.0", "2.12.1", "2.13.0",
)  # fmt: skip
_NAME = "nvidia-tensorrt"
_BF16 = Constant("dtype", "bfloat16")
_GRID = TensorMeta("int64", (2, 3), (3, 1))


def _tensor(*shape: int, dtype: str = "float32") -> TensorMeta:
    return TensorMeta(dtype, shape, tuple(1 for _ in shape))


_ATTENTION = "aten::scaled_dot_product_attention"
_Q, _LONG, _FEW = _tensor(1, 8, 16, 64), _tensor(1, 8, 99, 64), _tensor(1, 2, 16, 64)
_MASK = _tensor(8, dtype="bool")


def _resolution(database: Database, target: str, op: str, **given: Value) -> Resolution:
    found = matrix(database, target)
    return Walk([Node(OpName.parse(op), tuple(given.items()))], found, "2.13.0").resolution(0)


def test_releases_are_the_tags(sources: Path) -> None:
    assert TensorrtImporter().releases(sources) == _RELEASES


def test_counts_of_2_13_0(sources: Path) -> None:
    found = converters(sources / _NAME, "2.13.0")
    assert len(found) == 238
    assert sum("dynamic" in how for how in found.values()) == 219
    assert sum("validated" in how for how in found.values()) == 50


@pytest.mark.parametrize("release", ["2.5.0", "2.8.0", "2.10.0", "2.12.1", "2.13.0"])
def test_the_matrix_of_converters_agrees_with_each_list(release: str, sources: Path) -> None:
    with (sources / _NAME / f"converters@v{release}.csv").open(newline="") as file:
        listed = {row["op"] for row in csv.DictReader(file)}
    assert set(converters(sources / _NAME, release)) == listed


@pytest.mark.parametrize("release", _RELEASES)
def test_every_converter_of_an_overload_is_an_entry(release: str, sources: Path) -> None:
    """But of what torch takes apart before."""
    entries = registered(sources, release)
    never = {f"aten::{name}" for name in taken_apart_first(release)}
    for key in converters(sources / _NAME, release):
        if op := overload(key):
            apart = op.partition(".")[0] in never
            assert entries[op]["impl"] == ["decomposition" if apart else "converter"], key


def test_core_operators_of_2_13_0(sources: Path) -> None:
    """163 have a converter; what has neither that nor a decomposition is as the facts say."""
    entries = registered(sources, "2.13.0")
    core = [f"aten::{name}" for name in _core(sources / "pytorch")]
    kinds = Counter(entries[op]["impl"][0] if op in entries else "" for op in core)
    assert kinds == {"converter": 163, "decomposition": 20, "": 10}
    assert {op for op in core if op not in entries and "::sym_" not in op} == {
        "aten::convolution_backward", "aten::_fft_r2c", "aten::_fft_c2r",
        "aten::_native_batch_norm_legit", "aten::_local_scalar_dense",
        "aten::max_pool2d_with_indices", "aten::max_pool3d_with_indices",
    }  # fmt: skip


def _core(folder: Path) -> list[str]:
    packed = (folder / "native_functions@2.13.0.yaml.gz").read_bytes()
    declared: list[dict[str, Any]] = yaml.load(gzip.decompress(packed), yaml.CSafeLoader)
    return [
        item["func"].partition("(")[0]
        for item in declared
        if "core" in str(item.get("tags", "")).replace("[", " ").replace(",", " ").split()
        or "core" in item.get("tags", ())
    ]


@pytest.mark.parametrize(
    ("op", "implementation"),
    [
        ("aten::abs", ("converter",)),
        ("aten::relu_", ("aten::relu",)),
        ("aten::matmul", ("converter",)),
        ("aten::addcmul", ("decomposition",)),
        ("aten::index_put_", ("aten::index_put",)),
        ("prims::sum", ("converter",)),
    ],
)
def test_cells_read_by_eye(op: str, implementation: tuple[str, ...], database: Database) -> None:
    entry = matrix(database, f"{_NAME}@2.13.0").entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == implementation
    assert evidence.commit == "64f0ed46c01c61fe2a7cc93b47f393c3a7da9f75"
    assert evidence.path.startswith("py/torch_tensorrt/dynamo/")


def test_what_has_no_converter_splits_the_engine_and_stays_on_the_gpu(database: Database) -> None:
    resolution = _resolution(database, _NAME, "aten::_fft_r2c", self=_tensor(8))
    assert (resolution.verdict, resolution.code, resolution.fallback_bytes) == (
        Verdict.FALLBACK,
        "runs-elsewhere",
        0,
    )
    assert "PyTorch runs on the same GPU" in resolution.text


def test_only_implicit_composites_are_taken_apart(database: Database) -> None:
    assert matrix(database, _NAME).inherits == {Composite.IMPLICIT}


def test_what_is_decomposed_first_is_no_converter_and_less_sure(database: Database) -> None:
    resolution = _resolution(database, _NAME, "aten::addcmul", self=_tensor(8))
    assert (resolution.verdict, resolution.code, resolution.confidence) == (
        Verdict.DECOMPOSED,
        "decomposed-before-conversion",
        Confidence.LOW,
    )


@pytest.mark.parametrize(
    ("op", "given", "code"),
    [
        ("aten::topk", {"self": _tensor(2, 9000), "k": 3840}, "registered"),
        ("aten::topk", {"self": _tensor(2, 9000), "k": 3841}, "value-not-supported"),
        ("aten::topk", {"self": _tensor(9000), "k": 2}, "rank-not-supported"),
        ("aten::mul.Tensor", {"self": _MASK, "other": _MASK}, "dtype-not-supported"),
        ("aten::eq.Scalar", {"self": _MASK, "other": False}, "dtype-not-supported"),
        ("aten::sort", {"self": _tensor(9000, 4)}, "value-not-supported"),
        ("aten::sort", {"self": _tensor(9000, 4), "dim": 1}, "registered"),
        ("aten::sort", {"self": _tensor(9000, 4), "descending": True}, "registered"),
        ("aten::sort", {"self": _tensor(), "dim": 0}, "rank-not-supported"),
        ("aten::sort", {"self": _tensor(9000, 4), "dim": 0}, "size-not-supported"),
        ("aten::sort", {"self": _tensor(4, 9000), "dim": 1}, "size-not-supported"),
        ("aten::sort", {"self": _tensor(4, 9000), "dim": -1}, "value-not-supported"),
        ("aten::sort", {"self": _tensor(4, 9000), "descending": True}, "size-not-supported"),
        ("aten::relu", {"self": _tensor(*[2] * 8)}, "registered"),
        ("aten::relu", {"self": _tensor(*[2] * 9)}, "rank-not-supported"),
        ("aten::relu", {"self": _tensor(8, dtype="int16")}, "dtype-not-supported"),
        ("aten::max_pool2d", {"self": _tensor(1, 1, 8, 8), "kernel_size": (2, 2)}, "registered"),
        ("aten::max_pool2d", {"self": _tensor(8), "ceil_mode": True}, "value-not-supported"),
        ("aten::max_pool2d", {"self": _tensor(8), "dilation": (2, 2)}, "value-not-supported"),
        ("aten::avg_pool2d", {"self": _tensor(8), "divisor_override": 3}, "value-not-supported"),
        ("aten::bitwise_not", {"self": _tensor(8, dtype="int64")}, "dtype-not-supported"),
        ("aten::bitwise_not", {"self": _tensor(8, dtype="bool")}, "registered"),
        ("aten::bitwise_not_", {"self": _tensor(8, dtype="int64")}, "dtype-not-supported"),
        ("aten::add.Tensor", {"self": _tensor(8, dtype="float64")}, "dtype-not-supported"),
        ("aten::scatter_reduce.two", {"include_self": False}, "value-not-supported"),
        ("aten::scatter_add", {"src": _tensor(4), "index": _tensor(3)}, "shape-not-supported"),
        ("aten::scatter_add", {"src": _tensor(256), "index": _tensor(256)}, "one-after-the-other"),
        ("aten::scatter_add", {"src": _tensor(255), "index": _tensor(255)},
         "decomposed-before-conversion"),
        ("aten::scatter.src", {"src": _tensor(4, 4), "index": _tensor(3, 4)},
         "shape-not-supported"),
        ("aten::scatter.src", {"src": _tensor(4, 4), "index": _tensor(4, 4)}, "registered"),
        ("aten::select_scatter", {"index": -1}, "value-not-supported"),
        ("aten::select_scatter", {"index": -2}, "decomposed-before-conversion"),
        ("aten::slice_scatter", {"self": _tensor(4, 4), "src": _tensor(4, 2), "dim": -1},
         "value-not-supported"),
        ("aten::slice_scatter", {"self": _tensor(4, 4), "src": _tensor(4, 1), "dim": -1},
         "decomposed-before-conversion"),
        ("aten::native_group_norm", {"input": _tensor(4, 6)}, "rank-not-supported"),
        ("aten::index_put", {"indices": (_GRID,), "values": _tensor(2, 3, 8)},
         "rank-not-supported"),
        ("aten::index_put", {"indices": (_GRID,), "values": _tensor(2, 3)}, "registered"),
        ("aten::cat", {"tensors": (_tensor(2, 3), _tensor(2, 3))}, "registered"),
        ("aten::cat", {"tensors": (_tensor(2, 3), _tensor(0))}, "shape-not-supported"),
        ("aten::_to_copy", {"self": _tensor(8)}, "dtype-not-supported"),
        (_ATTENTION, {"query": _Q, "key": _LONG, "value": _LONG}, "registered"),
        (_ATTENTION, {"query": _Q, "key": _Q, "value": _LONG}, "shape-not-supported"),
        (_ATTENTION, {"query": _Q, "key": _FEW, "value": _FEW}, "shape-not-supported"),
        (_ATTENTION, {"query": _Q, "key": _FEW, "value": _FEW, "enable_gqa": True}, "registered"),
        (_ATTENTION, {"query": _Q, "key": _tensor(8, 16, 64)}, "shape-not-supported"),
        (
            "aten::_to_copy",
            {"self": _tensor(8), "dtype": Constant("dtype", "float64")},
            "dtype-not-supported",
        ),
        (
            "aten::_to_copy",
            {"self": _tensor(8), "dtype": _BF16},
            "registered",
        ),
    ],
)  # fmt: skip
def test_validators(op: str, given: dict[str, Value], code: str, database: Database) -> None:
    assert _resolution(database, f"{_NAME}@2.13.0", op, **given).code == code


@pytest.mark.parametrize(
    ("release", "op", "given", "code"),
    [
        ("2.3.0", "aten::topk", {"k": 9000}, "runs-elsewhere"),
        ("2.11.0", _ATTENTION, {"query": _Q, "key": _Q, "value": _Q}, "registered"),
        ("2.11.0", _ATTENTION, {"query": _Q, "key": _LONG, "value": _LONG}, "shape-not-supported"),
        ("2.11.0", _ATTENTION, {"query": _Q, "enable_gqa": True}, "value-not-supported"),
        ("2.3.0", "aten::sort", {"self": _tensor(9000)}, "fixed-shapes-only"),
        ("2.7.0", "aten::_to_copy", {"dtype": _BF16}, "dtype-not-supported"),
        ("2.2.0", "aten::add.Tensor", {"self": _tensor(8, dtype="int64")}, "dtype-not-supported"),
        ("2.2.0", "aten::relu", {"self": _tensor(8, dtype="bfloat16")}, "dtype-not-supported"),
        ("2.3.0", "aten::relu", {"self": _tensor(8, dtype="bfloat16")}, "registered"),
        ("2.6.0", "aten::mul.Tensor", {"self": _tensor(8, dtype="bfloat16"), "other": 2.0},
         "dtype-not-supported"),
        ("2.7.0", "aten::mul.Tensor", {"self": _tensor(8, dtype="bfloat16"), "other": 2.0},
         "registered"),
        ("2.3.0", "aten::native_layer_norm", {"input": _tensor(8, 8)}, "value-not-supported"),
        ("2.4.0", "aten::native_layer_norm", {"input": _tensor(8, 8)}, "one-output-only"),
        ("2.6.0", "aten::index_put", {"accumulate": True}, "value-not-supported"),
        ("2.6.0", "aten::index_put",
         {"self": _tensor(9, 5), "indices": (_tensor(2, dtype="int64"),), "values": _tensor(2, 5)},
         "shape-not-supported"),
        ("2.7.0", "aten::index_put",
         {"self": _tensor(9, 5), "indices": (_tensor(2, dtype="int64"),), "values": _tensor(2, 5)},
         "fixed-shapes-only"),
        ("2.13.0", "aten::index_put", {"accumulate": True}, "needs-plugin"),
        ("2.11.0", "aten::index_put", {"indices": (_tensor(2, 3, dtype="int64"),)},
         "rank-not-supported"),
        ("2.12.1", "aten::index_put", {"indices": (_tensor(2, 3, dtype="int64"),)}, "registered"),
        ("2.11.0", "aten::index_put", {"indices": (_tensor(2, 3, dtype="bool"),)},
         "rank-not-supported"),
        ("2.8.0", "aten::index_put", {"accumulate": True}, "value-not-supported"),
        ("2.11.0", "aten::index_copy_",
         {"dim": 2, "index": _tensor(1, dtype="int64"), "source": _tensor(1, 4, 1, 64)},
         "shape-not-supported"),
        ("2.12.1", "aten::index_copy_",
         {"dim": 2, "index": _tensor(1, dtype="int64"), "source": _tensor(1, 4, 1, 64)},
         "decomposed-before-conversion"),
        ("2.11.0", "aten::index_copy_",
         {"dim": 0, "index": _tensor(1, dtype="int64"), "source": _tensor(1, 4, 1, 64)},
         "decomposed-before-conversion"),
        ("2.7.0", "aten::mul.Tensor", {"self": _tensor(8, dtype="uint8"), "other": 2},
         "dtype-not-supported"),
        ("2.3.0", "aten::leaky_relu", {}, "decomposed-before-conversion"),
        ("2.4.0", "aten::leaky_relu", {}, "registered"),
        ("2.4.0", "aten::gelu", {}, "decomposed-before-conversion"),
        ("2.5.0", "aten::gelu", {}, "registered"),
        ("2.4.0", "aten::upsample_bilinear2d", {}, "decomposed-before-conversion"),
        ("2.2.0", "aten::scatter_add", {}, "runs-elsewhere"),
        ("2.4.0", "aten::scatter_add", {}, "decomposed-before-conversion"),
        ("2.7.0", "aten::masked_scatter", {}, "runs-elsewhere"),
        ("2.8.0", "aten::masked_scatter", {}, "decomposed-before-conversion"),
        ("2.3.0", _ATTENTION, {"query": _Q, "key": _Q, "value": _Q, "is_causal": True},
         "value-not-supported"),
        ("2.6.0", _ATTENTION, {"query": _Q, "key": _Q, "value": _Q, "is_causal": True},
         "decomposed-before-conversion"),
        ("2.6.0", _ATTENTION, {"query": _Q, "key": _Q, "value": _Q, "attn_mask": _MASK},
         "tensorrt-attention-mask-dropped"),
        ("2.7.0", _ATTENTION, {"query": _Q, "key": _Q, "value": _Q, "attn_mask": _MASK},
         "decomposed-before-conversion"),
        ("2.11.0", _ATTENTION, {"query": _Q, "key": _FEW, "value": _FEW, "enable_gqa": True},
         "value-not-supported"),
        ("2.4.0", "aten::native_group_norm", {"input": _tensor(1, 4, 3)}, "value-not-supported"),
        ("2.13.0", "aten::amax", {"self": _MASK}, "dtype-not-supported"),
        ("2.13.0", "aten::grid_sampler", {"input": _tensor(1, 2, 3, 4, 5)}, "rank-not-supported"),
        ("2.6.0", "aten::log1p", {"self": _tensor(8, dtype="bfloat16")}, "dtype-not-supported"),
        ("2.6.0", "aten::clamp", {"self": _tensor(8, dtype="bfloat16"), "min": 0.0},
         "dtype-not-supported"),
        ("2.13.0", "aten::copy_",
         {"self": TensorMeta("float32", (1, 2), (6, 3)),
          "src": TensorMeta("float32", (1, 2), (0, 0))}, "shape-not-supported"),
        ("2.13.0", "aten::copy_",
         {"self": TensorMeta("float32", (1, 2), (6, 3)),
          "src": TensorMeta("float32", (1, 2), (2, 1))}, "registered"),
        ("2.13.0", "aten::copy_",
         {"self": _tensor(1, 1), "src": TensorMeta("float32", (1, 1), (0, 0))},
         "shape-not-supported"),
        ("2.13.0", "aten::copy_", {"self": _tensor(1), "src": TensorMeta("float32", (1,), (0,))},
         "shape-not-supported"),
        ("2.8.0", "aten::mul.Tensor", {"self": _tensor(8, dtype="uint8"), "other": 2},
         "dtype-not-supported"),
        ("2.3.0", "aten::rsqrt", {"self": _tensor(8, dtype="int32")}, "dtype-not-supported"),
        ("2.8.0", "aten::index_add", {"index": _tensor(3, dtype="int64")}, "value-not-supported"),
        ("2.11.0", "aten::index_put", {"indices": (_tensor(3, dtype="int64"),)}, "registered"),
        ("2.8.0", "aten::index.Tensor", {"indices": (_tensor(8, dtype="bool"),)},
         "dtype-not-supported"),
        ("2.13.0", "aten::index.Tensor", {"indices": (_tensor(8, dtype="bool"),)},
         "needs-output-allocator"),
        ("2.13.0", "aten::_cdist_forward", {"x1": _tensor(8, 8)}, "fixed-shapes-only"),
    ],
)  # fmt: skip
def test_validators_are_those_of_the_release(
    release: str, op: str, given: dict[str, Value], code: str, database: Database
) -> None:
    assert _resolution(database, f"{_NAME}@{release}", op, **given).code == code


@pytest.mark.parametrize(
    ("op", "given", "verdict"),
    [
        ("aten::bitwise_and.Tensor", ("self", "other"), Verdict.FALLBACK),
        ("aten::bitwise_not", ("self",), Verdict.FALLBACK),
        ("aten::mul.Tensor", ("self", "other"), Verdict.UNSUPPORTED),
    ],
)
def test_a_type_that_no_engine_has_hinders_only_what_is_converted(
    op: str, given: tuple[str, ...], verdict: Verdict, database: Database
) -> None:
    numbers: dict[str, Value] = dict.fromkeys(given, _tensor(8, dtype="int64"))
    assert _resolution(database, f"{_NAME}@2.2.0", op, **numbers).verdict is verdict


@pytest.mark.slow
def test_every_cell_has_evidence_and_a_known_name(database: Database) -> None:
    for found in newest_of_each_release(database, _NAME):
        check_evidence(found)
        check_names(found)


def test_a_release_is_paired_with_one_torch_and_tells_of_small_blocks(database: Database) -> None:
    target = database.releases(_NAME)[-1]
    assert (str(target), target.device_type) == ("nvidia-tensorrt@2.13.0+torch2.13", "cuda")
    codes = [advisory.code for advisory in database.matrix(target).advisories]
    assert codes == ["small-blocks-run-in-pytorch"]


def test_an_unknown_release_names_the_known_ones(sources: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        TensorrtImporter().run(sources, "9.9")
    assert "9.9" in caught.value.message
    assert "2.13.0" in caught.value.hint
