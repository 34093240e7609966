"""torch_xla's lists and what its code adds, against figures and lines that others took."""

import csv
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.db.importers.google import GoogleImporter, read_list, registered
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.predicates import ArgumentValue, Mode, NoneOf, OneOf
from opcheck.model.trace import Composite, Constant, Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import (
    bites_of,
    check_evidence,
    check_names,
    matrix,
    newest_of_each_release,
)

_SECTIONS = ("full_codegen", "supported", "autograd")
_RELEASES = (
    "r1.13", "r2.0", "r2.1", "r2.2", "r2.3", "r2.4",
    "r2.5", "r2.6", "r2.7", "r2.8", "r2.9", "r2.10",
)  # fmt: skip
Modes = tuple[tuple[str, str], ...]
_FIXED = TensorMeta("float32", (1, 64, 7, 7), (3136, 49, 7, 1))


def _listed(sources: Path, release: str) -> dict[str, dict[str, int]]:
    path = sources / "google-tpu" / f"xla_native_functions@{release}.yaml"
    return read_list(path.read_text())


def test_releases_are_the_branches_and_not_the_development_line(sources: Path) -> None:
    assert GoogleImporter().releases(sources) == _RELEASES


def test_counts_of_r2_9(sources: Path) -> None:
    counts = {section: len(names) for section, names in _listed(sources, "r2.9").items()}
    assert counts == {
        "full_codegen": 95, "ir_gen": 10, "supported": 289, "symint": 12, "autograd": 5
    }  # fmt: skip
    assert len({n for s in _SECTIONS for n in _listed(sources, "r2.9")[s]}) == 389


@pytest.mark.parametrize("release", _RELEASES)
def test_every_name_of_the_matrix_of_lists_is_read(release: str, sources: Path) -> None:
    with (sources / "google-tpu" / "xla-op-matrix.csv").open(newline="") as file:
        said = {row["op"]: row[release].split("+")[0] for row in csv.DictReader(file)}
    wanted = {op for op, sections in said.items() if sections}
    listed = _listed(sources, release)
    assert {name for section in _SECTIONS for name in listed[section]} == wanted


@pytest.mark.parametrize("release", _RELEASES)
def test_every_listed_name_is_an_entry(release: str, sources: Path) -> None:
    listed = {f"aten::{n}" for s in _SECTIONS for n in _listed(sources, release)[s]}
    entries = registered(sources, release)
    assert listed <= set(entries)
    composite = {"aten::all.dims", "aten::any.dims"}
    others = {op for op in set(entries) - listed - composite if op.startswith("aten::")}
    assert all(entries[op]["method"] == "dispatcher" for op in others)
    assert all(entries[op]["impl"][0] in listed for op in others)


@pytest.mark.parametrize(
    ("op", "line", "implementation"),
    [
        ("aten::abs", 14, ("full_codegen",)),
        ("aten::relu", 86, ("full_codegen",)),
        ("aten::upsample_bilinear2d", 377, ("supported",)),
        ("aten::view_copy", 385, ("supported",)),
        ("aten::relu_", 86, ("aten::relu",)),
        ("aten::abs.out", 14, ("aten::abs",)),
    ],
)
def test_cells_read_by_eye(
    op: str, line: int, implementation: tuple[str, ...], database: Database
) -> None:
    entry = matrix(database, "google-tpu-v4@r2.9").entries[op]
    (evidence,) = entry.evidence
    assert (entry.implementation, evidence.line) == (implementation, line)
    assert evidence.path == "codegen/xla_native_functions.yaml"
    assert evidence.commit == "5fab7053df86c8d503b98d9e7202ca8b8d4978c7"


def test_kernels_of_autograd_alone_leave_the_device_to_composites(database: Database) -> None:
    entries = matrix(database, "google-tpu-v4@r2.9").entries
    assert {"aten::max_pool2d", "aten::native_layer_norm"}.isdisjoint(entries)
    assert entries["aten::einsum"].keys == ("XLA", "AutogradXLA")
    assert "aten::einsum" not in matrix(database, "google-tpu-v4@r2.6").entries


@pytest.mark.parametrize(
    ("view", "copy"),
    [
        ("aten::transpose.int", "aten::transpose_copy.int"),
        ("aten::unsqueeze_", "aten::unsqueeze_copy"),
        ("aten::split.Tensor", "aten::split_copy.Tensor"),
    ],
)
def test_views_are_served_by_their_copies(view: str, copy: str, database: Database) -> None:
    assert matrix(database, "google-tpu-v4@r2.9").entries[view].implementation == (copy,)
    listed_itself = matrix(database, "google-tpu-v4@r2.0").entries[view]
    assert listed_itself.implementation == ("supported",)


def test_composites_of_structured_operators_run_on_the_host(database: Database) -> None:
    found = matrix(database, "google-tpu-v4@r2.9")
    assert found.inherits == {Composite.IMPLICIT, Composite.EXPLICIT}
    unlisted = Node(OpName.parse("aten::lgamma"), (), (), Composite.NON_FUNCTIONAL)
    assert "aten::lgamma" not in found.entries
    assert Walk([unlisted], found, "2.9.0").resolution(0).code == "host-fallback"


def test_a_structured_operator_with_a_composite_beside_runs_as_that(database: Database) -> None:
    """XLA inherits it, as the dispatcher's table of torch 2.13 says."""
    entry = matrix(database, "google-tpu-v4@r2.9").entries["aten::any.dims"]
    (evidence,) = entry.evidence
    assert (entry.implementation, evidence.line, evidence.source) == (
        ("composite",),
        761,
        "pytorch/pytorch",
    )


def test_core_operators_without_a_lowering(database: Database) -> None:
    """As the facts list them; atan2.out is there since its functional form is lowered."""
    entries = matrix(database, "google-tpu-v4@r2.9").entries
    absent = {
        "aten::_embedding_bag", "aten::grid_sampler_2d", "aten::native_group_norm_backward",
        "aten::_fft_r2c", "aten::native_layer_norm_backward", "aten::col2im",
    }  # fmt: skip
    assert absent.isdisjoint(entries)
    assert entries["aten::atan2.out"].implementation == ("aten::atan2",)


@pytest.mark.parametrize(
    ("output_size", "expected"),
    [((7, 7), Verdict.NATIVE), ((1, 1), Verdict.NATIVE), ((6, 7), Verdict.FALLBACK)],
)
def test_adaptive_pooling_of_sizes_that_do_not_divide_is_computed_on_the_host(
    output_size: tuple[int, int], expected: Verdict, database: Database
) -> None:
    pool = Node(
        OpName.parse("aten::_adaptive_avg_pool2d"),
        (("self", _FIXED), ("output_size", output_size)),
    )
    assert (
        Walk([pool], matrix(database, "google-tpu-v5e"), "2.9.0").resolution(0).verdict is expected
    )


def test_conditions_hold_for_every_form_and_only_where_the_code_says_so(
    database: Database,
) -> None:
    newest, older = (matrix(database, f"google-tpu-v4@{r}") for r in ("r2.10", "r2.1"))
    whole = ArgumentValue("beta", NoneOf(frozenset({"1", "1.0"})))
    for op in ("aten::addmm", "aten::addmm_", "aten::addmm.out"):
        assert (whole,) in bites_of(newest, op, "computed-on-host")
    assert bites_of(newest, "aten::cumsum", "computed-on-host") == []
    assert len(bites_of(older, "aten::cumsum", "computed-on-host")) == 1
    unset = Mode("XLA_EXPERIMENTAL=nonzero", OneOf(frozenset({"off"})))
    assert bites_of(newest, "aten::nonzero", "computed-on-host") == [(unset,)]


@pytest.mark.parametrize(
    ("release", "uint32"), [("r2.2", "dtype-not-supported"), ("r2.9", "registered")]
)
def test_dtypes_that_xla_lacks_are_errors(release: str, uint32: str, database: Database) -> None:
    found = matrix(database, f"google-tpu-v4@{release}")
    for dtype, code in (("uint32", uint32), ("complex32", "dtype-not-supported")):
        taken = TensorMeta(dtype, (2,), (1,))
        node = Node(OpName.parse("aten::neg"), (("self", taken),))
        assert Walk([node], found, "2.9.0").resolution(0).code == code


_SQUARE = TensorMeta("float32", (1, 3, 8, 8), (192, 64, 8, 1))
_PLACES = TensorMeta("int64", (4,), (1,))
_NUMBERS = TensorMeta("float32", (8,), (1,))
_WITHOUT = (("XLA_DISABLE_FUNCTIONALIZATION", "on"),)
_EXPERIMENT = (("XLA_EXPERIMENTAL=nonzero", "on"),)
_BOXES = (("XLA_EXPERIMENTAL=nms", "on"),)
_RUNS, _RRELU = "registered", "aten::rrelu_with_noise_backward"
_VALUE, _SCALED = "value-not-supported", {"output_size": (16, 12), "scales_h": 2.0, "scales_w": 1.5}


@pytest.mark.parametrize(
    ("op", "given", "modes", "code"),
    [
        ("aten::pixel_unshuffle", {"self": _SQUARE, "downscale_factor": 2}, _WITHOUT, _VALUE),
        ("aten::pixel_unshuffle", {"self": _SQUARE, "downscale_factor": 2}, (), _RUNS),
        ("aten::pixel_shuffle", {"self": _SQUARE, "upscale_factor": 2}, _WITHOUT, _RUNS),
        ("aten::nonzero", {"self": _NUMBERS}, (), "computed-on-host"),
        ("aten::nonzero", {"self": _NUMBERS}, _EXPERIMENT, "data-dependent-size"),
        ("aten::masked_select", {"self": _NUMBERS}, _EXPERIMENT, "computed-on-host"),
        ("torchvision::nms", {"scores": _NUMBERS}, _BOXES, "data-dependent-size"),
        ("torchvision::nms", {"scores": _NUMBERS}, _EXPERIMENT, "computed-on-host"),
        ("aten::mvlgamma_", {"self": _NUMBERS, "p": 2}, _WITHOUT, _VALUE),
        ("aten::index.Tensor", {"self": _NUMBERS, "indices": (_PLACES,)}, (), _RUNS),
        (
            "aten::index.Tensor",
            {"self": replace(_NUMBERS, host=True), "indices": (_PLACES,)},
            (),
            "host-tensor",
        ),
        (
            "aten::index.Tensor",
            {"self": _NUMBERS, "indices": (replace(_PLACES, host=True),)},
            (),
            _RUNS,
        ),
        ("aten::_to_copy", {"self": _NUMBERS, "device": Constant("device", "meta")}, (), _VALUE),
        (
            "aten::_to_copy",
            {"self": _NUMBERS, "device": Constant("device", "cpu")},
            (),
            _RUNS,
        ),
        (_RRELU, {"upper": 0.0, "self_is_result": True}, (), _VALUE),
        (_RRELU, {"upper": -0.5, "self_is_result": True}, (), _VALUE),
        (
            _RRELU,
            {"upper": 0.5, "self_is_result": True},
            (),
            _RUNS,
        ),
        (
            _RRELU,
            {"upper": 0.0, "self_is_result": False},
            (),
            _RUNS,
        ),
        ("aten::upsample_nearest2d", {"self": _SQUARE, **_SCALED}, (), _RUNS),
        (
            "aten::upsample_nearest2d",
            {"self": _SQUARE, **_SCALED, "output_size": (16, 13)},
            (),
            _VALUE,
        ),
        (
            "aten::upsample_bilinear2d_backward",
            {"grad_output": _SQUARE, "input_size": (1, 3, 8, 9), **_SCALED},
            (),
            _VALUE,
        ),
        ("aten::reflection_pad2d", {"self": _SQUARE, "padding": (1, 1, -1, 0)}, (), _VALUE),
        ("aten::reflection_pad2d", {"self": _SQUARE, "padding": (1, 1, 0, 0)}, (), _RUNS),
        ("aten::replication_pad2d_backward", {"padding": (-1, 1, 0, 0)}, (), _VALUE),
        ("aten::constant_pad_nd", {"self": _NUMBERS, "pad": (1, 1), "value": "1j"}, (), _VALUE),
        (
            "aten::constant_pad_nd",
            {"self": _NUMBERS, "pad": (1, 1), "value": 1.0},
            (),
            _RUNS,
        ),
    ],
)
def test_what_checks_of_values_refuse(
    op: str, given: dict[str, Value], modes: Modes, code: str, database: Database
) -> None:
    call = Node(OpName.parse(op), tuple(given.items()), modes=modes)
    newest = matrix(database, "google-tpu-v4@r2.10")
    assert Walk([call], newest, "2.10.0").resolution(0).code == code


def test_every_cell_has_evidence_and_a_known_name(database: Database) -> None:
    for found in newest_of_each_release(database, "google-tpu-v4"):
        check_evidence(found)
        check_names(found)


def test_an_unpublished_release_says_so(database: Database) -> None:
    codes = [a.code for a in matrix(database, "google-tpu-v4@r2.10").advisories]
    assert codes == ["torch-not-paired"]
    assert matrix(database, "google-tpu-v4@r2.9").advisories == ()


@pytest.mark.parametrize(
    ("chip", "first"),
    [("v4", "r1.13"), ("v5e", "r2.2"), ("v5p", "r2.2"), ("v6e", "r2.5"), ("v7x", "r2.9")],
)
def test_chips_are_known_from_the_release_that_counts_them(
    database: Database, chip: str, first: str
) -> None:
    known = {t.sdk for t in database.releases(f"google-tpu-{chip}")}
    assert known == set(_RELEASES[_RELEASES.index(first) :])


def test_nothing_that_is_listed_holds_for_one_generation_alone(database: Database) -> None:
    """torch_xla hands graphs to a compiler, which no list of it tells apart by generation."""
    found = [matrix(database, f"google-tpu-{chip}") for chip in ("v4", "v5e", "v5p", "v6e", "v7x")]
    assert all(each.entries == found[0].entries for each in found)
    assert all(each.conditions == found[0].conditions for each in found)


def test_an_unknown_release_names_the_known_ones(sources: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        GoogleImporter().run(sources, "r9")
    assert "r9" in caught.value.message
    assert "r2.9" in caught.value.hint
