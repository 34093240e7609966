"""What is registered under MPS, against figures that others took from the same lists."""

import csv
import shutil
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from opcheck.db.importers.apple import AppleImporter, registered
from opcheck.db.importers.shared import in_tree
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.trace import Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.kernels import under
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import (
    check_evidence,
    check_names,
    matrix,
    newest_of_each_release,
)
from tests.lang.told import in_chinese

_RELEASES = (
    "2.0.1", "2.1.2", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1",
    "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0",
)  # fmt: skip


def _tensor(*shape: int, dtype: str = "float32") -> TensorMeta:
    return TensorMeta(dtype, shape, tuple(1 for _ in shape))


def _resolution(database: Database, release: str, op: str, **given: Value) -> Resolution:
    found = matrix(database, f"apple-mps@{release}")
    return Walk([Node(OpName.parse(op), tuple(given.items()))], found, "2.13.0").resolution(0)


def test_releases_are_those_of_torch(sources: Path) -> None:
    assert AppleImporter().releases(sources) == _RELEASES


@pytest.mark.parametrize("release", _RELEASES)
def test_kernels_are_counted_as_others_did(release: str, sources: Path) -> None:
    with (sources / "pytorch" / "version-summary.csv").open(newline="") as file:
        counts = {row["torch"]: int(row["eff_MPS"]) for row in csv.DictReader(file)}
    dense = in_tree.kernels(sources / "pytorch", release, "MPS")
    assert len(dense) == counts[release]
    entries = registered(sources / "pytorch", release)
    assert {f"aten::{name}" for name in dense} <= set(entries)


@pytest.mark.parametrize(
    ("release", "on_host"),
    [
        (
            "2.0.1",
            {
                "bitwise_left_shift.Tensor_out", "bitwise_right_shift.Tensor_out",
                "embedding_renorm_", "linalg_svd", "linalg_svd.U", "im2col", "col2im",
                "upsample_nearest3d.vec",
            },
        ),
        (
            "2.6.0",
            {"embedding_renorm_", "linalg_svd", "linalg_svd.U", "col2im", "upsample_nearest3d.vec"},
        ),
        ("2.15.0", {"embedding_renorm_"}),
    ],
)  # fmt: skip
def test_what_the_cpu_runs_unasked(release: str, on_host: set[str], sources: Path) -> None:
    entries = registered(sources / "pytorch", release)
    found = {op for op, said in entries.items() if said.get("impl") == ["cpu_fallback"]}
    native = {op for op in on_host if entries[f"aten::{op}"]["impl"] != ["cpu_fallback"]}
    assert found == {f"aten::{op}" for op in on_host - native}
    assert native == set()


_PYTHON = {
    "2.0.1": {"var_mean.correction", "native_group_norm", "native_group_norm_backward"},
    "2.2.2": {"var_mean.correction", "native_group_norm", "native_group_norm_backward"},
    "2.9.1": {"native_group_norm", "native_group_norm_backward"},
    "2.10.0": {"linalg_lu_solve.out", "native_group_norm", "native_group_norm_backward"},
    "2.13.0": {"linalg_lu_solve.out"},
    "2.14.1": set(),
}


@pytest.mark.parametrize("release", _PYTHON)
def test_what_python_registers(release: str, sources: Path) -> None:
    """Torch's Python code adds kernels that its list does not name, or names in a later release."""
    entries = registered(sources / "pytorch", release)
    found = {op for op, said in entries.items() if said.get("impl") == ["registered_in_python"]}
    assert found == {f"aten::{op}" for op in _PYTHON[release]}


def test_gradients_of_group_norm_run(database: Database) -> None:
    given = {"grad_out": _tensor(2, 4, 3), "input": _tensor(2, 4, 3)}
    for release in ("2.0.1", "2.9.1", "2.12.1", "2.13.0"):
        resolution = _resolution(database, release, "aten::native_group_norm_backward", **given)
        assert resolution.verdict is Verdict.NATIVE


def test_what_only_a_copy_says_of_the_host_is_less_sure(database: Database) -> None:
    for release, sure in (("2.13.0", Confidence.HIGH), ("2.15.0", Confidence.MEDIUM)):
        resolution = _resolution(database, release, "aten::embedding_renorm_", self=_tensor(4, 4))
        assert (resolution.verdict, resolution.confidence) == (Verdict.FALLBACK, sure)


def test_of_releases_after_what_was_read_nobody_says_what_the_host_runs(
    tmp_path: Path, sources: Path
) -> None:
    """Where the list of a newer release names no kernel, either, that is unknown."""
    shutil.copytree(sources / "pytorch", tmp_path / "pytorch")
    lists = tmp_path / "pytorch"
    newest, later = (lists / f"native_functions@{v}.yaml.gz" for v in (_RELEASES[-1], "2.99.0"))
    newest.rename(later)
    (lists / "SOURCES.yaml").chmod(0o644)
    named = (lists / "SOURCES.yaml").read_text("utf-8").replace(newest.name, later.name)
    (lists / "SOURCES.yaml").write_text(named, "utf-8")
    said = yaml.safe_load(AppleImporter().run(tmp_path, "2.99.0"))
    (found,) = (c for c in said["conditions"] if "aten::embedding_renorm_" in c["ops"])
    assert (found["verdict"], found["code"]) == ("unknown", "no-source-for-release")


@pytest.mark.parametrize(
    ("release", "op", "implementation", "line"),
    [
        ("2.15.0", "aten::_adaptive_avg_pool2d", "adaptive_avg_pool2d_mps", 12394),
        ("2.13.0", "aten::silu", "silu_out", 5216),
        ("2.7.1", "aten::linalg_svd", "cpu_fallback", 92),
        ("2.5.1", "aten::im2col", "cpu_fallback", 93),
    ],
)
def test_cells_read_by_eye(
    release: str, op: str, implementation: str, line: int, database: Database
) -> None:
    entry = matrix(database, f"apple-mps@{release}").entries[op]
    (evidence,) = entry.evidence
    assert (entry.implementation, evidence.line) == ((implementation,), line)


def test_the_host_runs_what_is_missing_when_asked(database: Database) -> None:
    resolution = _resolution(database, "2.15.0", "aten::linalg_eig", self=_tensor(4, 4))
    assert (resolution.verdict, resolution.code) == (Verdict.UNSUPPORTED, "no-kernel")
    assert "PYTORCH_ENABLE_MPS_FALLBACK=1" in resolution.text


def test_the_host_runs_what_is_missing_where_the_environment_asks(database: Database) -> None:
    asked = (("PYTORCH_ENABLE_MPS_FALLBACK", "on"),)
    found = matrix(database, "apple-mps@2.15.0")
    call = Node(OpName.parse("aten::linalg_eig"), (("self", _tensor(4, 4)),), modes=asked)
    resolution = Walk([call], found, "2.13.0").resolution(0)
    assert (resolution.verdict, resolution.code) == (Verdict.FALLBACK, "host-fallback")
    nowhere = Walk([replace(call, cpu_kernel=False)], found, "2.13.0").resolution(0)
    assert (nowhere.verdict, nowhere.code) == (Verdict.UNSUPPORTED, "no-kernel-even-on-host")
    assert under(found.fallback, (("XLA_EXPERIMENTAL=nms", "on"),)) == found.fallback


_POOL, _CONVOLUTION = "aten::_adaptive_avg_pool2d", "aten::_mps_convolution_transpose"
_DTYPE, _SIZE = "dtype-not-supported", "size-not-supported"
_SAMPLER, _SCATTER = "aten::grid_sampler_3d", "aten::scatter_reduce.two"
_REPEAT = "aten::repeat_interleave.Tensor"
_PUT, _VALUE = "aten::_index_put_impl_", "value-not-supported"
_NARROWED, _NEWER = "int64-narrowed-to-int32", "needs-newer-macos"


@pytest.mark.parametrize(
    ("release", "op", "given", "code"),
    [
        ("2.0.1", "aten::neg", {"self": _tensor(4, dtype="float64")}, _DTYPE),
        ("2.15.0", "aten::neg", {"self": _tensor(4, dtype="float32")}, "registered"),
        ("2.15.0", "aten::neg", {"self": _tensor(4, dtype="complex64")}, "registered"),
        ("2.15.0", "aten::neg", {"self": _tensor(*([1] * 17))}, "rank-not-supported"),
        ("2.13.0", _POOL, {"self": _tensor(1, 8, 7, 7), "output_size": (7, 7)}, "registered"),
        ("2.13.0", _POOL, {"self": _tensor(1, 8, 7, 7), "output_size": (14, 7)}, "registered"),
        ("2.13.0", _POOL, {"self": _tensor(1, 8, 7, 7), "output_size": (7, 6)}, _SIZE),
        ("2.13.0", _POOL, {"self": _tensor(1, 8, 7, 7), "output_size": (8, 7)}, _SIZE),
        ("2.15.0", _CONVOLUTION, {"self": _tensor(1, 2, 3, 4, 5, dtype="bfloat16")}, _DTYPE),
        ("2.15.0", _CONVOLUTION, {"self": _tensor(1, 2, 3, 4, dtype="bfloat16")}, "registered"),
        ("2.9.1", "aten::dot", {"self": _tensor(0)}, _SIZE),
        ("2.10.0", "aten::dot", {"self": _tensor(0)}, "registered"),
        ("2.6.0", "aten::mse_loss", {"self": _tensor(3, 0), "target": _tensor(3, 0)}, _SIZE),
        ("2.13.0", "aten::nonzero", {"self": _tensor(2**16, 2**15)}, _SIZE),
        ("2.13.0", "aten::nonzero", {"self": _tensor(2**15, 2**15)}, "registered"),
        ("2.0.1", "aten::nonzero", {"self": _tensor(2**16, 2**15)}, _SIZE),
        ("2.4.1", "aten::histc", {"self": _tensor(2**15, 2**15)}, _SIZE),
        ("2.4.1", "aten::mul.Tensor", {"self": _tensor(4, dtype="uint8")}, _NEWER),
        ("2.5.1", "aten::mul.Tensor", {"self": _tensor(4, dtype="uint8")}, "registered"),
        ("2.8.0", "aten::eq.Tensor", {"self": _tensor(4, dtype="complex64")}, _NEWER),
        ("2.9.1", "aten::eq.Tensor", {"self": _tensor(4, dtype="complex64")}, "registered"),
        ("2.4.1", "aten::neg", {"self": _tensor(4, dtype="uint8")}, _NEWER),
        ("2.4.1", "aten::max_pool2d", {"self": _tensor(1, 2, 4, 4, dtype="int64")}, _NEWER),
        (
            "2.0.1",
            "aten::repeat_interleave.Tensor",
            {"repeats": _tensor(4, dtype="int64")},
            _NARROWED,
        ),
        (
            "2.8.0",
            "aten::repeat_interleave.Tensor",
            {"repeats": _tensor(4, dtype="int64")},
            _NARROWED,
        ),
        (
            "2.9.1",
            "aten::repeat_interleave.Tensor",
            {"repeats": _tensor(4, dtype="int64")},
            "registered",
        ),
        ("2.0.1", "aten::_lstm_mps", {"num_layers": 2}, _NEWER),
        ("2.0.1", "aten::_lstm_mps", {"num_layers": 1}, "registered"),
        ("2.4.1", "aten::topk", {"self": _tensor(64), "k": 17}, _NEWER),
        ("2.4.1", "aten::topk", {"self": _tensor(64), "k": 16}, "registered"),
        ("2.13.0", "aten::masked_fill_.Scalar", {"self": _tensor(2**16, 2**16)}, _SIZE),
        (
            "2.11.0",
            "aten::add_.Tensor",
            {"self": _tensor(4, dtype="float16"), "other": _tensor(4), "alpha": 0.5},
            _DTYPE,
        ),
        (
            "2.11.0",
            "aten::add_.Tensor",
            {"self": _tensor(4, dtype="float16"), "other": _tensor(4), "alpha": 1},
            "registered",
        ),
        ("2.14.1", "aten::max", {"self": _tensor(2**16, 2**16)}, _SIZE),
        ("2.14.1", "aten::linalg_vector_norm", {"self": _tensor(2**16, 2**16)}, _SIZE),
        ("2.13.0", "aten::silu", {"self": _tensor(4, dtype="int32")}, _DTYPE),
        ("2.15.0", "aten::silu", {"self": _tensor(4, dtype="int32")}, "registered"),
        ("2.4.1", "aten::index_add", {"source": _tensor(4, dtype="int64")}, _DTYPE),
        ("2.4.1", "aten::sum.dim_IntList", {"self": _tensor(4, dtype="int64")}, _NARROWED),
        ("2.4.1", "aten::sum.dim_IntList", {"self": _tensor(4, dtype="int32")}, "registered"),
        ("2.4.1", "aten::isin.Tensor_Tensor", {"elements": _tensor(4, dtype="int64")}, _NEWER),
        ("2.2.2", "aten::neg", {"self": _tensor(4, dtype="bfloat16")}, _DTYPE),
        ("2.3.1", "aten::neg", {"self": _tensor(4, dtype="bfloat16")}, "registered"),
        ("2.7.1", _CONVOLUTION, {"self": _tensor(1, 2, 3, 4, 5)}, "rank-not-supported"),
        ("2.8.0", _CONVOLUTION, {"self": _tensor(1, 2, 3, 4, 5)}, "registered"),
        ("2.6.0", "aten::dot", {"self": _tensor(4, dtype="int64")}, _DTYPE),
        ("2.7.1", "aten::dot", {"self": _tensor(4, dtype="int64")}, _NEWER),
        ("2.9.1", "aten::dot", {"self": _tensor(4, dtype="int64")}, "registered"),
        ("2.13.0", _POOL, {"self": _tensor(1, 8, 14, 7), "output_size": (7, 14)}, _SIZE),
        ("2.15.0", _CONVOLUTION, {"self": _tensor(1, 2, 3, 4, dtype="int64")}, _DTYPE),
        ("2.8.0", "aten::index_add", {"source": _tensor(4, dtype="int64")}, _DTYPE),
        ("2.9.1", "aten::index_add", {"source": _tensor(4, dtype="int64")}, "registered"),
        ("2.11.0", "aten::nonzero", {"self": _tensor(4, dtype="complex64")}, "computed-on-host"),
        ("2.14.1", "aten::gather", {"self": _tensor(4, dtype="float8_e4m3fn")}, _DTYPE),
        ("2.15.0", "aten::gather", {"self": _tensor(4, dtype="float8_e4m3fn")}, "registered"),
        ("2.15.0", "aten::gather", {"self": _tensor(4, dtype="float8_e5m2")}, _DTYPE),
        ("2.7.1", _PUT, {"self": _tensor(4, dtype="bfloat16"), "accumulate": True}, _DTYPE),
        ("2.7.1", _PUT, {"self": _tensor(4, dtype="bfloat16"), "accumulate": False}, "registered"),
        ("2.8.0", _PUT, {"self": _tensor(4, dtype="bfloat16"), "accumulate": True}, "registered"),
        ("2.8.0", _PUT, {"self": _tensor(4, dtype="int64"), "accumulate": True}, _DTYPE),
        ("2.9.1", _PUT, {"self": _tensor(4, dtype="int64"), "accumulate": True}, "registered"),
        ("2.11.0", "aten::gather", {"self": _tensor(4, dtype="complex64")}, _DTYPE),
        ("2.12.1", "aten::gather", {"self": _tensor(4, dtype="complex64")}, "registered"),
        ("2.9.1", "aten::linalg_solve_triangular", {"self": _tensor(4, dtype="complex64")}, _DTYPE),
        (
            "2.14.1",
            "aten::linalg_solve_triangular",
            {"self": _tensor(4, dtype="complex64")},
            _DTYPE,
        ),
        (
            "2.15.0",
            "aten::linalg_solve_triangular",
            {"self": _tensor(4, dtype="complex64")},
            "registered",
        ),
        ("2.13.0", "aten::linalg_qr", {"A": _tensor(513, 600)}, "computed-on-host"),
        ("2.13.0", "aten::linalg_qr", {"A": _tensor(513, 512)}, "registered"),
        ("2.12.1", _SAMPLER, {"input": _tensor(1, 1, 2, 2, 2), "interpolation_mode": 1}, _VALUE),
        (
            "2.13.0",
            _SAMPLER,
            {"input": _tensor(1, 1, 2, 2, 2), "interpolation_mode": 1},
            "registered",
        ),
        ("2.12.1", _SCATTER, {"self": _tensor(4, dtype="int64"), "reduce": "amax"}, _DTYPE),
        ("2.12.1", _SCATTER, {"self": _tensor(4, dtype="int64"), "reduce": "sum"}, "registered"),
        ("2.13.0", _SCATTER, {"self": _tensor(4, dtype="int64"), "reduce": "amax"}, _NEWER),
        ("2.15.0", _SCATTER, {"self": _tensor(4, dtype="int64"), "reduce": "amax"}, "registered"),
        ("2.8.0", "aten::neg", {"self": _tensor(4, dtype="uint16")}, _DTYPE),
        ("2.0.1", "aten::relu", {"self": _tensor(0, 4)}, _SIZE),
        ("2.3.1", "aten::relu", {"self": _tensor(0, 4)}, "registered"),
        ("2.13.0", "aten::baddbmm", {"batch1": _tensor(2, 0, 3)}, _SIZE),
        ("2.14.1", "aten::baddbmm", {"batch1": _tensor(2, 0, 3)}, "registered"),
        ("2.0.1", "torchvision::nms", {"dets": _tensor(9, 4)}, "no-kernel"),
        ("2.1.2", "torchvision::nms", {"dets": _tensor(9, 4)}, "registered"),
        ("2.1.2", "torchvision::nms", {"dets": _tensor(9, 4, dtype="bfloat16")}, _DTYPE),
        ("2.7.1", "torchvision::deform_conv2d", {"input": _tensor(9, 4)}, "no-kernel"),
        ("2.8.0", "torchvision::deform_conv2d", {"input": _tensor(9, 4)}, "registered"),
        (
            "2.15.0",
            "aten::_scaled_dot_product_attention_math_for_mps",
            {"query": _tensor(4), "dropout_p": 0.1},
            _VALUE,
        ),
        (
            "2.12.1",
            "aten::_scaled_dot_product_attention_math_for_mps",
            {"query": _tensor(4), "dropout_p": 0.1},
            "mps-attention-dropout",
        ),
    ],
)
def test_what_kernels_refuse(
    release: str, op: str, given: dict[str, Value], code: str, database: Database
) -> None:
    assert _resolution(database, release, op, **given).code == code


_COMPLEX = {"A": _tensor(4, 4, dtype="complex64"), "B": _tensor(4, 4, dtype="complex64")}
_LINALG = {
    "aten::_linalg_det": ("2.7.1", "2.14.1"),
    "aten::_linalg_slogdet": ("2.7.1", "2.14.1"),
    "aten::_linalg_solve_ex": ("2.7.1", "2.14.1"),
    "aten::linalg_inv_ex": ("2.0.1", "2.15.0"),
    "aten::linalg_lu": ("2.10.0", "2.14.1"),
    "aten::linalg_lu_factor_ex": ("2.7.1", "2.14.1"),
    "aten::linalg_qr": ("2.12.1", "2.13.0"),
}
"""Kernel -> first and last release in which it, or what it calls, takes no complex numbers."""


@pytest.mark.parametrize("op", _LINALG)
def test_an_inner_kernel_refuses_for_those_that_call_it(op: str, database: Database) -> None:
    first, last = map(_RELEASES.index, _LINALG[op])
    for number, release in enumerate(_RELEASES):
        if op in matrix(database, f"apple-mps@{release}").entries:
            resolution = _resolution(database, release, op, **_COMPLEX)
            refused = (
                resolution.verdict is Verdict.UNSUPPORTED
                and resolution.confidence is not Confidence.LOW
            )
            assert refused == (first <= number <= last), release
            real = {"A": _tensor(4, 4), "B": _tensor(4, 4)}
            assert _resolution(database, release, op, **real).code == "registered", release


@pytest.mark.parametrize("release", _RELEASES)
def test_an_lstm_with_projections_is_refused(release: str, database: Database) -> None:
    cell, hidden = _tensor(1, 4, 16), _tensor(1, 4, 8)
    found = _resolution(
        database, release, "aten::_lstm_mps", input=_tensor(5, 4, 3), hx=(hidden, cell)
    )
    assert (found.verdict, found.code) == (Verdict.UNSUPPORTED, "size-not-supported")
    found = _resolution(
        database, release, "aten::_lstm_mps", input=_tensor(5, 4, 3), hx=(cell, cell)
    )
    assert found.code == "registered"


def test_isin_of_two_dtypes_was_refused(database: Database) -> None:
    for release, code in (("2.7.1", _DTYPE), ("2.8.0", "registered")):
        found = _resolution(
            database,
            release,
            "aten::isin.Tensor_Tensor",
            elements=_tensor(4, dtype="float32"),
            test_elements=_tensor(4, dtype="int64"),
        )
        assert found.code == code, release


@pytest.mark.parametrize(
    ("sizes", "dtype", "code"),
    [((4, 4), "float32", "registered"), ((4, 1), "float32", _SIZE), ((4, 4), "int64", _DTYPE)],
)
def test_a_loss_takes_a_target_like_its_input(
    sizes: tuple[int, ...], dtype: str, code: str, database: Database
) -> None:
    given = {"self": _tensor(4, 4), "target": _tensor(*sizes, dtype=dtype)}
    assert _resolution(database, "2.15.0", "aten::mse_loss", **given).code == code


@pytest.mark.parametrize(
    ("chances", "code"), [((4, 4), "registered"), ((), "registered"), ((4,), _SIZE)]
)
def test_bernoulli_takes_as_many_chances_as_numbers(
    chances: tuple[int, ...], code: str, database: Database
) -> None:
    given = {"self": _tensor(4, 4), "p": _tensor(*chances)}
    assert _resolution(database, "2.15.0", "aten::bernoulli_.Tensor", **given).code == code


@pytest.mark.parametrize(
    ("release", "op", "given", "code"),
    [
        ("2.0.1", "aten::cumsum", {"self": _tensor(4, dtype="int64"), "dim": 0}, _DTYPE),
        ("2.0.1", "aten::cumsum", {"self": _tensor(4, dtype="int32"), "dim": 0}, "registered"),
        ("2.0.1", "aten::max.dim", {"self": _tensor(4, dtype="int64"), "dim": 0}, _DTYPE),
        ("2.0.1", "aten::max", {"self": _tensor(4, dtype="int64")}, "int64-narrowed-to-int32"),
        ("2.15.0", "aten::huber_loss", {"self": _tensor(0), "target": _tensor(0)}, _SIZE),
        ("2.15.0", "aten::huber_loss", {"self": _tensor(4), "target": _tensor(4)}, "registered"),
        ("2.4.1", "aten::threshold_backward", {"self": _tensor(0)}, _SIZE),
        ("2.8.0", "aten::col2im", {"self": _tensor(6, 6, dtype="complex64")}, _DTYPE),
        ("2.8.0", "aten::col2im", {"self": _tensor(6, 6)}, "registered"),
        (
            "2.12.1",
            "aten::unfold_backward",
            {"grad_in": _tensor(6, dtype="complex64")},
            "registered",
        ),
        ("2.11.0", "aten::unfold_backward", {"grad_in": _tensor(6, dtype="complex64")}, _DTYPE),
        ("2.0.1", "aten::softplus", {"self": _tensor(6, dtype="float16")}, _DTYPE),
        ("2.0.1", "aten::softplus", {"self": _tensor(6)}, "registered"),
        ("2.1.2", "aten::softplus", {"self": _tensor(6, dtype="float16")}, "registered"),
        ("2.9.1", "aten::addmv", {"mat": _tensor(0, 9)}, _SIZE),
        ("2.9.1", "aten::addmv", {"mat": _tensor(3, 9)}, "registered"),
        ("2.10.0", "aten::addmv", {"mat": _tensor(0, 9)}, "registered"),
    ],
)
def test_what_the_code_and_the_library_of_a_release_refuse(
    release: str, op: str, given: dict[str, Value], code: str, database: Database
) -> None:
    assert _resolution(database, release, op, **given).code == code


@pytest.mark.parametrize(("reduce", "code"), [("prod", _DTYPE), ("sum", "registered")])
def test_products_of_long_integers_are_not_scattered(
    reduce: str, code: str, database: Database
) -> None:
    given: dict[str, Value] = {"self": _tensor(4, dtype="int64"), "reduce": reduce}
    assert _resolution(database, "2.14.1", "aten::scatter_reduce.two", **given).code == code


def test_the_host_scales_images_by_factors_on_macos_12(database: Database) -> None:
    for scale, code in ((2.0, "needs-newer-macos"), (None, "registered")):
        given = {"self": _tensor(1, 3, 8, 8), "scales_h": scale, "scales_w": scale}
        assert _resolution(database, "2.1.2", "aten::upsample_nearest2d", **given).code == code


_HUGE = _tensor(2, 2**31)


@pytest.mark.parametrize(
    ("release", "op", "given", "chinese"),
    [
        ("2.0.1", "aten::max", {"self": _tensor(4, dtype="int64")},
         "self 为 int64，kernel 归约前将其转为 int32 并给出警告"),
        ("2.1.2", "aten::upsample_nearest2d", {"self": _tensor(1, 3, 8, 8), "scales_h": 2.0},
         'scales_h=2.0：13 之前的 macOS 在 CPU 上计算："MPS: passing scale factor to upsample ops '
         'is supported natively starting from macOS 13.0."'),
        ("2.9.1", "aten::cat", {"tensors": (_HUGE,)},
         'tensors 的一个维度为 2147483648："MPSGaph does not support tensor dims larger than '
         'INT_MAX"'),
        ("2.12.1", "aten::native_group_norm", {"input": _tensor(1, 256, 64, 65)},
         "1064960 个元素的输入由 Python 中的分解来归一化，比新版本的 kernel 慢 3 到 20 倍"
         "（提示 mps-group-norm-slow，已在 torch 2.13.0 修复）；请升级"),
    ],
)  # fmt: skip
def test_what_was_so_in_older_releases_is_told_in_chinese(
    release: str, op: str, given: dict[str, Value], chinese: str, database: Database
) -> None:
    assert in_chinese([_resolution(database, release, op, **given).text]) == [chinese]


def test_an_option_that_an_inner_kernel_refuses_is_refused(database: Database) -> None:
    resolution = _resolution(database, "2.13.0", "aten::linalg_lu", A=_tensor(4, 4), pivot=False)
    assert (resolution.verdict, resolution.code) == (Verdict.UNSUPPORTED, "value-not-supported")
    assert "it calls aten::linalg_lu_factor_ex.out" in resolution.text


@pytest.mark.parametrize(
    ("release", "confidence"), [("2.13.0", Confidence.MEDIUM), ("2.9.1", Confidence.LOW)]
)
def test_what_tests_of_one_release_say_is_inferred_of_older_ones(
    release: str, confidence: Confidence, database: Database
) -> None:
    resolution = _resolution(database, release, "aten::silu", self=_tensor(4, dtype="int32"))
    assert (resolution.verdict, resolution.confidence) == (Verdict.UNSUPPORTED, confidence)


def test_every_cell_has_evidence_and_a_known_name(database: Database) -> None:
    for found in newest_of_each_release(database, "apple-mps"):
        check_evidence(found)
        check_names(found)


def test_an_unknown_release_names_the_known_ones(sources: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        AppleImporter().run(sources, "1.0")
    assert "1.0" in caught.value.message
    assert "2.7.1" in caught.value.hint


@pytest.mark.parametrize("release", ["2.4.1", "2.15.0"])
def test_the_host_converts_a_float64_array_before_it_is_copied(
    database: Database, release: str
) -> None:
    double, single = _tensor(7, dtype="float64"), _tensor(7)
    host = replace(double, host=True)

    def verdict(source: TensorMeta, to: TensorMeta) -> Verdict:
        call = _resolution(database, release, "aten::_copy_from", self=source, dst=to)
        return call.verdict

    assert verdict(host, single) is Verdict.NATIVE
    assert verdict(single, host) is Verdict.UNSUPPORTED
    assert verdict(host, double) is Verdict.UNSUPPORTED


CHIPS = ("m1", "m2", "m3", "m4", "m5", "mps")
OLD, FIRST, NEW = ("m1", "m2", "mps"), ("m1", "mps"), ("m5", "mps")


@pytest.mark.parametrize(
    ("advisory", "release", "chips"),
    [
        ("mps-long-product", "2.13.0", OLD),
        ("mps-long-batched-product", "2.15.0", OLD),
        ("mps-linear-gradients-rows", "2.13.0", OLD),
        ("mps-linear-bias-rows", "2.13.0", FIRST),
        ("mps-linear-half-m5", "2.11.0", NEW),
        ("mps-linear-gradients-half-m5", "2.12.1", NEW),
        ("mps-linear-weight-transposed", "2.13.0", NEW),
        ("mps-linear-bias-m1", "2.13.0", ("m1",)),
        ("mps-svd-large", "2.14.1", CHIPS),
    ],
)
def test_what_is_wrong_on_some_chips_is_told_of_them(
    advisory: str, release: str, chips: tuple[str, ...], database: Database
) -> None:
    """Of any chip, mps, all that PyTorch works round by families of GPUs is told."""
    told = tuple(
        chip
        for chip in CHIPS
        if any(
            condition.code == advisory
            for conditions in matrix(database, f"apple-{chip}@{release}").conditions.values()
            for condition in conditions
        )
    )
    assert told == chips


@pytest.mark.parametrize("release", _RELEASES)
def test_chips_differ_in_advisories_alone(release: str, database: Database) -> None:
    every = matrix(database, f"apple-mps@{release}")
    for chip in CHIPS[:-1]:
        found = matrix(database, f"apple-{chip}@{release}")
        assert found.entries == every.entries
        for op, conditions in every.conditions.items():
            left = [c.text for c in conditions if c not in found.conditions.get(op, ())]
            assert all("advisory mps-" in text for text in left)
        assert set(found.conditions) <= set(every.conditions)
        own = [
            condition.code
            for op, conditions in found.conditions.items()
            for condition in conditions
            if condition not in every.conditions[op]
        ]
        assert own == ["mps-linear-bias-m1"] * (chip == "m1" and release == "2.13.0")


@pytest.mark.parametrize(("chip", "code"), [("m4", "registered"), ("m5", "mps-linear-half-m5")])
def test_half_precision_on_an_m5(chip: str, code: str, database: Database) -> None:
    found = matrix(database, f"apple-{chip}@2.11.0")
    given = {"input": _tensor(2, 13, 1024, dtype="bfloat16"), "weight": _tensor(8, 1024)}
    node = Node(OpName.parse("aten::linear"), tuple(given.items()))
    assert Walk([node], found, "2.11.0").resolution(0).code == code
