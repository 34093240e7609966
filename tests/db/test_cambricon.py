"""torch_mlu's lists and tables, against figures that others took and cells read by eye."""

from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from opcheck.db.importers.cambricon import CambriconImporter
from opcheck.db.importers.cambricon.conditions import Conditions, code
from opcheck.db.importers.cambricon.lists import (
    AUTOGRAD,
    DENSE,
    SPARSE,
    Kernel,
    Tables,
    in_code,
    list_file,
    read_list,
    read_release,
    registrations,
)
from opcheck.db.importers.shared import operator_list
from opcheck.db.importers.shared.operator_list import IMPLICIT
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.predicates import Mode, NoneOf, NotDivisible, OneOf, Outside, Predicate, Unlike
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import (
    check_evidence,
    check_names,
    matrix,
    newest_of_each_release,
)

RELEASES = (
    "r1.22_pt2.1.0", "r1.22_pt2.3.0", "r1.22_pt2.4.0",
    "r2.1_develop", "r2.3_develop", "r2.4_develop",
)  # fmt: skip
CHIPS = ("cambricon-mlu370", "cambricon-mlu580", "cambricon-mlu590")


@pytest.fixture(scope="module")
def folder(sources: Path) -> Path:
    return sources / "cambricon"


@pytest.fixture(scope="module")
def facts(folder: Path) -> dict[str, Any]:
    listed = yaml.load((folder / "facts-cambricon.yaml").read_bytes(), yaml.CSafeLoader)["facts"]
    return {fact["id"]: fact for fact in listed}


def _registered(sources: Path, release: str) -> dict[str, Kernel]:
    folder = sources / "cambricon"
    listed = read_list(folder / list_file(release))
    torch_version = read_release(folder, release).torch
    return registrations(listed, in_code(folder, release), torch_version, sources / "pytorch")


def test_releases_are_the_branches(sources: Path) -> None:
    assert CambriconImporter().releases(sources) == RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_counts_of_each_namespace(release: str, folder: Path, facts: dict[str, Any]) -> None:
    ops = {entry.op for entry in read_list(folder / list_file(release))}
    names = {ns: {op.removeprefix(f"{ns}::") for op in ops if op.startswith(f"{ns}::")}
             for ns in ("aten", "torchvision", "torchaudio", "torch_mlu")}  # fmt: skip
    assert facts["counts"]["value"][release] == {
        "aten_unique": len(names["aten"]),
        "aten_base": len({name.partition(".")[0] for name in names["aten"]}),
        "vision": len(names["torchvision"]),
        "audio": len(names["torchaudio"]),
        "custom": len(names["torch_mlu"]),
    }


@pytest.mark.parametrize("release", RELEASES)
def test_counts_of_what_entries_say(release: str, folder: Path) -> None:
    counts = yaml.load((folder / "mlu_functions_counts.yaml").read_bytes(), yaml.CSafeLoader)
    expected = counts[release]["aten"]
    listed = [e for e in read_list(folder / list_file(release)) if e.op.startswith("aten::")]
    assert len(listed) == expected["entries"]
    named = [e.op.removeprefix("aten::") for e in listed if e.fields.get("custom_autograd")]
    assert sorted(named) == expected["custom_autograd"]
    for key in ("structured", "structured_delegate", "override_meta"):
        assert sum(key in entry.fields for entry in listed) == expected[key]


def test_composites_that_the_newest_release_overrides(sources: Path, facts: dict[str, Any]) -> None:
    """Held against the newest torch's names, as the facts are."""
    found = _registered(sources, "r2.4_develop")
    known = operator_list.functions(sources / "pytorch", "2.13")
    kinds = [known[op[6:]].kind for op in found if op.startswith("aten::") and op[6:] in known]
    implicit = {
        op[6:]
        for op in found
        if op.startswith("aten::") and op[6:] in known and known[op[6:]].kind == IMPLICIT
    }
    in_code_alone = {"_has_compatible_shallow_copy_type"}
    listed = set(facts["composite.overrides"]["value"]["implicit@r2.4_develop"])
    assert implicit - in_code_alone == listed
    assert kinds.count("CompositeExplicitAutograd") == 78


def test_names_that_torch_lacks_are_never_registered(sources: Path) -> None:
    for release in RELEASES:
        found = _registered(sources, release)
        assert "aten::bernoulli_.p" not in found
        assert "aten::bernoulli_.float" in found


@pytest.mark.parametrize(
    ("release", "torch_version", "versions"),
    [
        ("r1.22_pt2.1.0", "2.1", ("1.22.2", "3.13.5-1", "1.26.6-1")),
        ("r2.3_develop", "2.3", ("1.23.0", "3.13.4-1", "1.26.4-1")),
        ("r2.4_develop", "2.4", ("1.25.0", "4.0.1-1", "2.0.0-1")),
    ],
)
def test_each_branch_serves_the_torch_that_it_is_built_against(
    release: str, torch_version: str, versions: tuple[str, ...], database: Database
) -> None:
    target = database.resolve(TargetSpec.parse(f"cambricon-mlu370@{release}"))
    assert (target.torch, target.device_type) == (torch_version, "mlu")
    row = next(r for r in database.vendors["cambricon"].document.data["pairing"]
               if r["release"] == release)  # fmt: skip
    assert tuple(row["packages"][p] for p in ("torch_mlu", "cntoolkit", "cnnl")) == versions
    assert database.matrix(target).advisories == ()


@pytest.mark.parametrize(
    ("op", "path", "line", "implementation", "keys"),
    [
        ("aten::gelu", "codegen/mlu_functions.yaml", 580, ("cnnl",), (DENSE,)),
        ("aten::_linalg_svd", "codegen/mlu_functions.yaml", 41, ("cnnl",), (DENSE,)),
        ("aten::lstm.input", "codegen/mlu_functions.yaml", 55, ("cnnl",), (DENSE, AUTOGRAD)),
        ("aten::matmul", "codegen/mlu_functions.yaml", 271, ("cnnl",), (DENSE, AUTOGRAD)),
        ("aten::addmm", "codegen/mlu_functions.yaml", 237, ("cnnl",), (DENSE, SPARSE)),
        ("aten::_fft_r2c", "codegen/mlu_functions.yaml", 312, ("mluop",), (DENSE,)),
        ("aten::_fused_adamw_", "codegen/mlu_functions.yaml", 1390, ("bang",), (DENSE,)),
        ("torchvision::nms", "codegen/mlu_functions.yaml", 1456, ("cnnl",), (DENSE,)),
        ("torch_mlu::fused_adam", "codegen/mlu_functions.yaml", 1476, ("bang",), (DENSE,)),
        (
            "aten::_has_compatible_shallow_copy_type",
            "torch_mlu/csrc/aten/operators/cnnl/has_compatible_shallow_copy_type.cpp",
            51, (), (DENSE, AUTOGRAD),
        ),
    ],
)  # fmt: skip
def test_cells_read_by_eye(
    op: str, path: str, line: int, implementation: tuple[str, ...], keys: tuple[str, ...],
    database: Database,
) -> None:  # fmt: skip
    entry = matrix(database, "cambricon-mlu590@r2.4_develop").entries[op]
    (evidence,) = entry.evidence
    assert (evidence.path, evidence.line) == (path, line)
    assert evidence.commit == "9e95f972d3bfda0a855f9500aec852664ceecb6a"
    assert evidence.method is Method.REGISTERED
    assert (entry.implementation, entry.keys) == (implementation, keys)


def test_sparse_kernels_are_none_of_the_device(database: Database) -> None:
    assert "aten::_coalesce" not in matrix(database, "cambricon-mlu590").entries


@pytest.mark.parametrize("chip", CHIPS)
def test_every_cell_has_evidence_and_a_known_name(chip: str, database: Database) -> None:
    releases = newest_of_each_release(database, chip)
    assert tuple(found.target.sdk for found in releases) == RELEASES
    for found in releases:
        check_evidence(found)
        check_names(found)
        listed = [e for e in found.entries.values() if e.implementation and not e.package]
        assert all(entry.evidence[0].line for entry in listed)


_FLOATS = TensorMeta("float32", (2, 3, 8, 8), (192, 64, 8, 1))


def _tensor(dtype: str, *shape: int) -> TensorMeta:
    return TensorMeta(dtype, shape or (4,), (1,) * (len(shape) or 1))


def _resolution(
    found: SupportMatrix, op: str, output: Value = None, **arguments: Value
) -> Resolution:
    """What becomes of one call whose result is, unless told, like its first tensor."""
    first = next(v for v in arguments.values() if isinstance(v, TensorMeta))
    node = Node(OpName.parse(op), tuple(arguments.items()), (output or first,))
    return Walk([node], found, f"{found.target.torch}.0").resolution(0)


@pytest.mark.parametrize(
    ("op", "arguments", "code", "line"),
    [
        ("aten::sign", {"self": _tensor("int64")}, "dtype-not-supported", None),
        ("aten::exp", {"self": _tensor("complex64")}, "dtype-not-supported", None),
        ("aten::exp", {"self": _FLOATS}, "registered", None),
        ("aten::maximum", {"self": _tensor("int8")}, "registered", None),
        ("aten::upsample_nearest2d", {"self": _tensor("uint8", 1, 3, 8, 8)},
         "dtype-not-supported", 90),
        ("aten::mm", {"self": _tensor("int64", 2, 2), "mat2": _tensor("int64", 2, 2)},
         "dtype-not-supported", 151),
        ("aten::matmul", {"self": _tensor("int64", 2, 2), "other": _tensor("int64", 2, 2)},
         "dtype-not-supported", 151),
        ("aten::matmul", {"self": _tensor("bfloat16", 2, 2), "other": _tensor("bfloat16", 2, 2)},
         "registered", None),
        ("aten::_unique2", {"self": _tensor("bool")}, "dtype-not-supported", 117),
        ("aten::masked_fill_.Scalar", {"self": _tensor("uint8"), "mask": _tensor("bool")},
         "dtype-not-supported", 88),
        ("aten::grid_sampler_2d", {"input": _FLOATS, "interpolation_mode": 2, "padding_mode": 0},
         "value-not-supported", 68),
        ("aten::grid_sampler_2d", {"input": _FLOATS, "interpolation_mode": 0, "padding_mode": 1},
         "value-not-supported", 72),
        ("aten::grid_sampler_2d", {"input": _FLOATS, "interpolation_mode": 0, "padding_mode": 2},
         "registered", None),
        ("aten::_fft_r2c", {"self": _FLOATS, "dim": (3,), "onesided": False},
         "value-not-supported", 62),
        ("aten::_cdist_forward", {"x1": _FLOATS, "x2": _FLOATS, "p": 2.0},
         "value-not-supported", 42),
        ("aten::scatter_reduce.two", {"self": _FLOATS, "reduce": "mean"},
         "value-not-supported", 128),
        ("aten::avg_pool2d", {"self": _FLOATS, "divisor_override": 2},
         "value-not-supported", 670),
        ("aten::avg_pool2d", {"self": _FLOATS, "divisor_override": None}, "registered", None),
        ("aten::var.correction", {"self": _FLOATS, "correction": 2}, "value-not-supported", 437),
        ("aten::_scaled_dot_product_flash_attention", {"query": _FLOATS},
         "dtype-not-supported", 127),
        ("aten::_scaled_dot_product_flash_attention",
         {"query": _tensor("float16", 1, 8, 16, 512)}, "size-not-supported", 163),
        ("aten::max_pool2d_with_indices", {"self": _FLOATS, "dilation": (2, 2)},
         "document-contradicts-registration", 2887),
        ("aten::max_pool2d_with_indices", {"self": _FLOATS, "kernel_size": (256, 256)},
         "size-not-supported", 1022),
        ("aten::max_pool2d_with_indices", {"self": _FLOATS, "kernel_size": (255, 257)},
         "size-not-supported", 1022),
        ("aten::max_pool2d_with_indices", {"self": _FLOATS, "kernel_size": (40, 40)},
         "registered", None),
        ("aten::max_pool3d_with_indices", {"self": _FLOATS, "kernel_size": (12, 12, 12)},
         "size-not-supported", 1296),
        ("aten::topk", {"self": _FLOATS, "k": 3, "sorted": False}, "sorted-all-the-same", 1426),
        ("aten::maximum", {"self": _tensor("int64"), "other": _tensor("int64")},
         "int64-narrowed-to-int32", None),
        # comparisons take int64 as it is; at::native sees to integers before the kernel does
        ("aten::eq.Scalar", {"self": _tensor("int64"), "other": 3}, "registered", None),
        ("aten::nan_to_num.out", {"self": _tensor("int64")}, "registered", None),
        ("aten::nan_to_num.out", {"self": _tensor("complex64")}, "dtype-not-supported", None),
        ("aten::hardtanh", {"self": _tensor("int64")}, "registered", None),
        ("aten::all", {"self": _tensor("complex64")}, "registered", None),
        ("aten::var.correction", {"self": _tensor("complex64")}, "dtype-not-supported", 433),
        ("aten::_index_put_impl_", {"self": _tensor("int64"), "accumulate": True},
         "int64-narrowed-to-int32", None),
        ("aten::_index_put_impl_", {"self": _tensor("int64"), "accumulate": False},
         "registered", None),
        ("aten::exp", {"self": _tensor("float64")}, "float64-computed-as-float32", 69),
        ("aten::roll", {"self": _tensor("complex128")}, "complex128-computed-as-complex64", 71),
        ("aten::add.Tensor", {"self": _tensor("uint16")}, "dtype-not-supported", 74),
        ("aten::clone", {"self": _tensor("float8_e4m3fn")}, "dtype-not-supported", 541),
        # what the kernels check beyond the tables
        ("aten::_linalg_svd", {"A": _tensor("float32", 150, 8)}, "size-not-supported", 60),
        ("aten::_linalg_svd", {"A": _tensor("float32", 149, 8)}, "registered", None),
        ("aten::group_norm",
         {"input": _tensor("bfloat16", 1, 4, 8), "weight": _tensor("float32", 4)},
         "dtype-not-supported", 149),
        ("aten::group_norm",
         {"input": _tensor("bfloat16", 1, 4, 8), "weight": _tensor("bfloat16", 4)},
         "registered", None),
        ("aten::adaptive_max_pool2d",
         {"self": _tensor("float32", 1, 3, 58, 58), "output_size": (1, 1)},
         "size-not-supported", 98),
        ("aten::adaptive_max_pool2d",
         {"self": _tensor("float32", 1, 3, 57, 57), "output_size": (1, 1)},
         "registered", None),
        ("aten::adaptive_max_pool2d",
         {"self": _tensor("float32", 1, 3, 58, 58), "output_size": (2, 2)},
         "mlu-adaptive-max-indices", 369),
        ("aten::_embedding_bag_dense_backward", {"grad": _FLOATS, "mode": 1},
         "value-not-supported", 200),
        ("aten::_fft_c2c", {"self": _tensor("complex64", 4099), "dim": (0,)},
         "size-not-supported", 161),
        ("aten::_fft_c2c", {"self": _tensor("complex64", 8192), "dim": (0,)}, "registered", None),
        ("aten::lstm.input", {"input": _FLOATS, "hx": TensorMeta("float32", (2, 3, 4), (4, 8, 1))},
         "layout-not-supported", 449),
        ("aten::lstm.input", {"input": _FLOATS, "hx": TensorMeta("float32", (2, 3, 4), (12, 4, 1))},
         "registered", None),
        ("aten::eq.Tensor", {"self": _tensor("float32", *[1] * 9)}, "rank-not-supported", 82),
        ("aten::isin.Tensor_Tensor",
         {"elements": _tensor("int64", *[2] * 8), "test_elements": _tensor("int64", 3)},
         "rank-not-supported", 44),
        ("aten::isin.Tensor_Tensor",
         {"elements": _tensor("int64", *[2] * 8), "test_elements": _tensor("int64", 30)},
         "registered", None),
        # what the vendor's tests say of CNNL, and what its torch lacks
        ("aten::grid_sampler_2d",
         {"input": _tensor("float32", 1025, 4, 1024, 1024), "interpolation_mode": 1,
          "padding_mode": 0},
         "size-not-supported", 189),
        ("aten::upsample_nearest2d_backward",
         {"grad_output": _tensor("float32", 4, 1025, 1024, 1024)},
         "size-not-supported", 185),
        ("aten::where.self", {"self": _tensor("uint8")}, "dtype-not-supported", 191),
        ("aten::scaled_dot_product_attention", {"query": _FLOATS, "enable_gqa": True},
         "value-not-supported", 433),
    ],
)  # fmt: skip
def test_conditions_bite_where_the_code_says_so(
    op: str, arguments: dict[str, Value], code: str, line: int | None, database: Database
) -> None:
    """``line`` of the file that says so; None where its table has no lines, or nothing bites."""
    resolution = _resolution(matrix(database, "cambricon-mlu590"), op, **arguments)
    assert resolution.code == code
    if code != "registered":
        assert resolution.evidence[0].line == line


@pytest.mark.parametrize(
    ("release", "var", "var_mean"), [("r1.22_pt2.4.0", 361, set()), ("r2.4_develop", 437, {397})]
)
def test_a_check_is_told_from_another_that_says_the_same(
    release: str, var: int, var_mean: set[int], database: Database
) -> None:
    """var_mean looks at the correction only in the newer release, in a function of its own."""
    found = matrix(database, f"cambricon-mlu590@{release}")
    assert (
        _resolution(found, "aten::var.correction", self=_FLOATS, correction=2).evidence[0].line
        == var
    )
    conditions = found.conditions.get("aten::var_mean.correction", ())
    lines = {c.evidence[0].line for c in conditions if c.code == "value-not-supported"}
    assert lines == var_mean


def test_comparisons_look_at_what_they_compare(database: Database) -> None:
    newest, older = (
        matrix(database, f"cambricon-mlu590@{r}") for r in ("r2.4_develop", "r1.22_pt2.1.0")
    )
    for op, complex_in in (("aten::eq.Tensor", newest), ("aten::ne.Tensor", None)):
        for found in (newest, older):
            asked = {"self": _tensor("complex64"), "other": _tensor("complex64")}
            expected = "registered" if found is complex_in else "dtype-not-supported"
            assert _resolution(found, op, _tensor("bool"), **asked).code == expected


@pytest.mark.parametrize("release", RELEASES)
def test_bfloat16_needs_a_newer_chip(release: str, database: Database) -> None:
    """Of each release; weights alone count too."""
    for chip in CHIPS:
        expected = "dtype-not-supported" if chip == "cambricon-mlu370" else "registered"
        found = matrix(database, f"{chip}@{release}")
        assert _resolution(found, "aten::relu", self=_tensor("bfloat16")).code == expected
        mixed = {"self": _tensor("float32"), "other": _tensor("bfloat16")}
        assert _resolution(found, "aten::mul.Tensor", **mixed).code == expected


def test_fused_attention_needs_a_newer_chip(database: Database) -> None:
    for chip, fused, whole in (
        ("mlu370", "document-contradicts-registration", "attention-not-fused"),
        ("mlu580", "registered", "registered"),
        ("mlu590", "registered", "registered"),
    ):
        found = matrix(database, f"cambricon-{chip}")
        query = _tensor("float16", 1, 8, 16, 64)
        assert (
            _resolution(found, "aten::_scaled_dot_product_flash_attention", query=query).code
            == fused
        )
        assert _resolution(found, "aten::scaled_dot_product_attention", query=query).code == whole


def test_a_neighbour_is_believed_less(database: Database) -> None:
    """r2.3_develop's kernels were read in the branch of the release before it."""
    tests = {"self": _tensor("int64", 2, 2), "mat2": _tensor("int64", 2, 2)}
    own, borrowed = (
        _resolution(matrix(database, f"cambricon-mlu590@{release}"), "aten::mm", **tests)
        for release in ("r1.22_pt2.4.0", "r2.3_develop")
    )
    assert (own.code, own.confidence) == ("dtype-not-supported", Confidence.HIGH)
    assert (borrowed.code, borrowed.confidence) == ("dtype-not-supported", Confidence.MEDIUM)
    assert [e.method for e in borrowed.evidence] == [Method.INFERRED]
    assert borrowed.evidence[0].commit == own.evidence[0].commit


def test_the_nearest_release_is_told_by_version_and_then_by_torch(folder: Path) -> None:
    assert {release: Tables(folder, release).checked.source for release in RELEASES} == {
        "r1.22_pt2.1.0": "code-r1.22_pt2.4.0",
        "r1.22_pt2.3.0": "code-r1.22_pt2.4.0",
        "r1.22_pt2.4.0": "code",
        "r2.1_develop": "code-r2.4_develop",
        "r2.3_develop": "code-r1.22_pt2.4.0",
        "r2.4_develop": "code",
    }


def test_rows_of_every_table_are_counted(folder: Path) -> None:
    """As the folder's own description counts them."""
    newest, oldest = Tables(folder, "r2.4_develop"), Tables(folder, "r1.22_pt2.1.0")
    assert [len(t.rows) for t in (newest.dtypes, oldest.dtypes)] == [91, 90]
    assert len(newest.dispatched.rows) == 158
    assert len(newest.checked.rows) == 338
    assert len(newest.narrowed.rows) == 32
    assert len(newest.apis.rows) == 136


def test_the_fallback_warns_in_the_vendors_words(database: Database) -> None:
    fallback = matrix(database, "cambricon-mlu370").fallback
    assert fallback.to_cpu
    assert fallback.text == (
        "The operator '{op}' is not currently supported on the MLU backend and will fall back to "
        "run on the CPU. This may have performance implications."
    )
    assert fallback.disable == "ENABLE_FALLBACK_TO_CPU=0 in the environment"
    (evidence,) = fallback.evidence
    assert (evidence.path, evidence.line) == ("torch_mlu/csrc/aten/MLUFallback.cpp", 120)


def test_every_name_of_the_curated_file_stands_for_something(sources: Path) -> None:
    """In some release; a misspelt one would be left out in silence."""
    folder = sources / "cambricon"
    known: list[Conditions] = []
    for release in RELEASES:
        listed, kernels = read_list(folder / list_file(release)), _registered(sources, release)
        known.append(Conditions(Tables(folder, release), listed, kernels))
    sections = ("iterated", "dispatched", "checked", "narrowed", "limited")
    names = {
        name for section in sections for fact in code()[section] for name in fact.get("ops", ())
    }
    assert len(names) > 150
    assert {name for name in names if not any(c.ops([name]) for c in known)} == set()


def test_every_row_that_the_curated_file_names_is_in_some_table(folder: Path) -> None:
    tables = [Tables(folder, release) for release in RELEASES]
    labels = {row["label"] for table in tables for row in table.dispatched.rows}
    assert {fact["label"] for fact in code()["dispatched"]} <= labels
    messages = [row["message"] for table in tables for row in table.checked.rows]
    said = {fact["says"] for fact in code()["checked"]}
    assert {text for text in said if not any(text in message for message in messages)} == set()
    files = {row["file"] for table in tables for row in table.narrowed.rows}
    assert {fact["file"] for fact in code()["narrowed"]} <= files
    rows = [row for table in tables for row in table.apis.rows]
    for fact in code()["limited"]:
        assert any(r["api"] == fact["api"] and fact["says"] in r["says"] for r in rows), fact


@pytest.mark.parametrize("release", RELEASES)
def test_tests_look_at_arguments_that_there_are(release: str, database: Database) -> None:
    """A misspelt argument would never bite."""
    found = matrix(database, f"cambricon-mlu370@{release}")
    strange = {
        (op, test.argument)
        for op in found.conditions
        if op.startswith("aten::")
        for condition in found.conditions[op]
        for test in condition.predicates
        if test.argument not in _arguments(op) and not isinstance(test, Mode)
    }
    assert strange == set()


def _arguments(op: str) -> frozenset[str]:
    name, _, overload = op.partition(".")
    schema = torch._C._get_schema(name, overload)
    return frozenset({"*", "return"} | {argument.name for argument in schema.arguments})


def test_conditions_leave_common_calls_alone(database: Database) -> None:
    """What any model asks for, in float32, on either chip and any release; convolutions run."""
    matrices = [found for chip in CHIPS for found in newest_of_each_release(database, chip)]
    for found in matrices:
        for op in ("aten::add.Tensor", "aten::addmm", "aten::relu"):
            assert _resolution(found, op, self=_FLOATS).code == "registered"
        convolution = _resolution(found, "aten::_convolution", input=_FLOATS)
        assert convolution.verdict is Verdict.NATIVE
        assert convolution.code in ("registered", "float32-computed-as-tf32")


def test_every_condition_can_bite(database: Database) -> None:
    """Each has a test with a bound, or holds for every use on the chips that it names."""
    for found in newest_of_each_release(database, "cambricon-mlu370"):
        conditions = [c for op in found.conditions for c in found.conditions[op]]
        bare = {c.code for c in conditions if not c.predicates}
        assert bare <= {
            "document-contradicts-registration", "library-refuses-device", "attention-not-fused",
        }  # fmt: skip
        assert all(_bounded(one) for c in conditions for one in c.predicates)


def _bounded(predicate: Predicate) -> bool:
    match predicate.bound:
        case OneOf(listed) | NoneOf(listed):
            return bool(listed)
        case Outside(minimum, maximum):
            return minimum is not None or maximum is not None
        case Unlike(other):
            return bool(other)
        case NotDivisible(by):
            return by > 1
        case _:
            return False


@pytest.mark.parametrize("release", RELEASES)
def test_what_only_older_branches_refuse(release: str, database: Database) -> None:
    """Newer ones take medians of any number of elements, and choose between booleans."""
    found = matrix(database, f"cambricon-mlu590@{release}")
    older = release not in ("r2.1_develop", "r2.4_develop")
    calls: dict[str, dict[str, Value]] = {
        "aten::median": {"self": _tensor("float32", 167936)},
        "aten::median.dim_values": {"self": _tensor("float32", 2, 41984), "dim": 1},
        "aten::where.self": {"self": _tensor("bool", 4), "return": _tensor("bool", 4)},
    }
    for op, arguments in calls.items():
        assert (_resolution(found, op, **arguments).code == "registered") is not older
    spread: dict[str, Value] = {"self": _tensor("float32", 2, 41984), "dim": 0}
    assert _resolution(found, "aten::median.dim_values", **spread).code == "registered"
    dilated = _resolution(found, "aten::max_pool2d_with_indices", self=_FLOATS, dilation=(2, 2))
    expected = release == "r1.22_pt2.4.0"
    assert (dilated.code == "value-not-supported" and dilated.evidence[0].line == 1027) is expected


def test_an_unknown_release_names_the_known_ones(sources: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        CambriconImporter().run(sources, "r9")
    assert "r9" in caught.value.message
    assert "r2.4_develop" in caught.value.hint


@pytest.mark.parametrize("release", RELEASES)
def test_an_mlu580_is_of_the_series_of_an_mlu590(release: str, database: Database) -> None:
    """torch_mlu compiles for the series and asks for its major version; only names differ."""
    one, other = (matrix(database, f"cambricon-{chip}@{release}") for chip in ("mlu580", "mlu590"))
    assert one.entries == other.entries
    assert one.conditions == other.conditions
