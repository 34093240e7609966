"""What is registered under XPU, against figures that others took from the same lists."""

import gzip
from pathlib import Path

import pytest

from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.intel import (
    IntelImporter,
    flat_list,
    host_only,
    listed,
    registered,
)
from opcheck.db.importers.shared import in_tree
from opcheck.db.store import Database
from opcheck.db.versions import major_minor
from opcheck.errors import DatabaseError
from opcheck.model.trace import Node, OpName, TensorMeta
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
    "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1",
    "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0",
)  # fmt: skip


def _resolution(database: Database, target: str, op: str, dtype: str = "float32") -> Resolution:
    tensor = TensorMeta(dtype, (8, 8), (8, 1))
    node = Node(OpName.parse(op), (("self", tensor), ("other", tensor)))
    return Walk([node], matrix(database, target), "2.13.0").resolution(0)


def test_releases_are_those_of_torch_from_2_4_on(sources: Path) -> None:
    assert IntelImporter().releases(sources) == _RELEASES


@pytest.mark.parametrize(("torch", "count"), [("2.4", 294), ("2.5", 716), ("2.6", 741)])
def test_the_flat_lists_are_read_whole(torch: str, count: int, sources: Path) -> None:
    """They name four operators twice."""
    text = (sources / "intel-xpu" / f"xpu_functions@{torch}.yaml").read_text()
    assert len(flat_list(text)) == count - 4


@pytest.mark.parametrize("torch", ["2.6", "2.7", "2.8", "2.10", "2.12", "2.13"])
def test_the_declared_lists_are_read_whole(torch: str, sources: Path) -> None:
    summary = load_yaml(sources / "intel-xpu" / "xpu-release-summary.yaml")
    said = next(branch for branch in summary if branch["branch"] == f"release/{torch}")
    packed = (sources / "intel-xpu" / said["file"]).read_bytes()
    found = in_tree.read_list(gzip.decompress(packed)).values()
    assert len(found) == said["native_functions_entries"]
    assert sum("XPU" in overload.kernels for overload in found) == said["xpu_dispatch_lines"]
    assert sum(bool(overload.delegate) for overload in found) == said["structured_delegate"]


def test_the_union_of_2_13_is_what_2_14_has_and_three_more(sources: Path) -> None:
    dense = in_tree.kernels(sources / "pytorch", "2.14.1", "XPU")
    united = {op.removeprefix("aten::") for op in listed(sources, "2.13.0")}
    sparse = set(in_tree.on_device(in_tree.declared(sources / "pytorch", "2.13.0"), "XPU"))
    sparse -= set(in_tree.kernels(sources / "pytorch", "2.13.0", "XPU"))
    assert len(united - sparse) == 1158
    assert united - sparse - set(dense) == {
        "_empty_affine_quantized", "_empty_per_channel_affine_quantized", "quantized_max_pool2d",
    }  # fmt: skip
    assert set(dense) <= united


@pytest.mark.parametrize("release", _RELEASES[:-1])
def test_what_always_runs_on_the_cpu(release: str, sources: Path) -> None:
    counts = dict(zip(_RELEASES, (303, 141, 39, 33, 28, 31, 34, 32, 30, 29, 29), strict=False))
    names = host_only(sources, release)
    assert len(names) == counts[release]
    entries = registered(sources, release)
    aten = in_tree.declared(sources / "pytorch", release)
    known = {op for op in names if op.removeprefix("aten::") in aten}
    assert all(entries[op]["impl"] == ["cpu_fallback"] for op in known)


@pytest.mark.parametrize(
    ("target", "op", "implementation", "path", "line"),
    [
        ("intel-max@2.13.0", "aten::mm", "mm_out_xpu", "native_functions.yaml", 4094),
        ("intel-max@2.4.1", "aten::copy_", "", "yaml/xpu_functions.yaml", 179),
        ("intel-max@2.5.1", "aten::view", "", "yaml/xpu_functions.yaml", 302),
        ("intel-max@2.13.0", "aten::_copy_from", "manual", "src/ATen/native/xpu/Resize.cpp", 83),
        ("intel-max@2.6.0", "aten::addmm", "addmm_out_xpu", "native_functions.yaml", 7028),
    ],
)
def test_cells_read_by_eye(
    target: str, op: str, implementation: str, path: str, line: int, database: Database
) -> None:
    entry = matrix(database, target).entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == ((implementation,) if implementation else ())
    assert (evidence.path.endswith(path), evidence.line) == (True, line)


@pytest.mark.parametrize(
    ("target", "op", "verdict", "confidence"),
    [
        ("intel-max@2.13.0", "aten::linalg_eig", Verdict.FALLBACK, Confidence.HIGH),
        ("intel-max@2.15.0", "aten::linalg_eig", Verdict.FALLBACK, Confidence.LOW),
        ("intel-max@2.5.1", "torchvision::roi_align", Verdict.FALLBACK, Confidence.HIGH),
        ("intel-max@2.6.0", "torchvision::roi_align", Verdict.NATIVE, Confidence.HIGH),
        ("intel-max@2.6.0", "torchvision::deform_conv2d", Verdict.UNSUPPORTED, Confidence.MEDIUM),
        ("intel-max@2.13.0", "aten::_spdiags", Verdict.UNSUPPORTED, Confidence.HIGH),
        ("intel-max@2.5.1", "aten::addmm", Verdict.NATIVE, Confidence.LOW),
    ],
)
def test_resolutions(
    target: str, op: str, verdict: Verdict, confidence: Confidence, database: Database
) -> None:
    resolution = _resolution(database, target, op)
    assert (resolution.verdict, resolution.confidence) == (verdict, confidence)


def test_what_is_missing_names_the_variable_that_sends_it_to_the_host(database: Database) -> None:
    resolution = _resolution(database, "intel-max@2.13.0", "aten::_spdiags")
    assert "PYTORCH_ENABLE_XPU_FALLBACK=1" in resolution.text


@pytest.mark.parametrize(
    ("target", "dtype", "verdict"),
    [
        ("intel-arc", "float64", Verdict.UNSUPPORTED),
        ("intel-arc", "complex128", Verdict.UNSUPPORTED),
        ("intel-arc", "float32", Verdict.NATIVE),
        ("intel-max", "float64", Verdict.NATIVE),
        ("intel-b580", "float64", Verdict.NATIVE),
        ("intel-lunar-lake", "complex128", Verdict.NATIVE),
    ],
)
def test_arc_has_no_float64(target: str, dtype: str, verdict: Verdict, database: Database) -> None:
    assert _resolution(database, target, "aten::neg", dtype).verdict is verdict


@pytest.mark.parametrize(
    ("target", "dtype", "shape", "stride", "verdict"),
    [
        ("intel-arc", "float32", (2**15, 2**15), (2**15, 1), Verdict.UNSUPPORTED),
        ("intel-arc", "float16", (2**15, 2**15), (2**15, 1), Verdict.NATIVE),
        ("intel-arc", "bfloat16", (2**16, 2**15), (2**15, 1), Verdict.UNSUPPORTED),
        ("intel-arc", "float32", (2**15, 2**15), (0, 1), Verdict.NATIVE),
        ("intel-max", "float32", (2**15, 2**15), (2**15, 1), Verdict.NATIVE),
        ("intel-b580", "float32", (2**15, 2**15), (2**15, 1), Verdict.NATIVE),
    ],
)
def test_arc_allocates_less_than_four_gib_at_once(
    target: str,
    dtype: str,
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    verdict: Verdict,
    database: Database,
) -> None:
    tensor = TensorMeta(dtype, shape, stride)
    node = Node(OpName.parse("aten::neg"), (("self", tensor),), (tensor,))
    assert Walk([node], matrix(database, target), "2.13.0").resolution(0).verdict is verdict


@pytest.mark.parametrize(
    ("target", "first"), [("intel-arc", 1), ("intel-lunar-lake", 1), ("intel-b580", 2)]
)
def test_client_gpus_are_known_from_a_release_on(
    target: str, first: int, database: Database
) -> None:
    assert [t.sdk for t in database.releases(target)] == list(_RELEASES[first:])


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        ("intel-arc", Verdict.UNSUPPORTED),
        ("intel-lunar-lake", Verdict.UNSUPPORTED),
        ("intel-b580", Verdict.NATIVE),
        ("intel-max", Verdict.NATIVE),
    ],
)
def test_flash_attention_has_kernels_for_max_and_the_b_series(
    target: str, verdict: Verdict, database: Database
) -> None:
    flash = "aten::_scaled_dot_product_flash_attention"
    assert _resolution(database, f"{target}@2.14.1", flash, "bfloat16").verdict is verdict


@pytest.mark.slow
def test_every_cell_has_evidence_and_a_known_name(database: Database) -> None:
    for found in newest_of_each_release(database, "intel-max"):
        check_evidence(found)
        check_names(found)
        assert found.target.torch == major_minor(found.target.sdk)


def test_an_unknown_release_names_the_known_ones(sources: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        IntelImporter().run(sources, "2.3.1")
    assert "2.3.1" in caught.value.message
    assert "2.13.0" in caught.value.hint


@pytest.mark.parametrize(
    ("target", "op", "dtype", "verdict"),
    [
        ("intel-max@2.13.0", "aten::angle", "bfloat16", Verdict.UNSUPPORTED),
        ("intel-max@2.13.0", "aten::angle", "float32", Verdict.NATIVE),
        ("intel-max@2.13.0", "aten::mm", "int64", Verdict.UNSUPPORTED),
        # by the code, whatever the list of tests says
        ("intel-max@2.10.0", "aten::logaddexp", "complex64", Verdict.UNSUPPORTED),
        ("intel-max@2.11.0", "aten::logaddexp", "complex64", Verdict.NATIVE),
        ("intel-max@2.13.0", "aten::logaddexp", "complex64", Verdict.NATIVE),
        # beside CUDA's, since the branch of 2.9
        ("intel-max@2.9.1", "aten::histc", "float16", Verdict.NATIVE),
        ("intel-max@2.8.0", "aten::histc", "float16", Verdict.UNSUPPORTED),
        # whose test of dtypes does not run
        ("intel-max@2.9.1", "aten::addmm", "int8", Verdict.NATIVE),
        # no branch has such tests yet
        ("intel-max@2.4.1", "aten::mm", "int8", Verdict.NATIVE),
    ],
)
def test_dtypes_are_those_of_the_tests_that_the_branch_runs(
    database: Database, target: str, op: str, dtype: str, verdict: Verdict
) -> None:
    assert _resolution(database, target, op, dtype).verdict is verdict


def test_tests_that_issues_may_skip_are_less_sure(database: Database) -> None:
    said = {
        target: _resolution(database, target, "aten::mm", "int8").confidence
        for target in ("intel-max@2.9.1", "intel-max@2.13.0", "intel-max@2.15.0")
    }
    assert [*said.values()] == [Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW]


@pytest.mark.parametrize(
    ("op", "dtype", "verdict"),
    [
        ("aten::roll", "uint16", Verdict.UNSUPPORTED),
        ("aten::roll", "float16", Verdict.NATIVE),
        ("aten::upsample_bicubic2d", "uint8", Verdict.UNSUPPORTED),
        ("aten::upsample_bicubic2d", "float32", Verdict.NATIVE),
        ("aten::sort.stable", "uint16", Verdict.UNSUPPORTED),
        ("aten::sort.stable", "bool", Verdict.NATIVE),
    ],
)
def test_kernels_run_the_dtypes_that_their_code_is_made_for(
    database: Database, op: str, dtype: str, verdict: Verdict
) -> None:
    resolution = _resolution(database, "intel-max@2.14.1", op, dtype)
    assert (resolution.verdict, resolution.confidence) == (verdict, Confidence.HIGH)


@pytest.mark.parametrize(
    ("op", "rate", "scale", "verdict"),
    [
        ("aten::_fused_sgd_", None, "device", Verdict.NATIVE),
        ("aten::_fused_sgd_", None, "host", Verdict.UNSUPPORTED),
        ("aten::_fused_adam_.tensor_lr", "device", "host", Verdict.UNSUPPORTED),
        ("aten::_fused_adam_.tensor_lr", "host", "host", Verdict.NATIVE),
    ],
)
def test_fused_optimizers_want_the_scale_on_the_gpu(
    database: Database, op: str, rate: str | None, scale: str, verdict: Verdict
) -> None:
    """Not where Adam's rate is on the host: its numbers are read there before."""
    given = {"grad_scale": scale, **({"lr": rate} if rate else {})}
    numbers = [
        (name, TensorMeta("float32", (), (), host=place == "host")) for name, place in given.items()
    ]
    tensors = (TensorMeta("float32", (8, 8), (8, 1)),)
    node = Node(OpName.parse(op), (("self", tensors), *numbers))
    found = Walk([node], matrix(database, "intel-max@2.14.1"), "2.13.0").resolution(0)
    assert found.verdict is verdict


@pytest.mark.parametrize(("rank", "verdict"), [(12, Verdict.NATIVE), (13, Verdict.UNSUPPORTED)])
def test_kernels_of_indices_take_twelve_dimensions(
    database: Database, rank: int, verdict: Verdict
) -> None:
    tensor = TensorMeta("float32", (1,) * rank, (1,) * rank)
    node = Node(OpName.parse("aten::nonzero"), (("self", tensor),))
    walk = Walk([node], matrix(database, "intel-max@2.14.1"), "2.13.0")
    assert walk.resolution(0).verdict is verdict


def test_each_branch_says_itself_which_sparse_tensors_its_products_take(database: Database) -> None:
    def has(release: str) -> dict[str, bool | None]:
        found = matrix(database, f"intel-max@{release}").sparse
        return {
            layout: None if "aten::addmm" in kernels.unclear else "aten::addmm" in kernels.kernels
            for layout, kernels in found.items()
            if layout in ("sparse_coo", "sparse_csr")
        }

    assert {release: has(release) for release in ("2.9.1", "2.10.0", "2.11.0", "2.12.1")} == {
        "2.9.1": {"sparse_coo": False, "sparse_csr": False},
        "2.10.0": {"sparse_coo": False, "sparse_csr": False},
        "2.11.0": {"sparse_coo": True, "sparse_csr": False},
        "2.12.1": {"sparse_coo": True, "sparse_csr": True},
    }
