"""What the Gaudi bridge registers and hands to the host, against lines that were read by eye."""

from pathlib import Path

import pytest

from opcheck.db.importers.habana import HabanaImporter, registered
from opcheck.db.importers.habana.extract import read
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.trace import Constant, Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import check_evidence, check_names, matrix, newest_of_each_release

_LIST = "scripts/hpu_op.yaml"
_NEWEST = "5a56187e98684ceff3de8965ce88a284cf7d7eef"
_TEXT = """\
# comment
addmm:
  guid: gemm
  dtypes:
    Gaudi: [BFloat16]
    Gaudi2: [BFloat16, Half]
    Gaudi3: [BFloat16, Half]
  op_backend: AddMM

div.Tensor:
  op_backend: Div
  promote_int_to_float: [self, other]
  dtypes: [Float]

frac:
  guid: frac_fwd
  op_validator: check-node-with-shared-layer

gelu:
  dtypes: [Float]
  op_validator: GeluSharedMeta

pad:
  dtypes: {Gaudi: [Int], Gaudi2: [Int, Long], Gaudi3: [Int]}

sort:
  hpu_wrap_all_versions: true

upsample.vec:
  only_shared_layer: true

rms_norm:
  custom_op_schema: hpu::rms_norm(Tensor data_in) -> Tensor
"""


def _tensor(dtype: str, *shape: int) -> TensorMeta:
    return TensorMeta(dtype, shape or (2, 2), ())


def test_the_list_is_read_with_its_lines() -> None:
    assert read(_TEXT) == {
        "addmm": {
            "at": 2, "impl": "gemm", "by": "dtypes", "dtypes": ["BFloat16", "Half"], "dtypes_at": 4,
        },
        "div.Tensor": {
            "at": 10, "impl": "Div", "by": "dtypes", "dtypes": ["Float"], "dtypes_at": 13,
            "promotes": ["self", "other"], "floats": True,
        },
        "frac": {"at": 15, "impl": "frac_fwd", "by": "node"},
        "gelu": {"at": 19, "by": "shared"},
        "pad": {
            "at": 23, "by": "dtypes", "dtypes": {"Gaudi2": ["Int", "Long"], "Gaudi3": ["Int"]},
            "dtypes_at": 24,
        },
        "sort": {"at": 26, "by": "code"},
        "rms_norm": {"at": 32, "namespace": "hpu", "by": "code"},
    }  # fmt: skip


def test_releases_are_those_whose_code_is_published(sources: Path) -> None:
    assert HabanaImporter().releases(sources) == ("1.18.0", "1.19.0")
    with pytest.raises(DatabaseError, match=r"no list of the Gaudi bridge 1\.22\.0 was read"):
        HabanaImporter().run(sources, "1.22.0")


@pytest.mark.parametrize(("release", "count"), [("1.18.0", 1090), ("1.19.0", 1093)])
def test_counts_of_what_is_registered(release: str, count: int) -> None:
    assert len(registered(release)) == count


@pytest.mark.parametrize("release", ["1.18.0", "1.19.0"])
def test_lazy_mode_leaves_convolutions_to_the_overrideable_overloads(release: str) -> None:
    found = registered(release)
    assert {"aten::convolution_overrideable", "aten::convolution_backward_overrideable"} <= set(
        found
    )
    assert {"aten::convolution", "aten::convolution_backward"}.isdisjoint(found)
    assert found["aten::dropout"]["keys"] == ["AutogradHPU"]
    assert found["aten::matmul"]["keys"] == ["HPU", "AutogradHPU"]


@pytest.mark.parametrize("chip", ["gaudi2", "gaudi3"])
def test_every_cell_is_cited_and_every_name_known(chip: str, database: Database) -> None:
    for found in newest_of_each_release(database, f"habana-{chip}"):
        check_evidence(found)
        check_names(found)


@pytest.mark.parametrize(
    ("op", "line", "implementation"),
    [
        ("aten::frac", 3043, ("Frac",)),
        ("aten::_foreach_clamp_min.List", 399, ("foreach_clamp_min",)),
        ("aten::nansum", 4743, ("NansumList",)),
        ("aten::__ilshift__.Scalar", 51, ("bitshift_fwd",)),
    ],
)
def test_cells_read_by_eye(
    op: str, line: int, implementation: tuple[str, ...], database: Database
) -> None:
    entry = matrix(database, "habana-gaudi2@1.19.0").entries[op]
    (evidence,) = entry.evidence
    assert (entry.implementation, evidence.line) == (implementation, line)
    assert (evidence.path, evidence.commit) == (_LIST, _NEWEST)


_BYTES, _HALVES, _WIDE = _tensor("uint8"), _tensor("float16"), _tensor("float16", 1, 1, 1, 1, 2)
_INTS, _LONGS, _SINGLE = _tensor("int32"), _tensor("int64"), _tensor("float32")
_COMPLEX, _SIX = _tensor("complex64"), _tensor("float32", 1, 1, 1, 1, 1, 2)
_HOST, _RUNS = Verdict.FALLBACK, Verdict.NATIVE
_CALLS: list[tuple[str, str, dict[str, Value], Verdict]] = [
    ("1.19.0", "nansum", {"self": _HALVES}, _RUNS),
    ("1.19.0", "nansum", {"self": _tensor("float64")}, _RUNS),
    ("1.19.0", "nansum", {"self": _COMPLEX}, _HOST),
    ("1.19.0", "addmm", {"mat1": _INTS, "self": _INTS}, _HOST),
    ("1.19.0", "embedding", {"weight": _LONGS, "indices": _LONGS}, _RUNS),
    ("1.19.0", "embedding", {"sparse": True}, _HOST),
    ("1.19.0", "mul.Tensor", {"self": _BYTES, "other": _BYTES}, _RUNS),
    ("1.19.0", "add_.Tensor", {"self": _BYTES, "other": _BYTES}, _HOST),
    ("1.19.0", "add_.Tensor", {"self": _SINGLE, "other": _BYTES}, _RUNS),
    ("1.19.0", "sum", {"self": _BYTES}, _HOST),
    ("1.19.0", "sum", {"self": _BYTES, "dtype": Constant("dtype", "float32")}, _RUNS),
    ("1.19.0", "sort", {"self": _BYTES}, _HOST),
    ("1.19.0", "nonzero", {"self": _HALVES}, _HOST),
    ("1.19.0", "nonzero", {"self": _WIDE}, _RUNS),
    ("1.19.0", "index_select", {"self": _SIX}, _HOST),
    ("1.19.0", "_fft_r2c", {"self": _SINGLE}, _HOST),
    ("1.18.0", "div.Tensor", {"self": _INTS, "other": _INTS}, _RUNS),
    ("1.18.0", "eq.Scalar", {"self": _COMPLEX}, _HOST),
]


@pytest.mark.parametrize(("release", "op", "given", "verdict"), _CALLS)
def test_calls_that_the_kernel_hands_to_the_host(
    release: str, op: str, given: dict[str, Value], verdict: Verdict, database: Database
) -> None:
    found = matrix(database, f"habana-gaudi2@{release}")
    call = Node(OpName.parse(f"aten::{op}"), tuple(given.items()))
    assert Walk([call], found, f"{found.target.torch}.0").resolution(0).verdict is verdict


@pytest.mark.parametrize("chip", ["gaudi2", "gaudi3"])
def test_int64_is_taken_where_int32_is(chip: str, database: Database) -> None:
    """``constant_pad_nd`` of 1.18.0 names Long for Gaudi 2 alone; lazy mode has it as Int."""
    call = Node(OpName.parse("aten::constant_pad_nd"), (("self", _LONGS),))
    found = matrix(database, f"habana-{chip}@1.18.0")
    assert Walk([call], found, "2.4.0").resolution(0).verdict is Verdict.NATIVE


def test_float64_is_said_to_be_computed_as_float32(database: Database) -> None:
    call = Node(OpName.parse("aten::frac"), (("self", _tensor("float64")),))
    found = Walk([call], matrix(database, "habana-gaudi3"), "2.5.0").resolution(0)
    assert (found.verdict, found.code) == (Verdict.NATIVE, "float64-computed-as-float32")
