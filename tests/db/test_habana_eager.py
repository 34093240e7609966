"""Gaudi in eager mode: what the generator of the bridge registers, against its own outputs."""

import gzip
import re
from pathlib import Path

import pytest
import yaml

from opcheck.db.importers import habana_eager
from opcheck.db.importers.habana import listed, registered
from opcheck.db.importers.shared import operator_list
from opcheck.db.store import Database
from opcheck.emulate.supported import require_emulated
from opcheck.errors import DatabaseError, EmulationError
from opcheck.model.target import GraphMode, TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import check_evidence, check_names, matrix, newest_of_each_release

TARGET = "habana-gaudi2:eager"
_GENERATED = (
    "__ilshift__.Scalar", "_fused_dropout", "native_dropout", "as_strided", "addbmm",
    "bucketize.Scalar", "prod.int_out", "sort.values_stable", "eq.Scalar_out",
    "_native_batch_norm_legit", "convolution_backward_overrideable", "native_group_norm",
    "linear_backward",
)  # fmt: skip
"""Registered in ``scripts/tests/files/ops_generation_e2e/reference_output/2.5/eager/*.cpp``."""
_LEFT_OUT = (
    "elu", "clone", "mul.Scalar_out", "squeeze.dims", "isfinite", "matmul",
    "bitwise_left_shift.Tensor_Scalar",
)  # fmt: skip
"""In the list of the same test (``hpu_op.yaml`` there), and not in these files."""
_ANYWAY = (
    "all", "any", "complex", "convolution_overrideable", "convolution_backward_overrideable",
    "is_pinned", "native_layer_norm", "native_group_norm", "repeat", "_unsafe_view",
)  # fmt: skip


def _known(sources: Path) -> dict[str, operator_list.Function]:
    return dict(operator_list.functions(sources / "pytorch", "2.5"))


def test_the_mode_is_a_target_of_its_own(database: Database) -> None:
    found = database.resolve(TargetSpec.parse("gaudi2:eager"))
    assert str(found) == f"{TARGET}@1.19.0+torch2.5"
    assert (found.owner, found.mode, found.device_type) == ("habana", GraphMode.EAGER, "hpu")
    assert TARGET not in {target.name for target in database.targets()}


def test_it_is_not_said_to_be_compiled(database: Database) -> None:
    with pytest.raises(EmulationError, match="its kernels stand at HPU"):
        require_emulated(matrix(database, TARGET))


def test_releases_are_those_of_which_the_generator_was_read(sources: Path) -> None:
    importer = habana_eager.HabanaEagerImporter()
    assert importer.releases(sources) == ("1.19.0",)
    with pytest.raises(DatabaseError, match=r"no list of the Gaudi bridge 1\.18\.0 was read"):
        importer.run(sources, "1.18.0")


def test_what_is_written_is_what_the_importer_gives(sources: Path) -> None:
    folder = Path(__file__).parents[2] / "compat_db" / "habana-eager"
    importer = habana_eager.HabanaEagerImporter()
    assert importer.run(sources, "1.19.0") == (folder / "1.19.0.yaml").read_text()
    assert importer.common(sources)["vendor.yaml"] == (folder / "vendor.yaml").read_text()


def test_the_reference_outputs_of_the_generator_agree(sources: Path) -> None:
    found = habana_eager.registered("1.19.0", _known(sources))
    assert [op for op in _GENERATED if f"aten::{op}" not in found] == []
    assert [op for op in _LEFT_OUT if f"aten::{op}" in found] == []
    assert all(name in listed()["1.19.0"] for name in (*_GENERATED, *_LEFT_OUT))


def test_overloads_without_a_composite_kernel_are_registered_and_no_others(sources: Path) -> None:
    """Read here of PyTorch's own file, as ``get_dtdf`` and torchgen read it."""
    (path,) = (sources / "pytorch").glob("native_functions@2.5.*.yaml.gz")
    declared = yaml.load(gzip.decompress(path.read_bytes()), yaml.CSafeLoader)
    of_aten = {name for name, said in listed()["1.19.0"].items() if "namespace" not in said}
    wanted = set()
    for item in declared:
        name = item["func"].partition("(")[0]
        keys = {key.strip() for keys in item.get("dispatch", {}) for key in keys.split(",")}
        composite = any(key.startswith("Composite") for key in keys)
        own = bool(keys) and not composite and "structured_delegate" not in item
        named = re.search("|".join(_ANYWAY), item["func"])
        if name in of_aten and (own or named):
            wanted.add(name)
    found = habana_eager.generated("1.19.0", _known(sources))
    assert {name for name, said in found.items() if "namespace" not in said} == wanted
    assert len(wanted) == 443
    assert len(habana_eager.registered("1.19.0", _known(sources))) == 477
    assert len(registered("1.19.0")) == 1093


@pytest.mark.parametrize("chip", ["gaudi2", "gaudi3"])
def test_every_cell_is_cited_and_every_name_known(chip: str, database: Database) -> None:
    for found in newest_of_each_release(database, f"habana-{chip}:eager"):
        check_evidence(found)
        check_names(found)


@pytest.mark.parametrize(
    ("op", "line", "implementation"),
    [
        ("aten::special_xlog1py.out", 6242, "Xlog1PyOperator"),
        ("aten::normal.float_Tensor", 5154, "NormalBE"),
        ("aten::sgn.out", 5974, "sign_fwd"),
        ("aten::mm.out", 4556, "gemm"),
        ("aten::reflection_pad2d_backward.grad_input", 5529, "pad_bwd"),
        ("aten::acos.out", 1125, "acos_fwd"),
        ("aten::cosh.out", 2481, "cosh_fwd"),
        ("aten::replication_pad3d_backward.grad_input", 5696, "ReplicationPad3dBwdOp"),
        ("aten::_local_scalar_dense", 1099, "_local_scalar_dense_hpu"),
        ("aten::empty.memory_format", 7303, "manual"),
        ("aten::gt.Tensor_out", 3303, "greater_fwd"),
        ("aten::avg_pool2d.out", 1685, "avg_pool_2d_fwd"),
        ("aten::logaddexp.out", 4003, "logaddexp_fwd"),
        ("aten::hardsigmoid_backward.grad_input", 3375, "hard_sigmoid_bwd"),
        ("aten::signbit.out", 6037, "signbit_fwd"),
        ("aten::binary_cross_entropy_backward.grad_input", 1893, "BinaryCrossEntropyBwd"),
        ("aten::add.out", 1200, "binary_with_alpha_fwd"),
        ("aten::masked_select", 7273, "manual"),
        ("hpu::rsqrt_fast_math", 7474, "rsqrt_fast_math_fwd"),
        ("aten::mse_loss.out", 4579, "mse_loss_fwd"),
    ],
)
def test_cells_drawn_by_a_hash_are_at_their_lines(
    op: str, line: int, implementation: str, database: Database
) -> None:
    entry = matrix(database, TARGET).entries[op]
    (evidence,) = entry.evidence
    assert (entry.implementation, evidence.line) == ((implementation,), line)
    assert evidence.path == "scripts/hpu_op.yaml"


def _tensor(dtype: str, *shape: int, host: bool = False) -> TensorMeta:
    return TensorMeta(dtype, shape or (2, 2), (), host=host)


_SINGLE, _LONGS, _INTS = _tensor("float32"), _tensor("int64"), _tensor("int32")
_SIX = _tensor("float32", 1, 1, 1, 1, 1, 2)
_HOST, _RUNS = Verdict.FALLBACK, Verdict.NATIVE


@pytest.mark.parametrize(
    ("op", "given", "eager", "lazy"),
    [
        ("replication_pad3d_backward.grad_input", {"self": _LONGS}, _HOST, _RUNS),
        ("replication_pad3d_backward.grad_input", {"self": _INTS}, _RUNS, _RUNS),
        ("unique_dim", {"self": _SINGLE, "sorted": False}, _HOST, _RUNS),
        ("index.Tensor_out", {"indices": (_tensor("int64", host=True),)}, _HOST, _RUNS),
        ("index.Tensor_out", {"indices": (_LONGS,)}, _RUNS, _RUNS),
        ("masked_select", {"self": _tensor("float16"), "mask": _tensor("bool")}, _RUNS, _HOST),
        ("masked_select", {"self": _SIX, "mask": _tensor("bool")}, _HOST, _HOST),
        ("nonzero.out", {"self": _LONGS}, _HOST, _RUNS),
        ("_index_put_impl_", {"self": _tensor("uint8")}, _RUNS, _HOST),
        ("index_select", {"self": _SIX}, _HOST, _HOST),
        ("where.self", {"condition": _LONGS, "self": _SINGLE, "other": _SINGLE}, _HOST, _HOST),
    ],
)
def test_the_host_gets_other_calls_than_in_lazy_mode(
    op: str, given: dict[str, Value], eager: Verdict, lazy: Verdict, database: Database
) -> None:
    call = Node(OpName.parse(f"aten::{op}"), tuple(given.items()))
    for name, verdict in ((TARGET, eager), ("habana-gaudi2@1.19.0", lazy)):
        found = Walk([call], matrix(database, name), "2.5.0").resolution(0)
        assert found.verdict is verdict, name
