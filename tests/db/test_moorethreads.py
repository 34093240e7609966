"""Moore Threads: the importer against the facts, and ten cells against the vendor's files."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from opcheck.db.importers.moorethreads import MooreThreadsImporter, lists, read_release
from opcheck.db.importers.moorethreads.conditions import conditions
from opcheck.db.importers.shared import operator_list
from opcheck.db.importers.shared.operator_list import IMPLICIT
from opcheck.db.store import Database
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.predicates import Mode
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.conditions import matches
from tests.db.vendor_checks import is_fixed, is_thread

RELEASES = (
    "1.0.0", "1.2.1", "1.3.0", "1.3.2", "2.0.0", "2.0.0-pt25", "2.0.1", "2.1.0", "2.1.1",
    "2.5.0", "2.7.0", "2.7.1",
)  # fmt: skip
LISTED = RELEASES[1:]
_NO_KEY = "(none: inherits structured kernel or delegates)"


@pytest.fixture(scope="module")
def counts(sources: Path) -> dict[str, Any]:
    path = sources / "moorethreads" / "musa_functions_counts.yaml"
    loaded: dict[str, Any] = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    return loaded


def _matrix(database: Database, name: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(name)))


def test_every_release_of_the_sources_is_there(sources: Path, database: Database) -> None:
    assert MooreThreadsImporter().releases(sources) == RELEASES
    assert database.vendors["moorethreads"].releases("s4000") == RELEASES
    assert database.vendors["moorethreads"].releases("s5000") == RELEASES[4:]


def test_a_tag_is_not_a_torch_version(database: Database) -> None:
    found = {target.sdk: target.torch for target in database.releases("moorethreads-s80")}
    assert found == {
        "1.0.0": "2.0", "1.2.1": "2.0", "1.3.0": "2.2", "1.3.2": "2.2", "2.0.0": "2.2",
        "2.0.0-pt25": "2.5", "2.0.1": "2.2", "2.1.0": "2.5", "2.1.1": "2.5", "2.5.0": "2.5",
        "2.7.0": "2.7", "2.7.1": "2.7",
    }  # fmt: skip


@pytest.mark.parametrize("release", LISTED)
def test_entries_are_as_many_as_the_facts_count(
    release: str, sources: Path, counts: dict[str, Any]
) -> None:
    listed = {
        op: kernel
        for op, kernel in lists.registrations(sources, release).items()
        if kernel.at.startswith("list:")
    }
    said = counts[f"v{release}"]
    assert len(listed) == said["entries"] == said["unique_overloads"]
    assert len({op.partition(".")[0] for op in listed}) == said["base_names"]
    path = sources / "moorethreads" / lists.list_name(release)
    dispatch = [entry.get("dispatch", {}) for entry in yaml.load(path.read_bytes(), yaml.CLoader)]
    keys = Counter(key.strip() for keys in dispatch for k in keys for key in k.split(","))
    without = sum(not keys for keys in dispatch)
    assert {_NO_KEY: without, **keys} == said["dispatch_keys"]
    added = lists.vendor_schemas(sources / "moorethreads", release)
    assert len(added) == said["new_schemas_patched_into_torch"]


@pytest.mark.parametrize("release", LISTED)
def test_every_name_is_of_pytorch_or_of_the_vendors_own_pytorch(
    release: str, sources: Path
) -> None:
    folder = sources / "moorethreads"
    torch = major_minor(lists.torch_of(folder)[release])
    known = operator_list.functions(sources / "pytorch", torch)
    own = lists.vendor_schemas(folder, release)
    found = lists.registrations(sources, release)
    aten = {op.removeprefix("aten::") for op in found if op.startswith("aten::")}
    assert aten
    assert aten - set(known) <= set(own)
    assert lists.unknown_names(sources, release) == []


@pytest.mark.parametrize("release", LISTED)
def test_an_entry_without_a_key_is_of_a_structured_operator(release: str, sources: Path) -> None:
    """Only those have a CUDA kernel that can be ported as it is."""
    torch = major_minor(lists.torch_of(sources / "moorethreads")[release])
    known = operator_list.functions(sources / "pytorch", torch)
    path = sources / "moorethreads" / lists.list_name(release)
    entries = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    keyless = [entry["func"] for entry in entries if "dispatch" not in entry]
    assert keyless
    for name in keyless:
        assert known[name].delegate or known[name].kind == "", name


def test_composites_that_the_newest_release_overrides(sources: Path) -> None:
    path = sources / "moorethreads" / "facts-moorethreads.yaml"
    facts = {f["id"]: f for f in yaml.load(path.read_bytes(), yaml.CSafeLoader)["facts"]}
    known = operator_list.functions(sources / "pytorch", "2.13")
    kinds: dict[str, set[str]] = {}
    for op, kernel in lists.registrations(sources, "2.7.1").items():
        function = known.get(op.removeprefix("aten::"))
        if function is not None:
            kinds.setdefault(function.kind, set()).add(function.name)
            if lists.DENSE not in kernel.keys:
                kinds.setdefault("other keys alone", set()).add(function.name)
    assert kinds[IMPLICIT] == set(facts["composite.overrides"]["value"]["implicit@v2.7.1"])
    assert len(kinds[IMPLICIT]) == 21
    said = re.search(r"(\d+) CompositeExplicitAutograd", facts["composite.overrides"]["text"])
    assert said is not None
    explicit = kinds["CompositeExplicitAutograd"] | kinds["autogen"]
    assert len(explicit) == int(said[1]) == 199
    assert len(explicit & kinds["other keys alone"]) == 14


def test_no_list_registers_at_the_autograd_key(sources: Path) -> None:
    for release in LISTED:
        keys = {k for kernel in lists.registrations(sources, release).values() for k in kernel.keys}
        assert lists.AUTOGRAD not in keys, release


def test_the_first_release_is_what_its_code_registers(sources: Path) -> None:
    found = lists.registrations(sources, "1.0.0")
    assert len([op for op in found if op.startswith("aten::")]) == 349
    assert "aten::where.self" in found
    assert "aten::cumprod" not in found
    unknown = ["aten::_cat", "aten::max_pool2d_with_indices_backward_out"]
    assert lists.unknown_names(sources, "1.0.0") == unknown
    assert not read_release(sources, "1.0.0").kernels.keys() & set(unknown)


CELLS = {
    ("2.7.1", "aten::gelu"): "list:814 Gelu",
    ("2.7.1", "aten::amax"): "list:21 AMaxOut",
    ("2.7.1", "aten::amax.out"): "list:22 AMaxOut",
    ("2.7.1", "aten::bitwise_not"): "list:44 Legacy",
    ("2.7.1", "aten::cumprod"): "list:2816 CumProd",
    ("2.7.1", "aten::nll_loss_forward"): "list:127 Legacy",
    ("2.7.1", "aten::_transformer_encoder_layer_fwd"): "list:480 transformer_encoder_layer_forward",
    ("1.3.0", "aten::where.self"): "list:1944 WhereSelf",
    ("1.3.2", "aten::std.correction"): "list:1789 std",
    ("1.3.0", "torchvision::nms"): "cpp:torch_musa/csrc/aten/ops/torchvision/nms_kernel.mu:196 ",
}
"""Read in the vendor's files by eye."""


@pytest.mark.parametrize(("release", "op"), list(CELLS))
def test_a_cell_says_what_the_vendors_file_says(release: str, op: str, sources: Path) -> None:
    kernel = lists.registrations(sources, release)[op]
    assert f"{kernel.at} {', '.join(kernel.impl)}" == CELLS[release, op]


def test_joined_keys_are_taken_apart(sources: Path) -> None:
    found = lists.registrations(sources, "2.7.1")
    assert found["aten::flip"].keys == ("PrivateUse1", "QuantizedPrivateUse1")
    assert found["aten::squeeze"].keys == ("QuantizedPrivateUse1",)


def test_a_kernel_that_code_registers_joins_the_lists_entry(sources: Path) -> None:
    found = lists.registrations(sources, "2.7.1")["aten::relu"]
    assert found.at.startswith("list:")
    assert found.keys == ("PrivateUse1", "QuantizedPrivateUse1")


def test_what_was_read_of_a_neighbour_says_so(database: Database) -> None:
    own = _matrix(database, "moorethreads-s4000@2.0.0").entries["torchvision::nms"]
    neighbour = _matrix(database, "moorethreads-s4000@2.1.1").entries["torchvision::nms"]
    newest = _matrix(database, "moorethreads-s4000@2.7.1").entries["torchvision::nms"]
    found = [entry.evidence[0] for entry in (own, neighbour, newest)]
    assert [str(evidence.method) for evidence in found] == ["registered", "inferred", "tested"]
    assert found[0].commit == found[1].commit != found[2].commit


def test_every_cell_has_a_file_a_commit_and_a_line(database: Database) -> None:
    for release in RELEASES:
        matrix = _matrix(database, f"moorethreads-s80@{release}")
        own = {op: entry for op, entry in matrix.entries.items() if not entry.package}
        for op, entry in own.items():
            (evidence,) = entry.evidence
            assert evidence.commit, (release, op)
            assert evidence.line or evidence.path.endswith(".patch"), (release, op)
        for op in matrix.conditions:
            for condition in matrix.conditions[op]:
                code = [e for e in condition.evidence if not is_thread(e)]
                assert code or condition.code.startswith("musa-"), (release, op)
                assert all(map(is_fixed, code)), (release, op)
                # a library may lack a kernel: no line says so
                assert all(e.line for e in code) or op.startswith("bitsandbytes::"), (release, op)


def test_nothing_falls_back(database: Database) -> None:
    fallback = _matrix(database, "moorethreads-s5000").fallback
    assert not fallback.to_cpu
    assert fallback.text == "Could not run '{op}' with arguments from the 'musa' backend."
    assert fallback.evidence


def _bitten(matrix: SupportMatrix, op: str, **arguments: Any) -> list[Condition]:
    node = Node(OpName.parse(op), tuple(arguments.items()))
    return [c for c in matrix.conditions_for(op) if matches(c, node) is not None]


def _tensor(dtype: str) -> TensorMeta:
    return TensorMeta(dtype, (4, 4), (4, 1))


REFUSED = [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)]
BITES = {
    "a triangle of int16": ("2.7.1", "aten::tril", {"self": "int16"}, REFUSED),
    "a triangle of complex64 before": ("2.7.0", "aten::triu_", {"self": "complex64"}, REFUSED),
    "a triangle of complex64": ("2.7.1", "aten::triu_", {"self": "complex64"}, []),
    "a triangle of bool": ("1.2.1", "aten::tril", {"self": "bool"}, []),
    "bool rows of 1.3.0": ("1.3.0", "aten::index_select", {"self": "bool"}, REFUSED),
    "bool rows": ("2.7.1", "aten::index_select", {"self": "bool"}, []),
    "complex rows": ("2.7.1", "aten::index_select", {"self": "complex64"}, REFUSED),
    "reflected int64": ("2.5.0", "aten::reflection_pad2d", {"self": "int64"}, REFUSED),
    "reflected int32": ("2.5.0", "aten::reflection_pad2d", {"self": "int32"}, []),
    "repeated uint8": ("2.5.0", "aten::upsample_nearest2d", {"self": "uint8"}, []),
    "repeated int32": ("2.5.0", "aten::upsample_nearest2d", {"self": "int32"}, REFUSED),
    "float64 between": ("1.3.0", "aten::upsample_bilinear2d", {"self": "float64"}, REFUSED),
    "largest float64": ("2.0.1", "aten::adaptive_max_pool2d", {"self": "float64"}, REFUSED),
    "float64 convolution": (
        "2.7.1", "aten::convolution_overrideable", {"input": "float64", "weight": "float64"},
        [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)],
    ),
    "float32 convolution": (
        "2.5.0", "aten::convolution_overrideable", {"input": "float32", "weight": "float32"}, [],
    ),
    "a check of a neighbour's code": (
        "2.1.0", "aten::convolution_overrideable", {"input": "float64", "weight": "float64"},
        [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.MEDIUM)],
    ),
    "half histogram": (
        "2.7.1", "aten::histc", {"self": "float16"},
        [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)] * 2,
    ),
    "integer topk, then": (
        "2.5.0", "aten::topk", {"self": "int64"},
        [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)],
    ),
    "integer topk, now": ("2.7.1", "aten::topk", {"self": "int64"}, []),
    "bfloat16 average pooling, backward": (
        "2.7.1", "aten::avg_pool2d_backward", {"grad_output": "bfloat16", "self": "bfloat16"},
        [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)] * 2,
    ),
    "complex product, then": (
        "2.7.0", "aten::mul.Tensor", {"self": "complex64", "other": "complex64"},
        [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.MEDIUM)],
    ),
    "complex product, now": (
        "2.7.1", "aten::mul.Tensor", {"self": "complex64", "other": "complex64"}, [],
    ),
    "complex exponential": (
        "2.7.1", "aten::exp", {"self": "complex64"},
        [
            ("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH),
            ("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.MEDIUM),
        ],
    ),
    "a loss whose checked kernel nothing calls": (
        "2.7.1", "aten::nll_loss_forward", {"self": "bfloat16"}, [],
    ),
    "fused Adam": (
        "2.7.1", "aten::_fused_adam_", {},
        [("kernel-always-raises", Verdict.UNSUPPORTED, Confidence.HIGH)],
    ),
    "a singular value decomposition": (
        "2.7.1", "aten::_linalg_svd", {"A": "float32"},
        [("computed-on-host", Verdict.FALLBACK, Confidence.HIGH)],
    ),
    "float64 maximum, then": (
        "2.7.0", "aten::max", {"self": "float64"},
        [("computed-on-host", Verdict.FALLBACK, Confidence.HIGH)],
    ),
    "any of integers, first": (
        "1.0.0", "aten::any", {"self": "int64"},
        [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)],
    ),
    "all of bytes, first": ("1.0.0", "aten::all", {"self": "uint8"}, []),
    "all of integers along a dimension, then": (
        "2.0.0", "aten::all.dim", {"self": "int64"},
        [("dtype-not-supported", Verdict.UNSUPPORTED, Confidence.HIGH)],
    ),
    "all of integers along a dimension, now": ("2.0.1", "aten::all.dim", {"self": "int64"}, []),
    "float64 maximum, now": ("2.7.1", "aten::max", {"self": "float64"}, []),
}  # fmt: skip


@pytest.mark.parametrize("name", BITES)
def test_a_condition_bites_where_the_code_refuses(name: str, database: Database) -> None:
    release, op, dtypes, expected = BITES[name]
    matrix = _matrix(database, f"moorethreads-s4000@{release}")
    arguments = {argument: _tensor(dtype) for argument, dtype in dtypes.items()}
    found = _bitten(matrix, op, **arguments)
    assert [(c.code, c.verdict, c.confidence) for c in found] == expected


def _shaped(dtype: str, *shape: int, order: tuple[int, ...] = ()) -> TensorMeta:
    """A tensor whose dimensions lie in memory in an order, outermost first."""
    strides, step = [0] * len(shape), 1
    for dim in reversed(order or range(len(shape))):
        strides[dim], step = step, step * shape[dim]
    return TensorMeta(dtype, shape, tuple(strides))


_QUERY = _shaped("float32", 2, 3, 4, 8)
CALLS: dict[str, tuple[str, str, dict[str, Any], TensorMeta | None, list[str]]] = {
    "weights that are no bfloat16": (
        "2.7.1", "aten::native_layer_norm",
        {"input": _shaped("bfloat16", 2, 4), "weight": _shaped("float32", 4)}, None,
        ["dtype-not-supported"],
    ),
    "weights that are bfloat16": (
        "2.7.1", "aten::native_layer_norm",
        {"input": _shaped("bfloat16", 2, 4), "weight": _shaped("bfloat16", 4)}, None, [],
    ),
    "weights that are no bfloat16, then": (
        "2.1.1", "aten::native_layer_norm",
        {"input": _shaped("bfloat16", 2, 4), "weight": _shaped("float32", 4)}, None, [],
    ),
    "a matrix of float64 turned round, then": (
        "2.7.0", "aten::mm",
        {"self": _shaped("float64", 2, 4), "mat2": _shaped("float64", 4, 3, order=(1, 0))},
        _shaped("float64", 2, 3), ["layout-not-supported"],
    ),
    "a matrix of float64 turned round, now": (
        "2.7.1", "aten::mm",
        {"self": _shaped("float64", 2, 4), "mat2": _shaped("float64", 4, 3, order=(1, 0))},
        _shaped("float64", 2, 3), [],
    ),
    "a matrix of float32 turned round, then": (
        "2.7.0", "aten::mm",
        {"self": _shaped("float32", 2, 4), "mat2": _shaped("float32", 4, 3, order=(1, 0))},
        _shaped("float32", 2, 3), ["float32-computed-as-tf32"],
    ),
    "a mask of one row for several": (
        "2.7.1", "aten::scaled_dot_product_attention",
        {"query": _QUERY, "key": _QUERY, "value": _QUERY, "attn_mask": _shaped("bool", 1, 4)},
        None, ["size-not-supported"],
    ),
    "a mask of every row": (
        "2.7.1", "aten::scaled_dot_product_attention",
        {"query": _QUERY, "key": _QUERY, "value": _QUERY, "attn_mask": _shaped("bool", 4, 4)},
        None, [],
    ),
    "five dimensions of attention": (
        "2.7.1", "aten::scaled_dot_product_attention",
        dict.fromkeys(("query", "key", "value"), _shaped("float32", 2, 2, 3, 4, 8)), None,
        ["rank-not-supported"],
    ),
    "a range of float64": (
        "2.7.1", "aten::arange.start_out", {}, _shaped("float64", 4), ["dtype-not-supported"],
    ),
    "the result of a transform given": (
        "2.7.1", "aten::fft_ifft.out", {"self": _shaped("complex64", 4)}, None,
        ["kernel-always-raises"],
    ),
    "complex rows": (
        "2.7.1", "aten::index_select", {"self": _shaped("complex64", 4, 4)}, None,
        ["dtype-not-supported"],
    ),
    "duplicates without their dimension": (
        "2.7.1", "aten::unique_consecutive", {"self": _shaped("int8", 1 << 31)}, None,
        ["size-not-supported"],
    ),
    "duplicates along a dimension": (
        "2.7.1", "aten::unique_consecutive", {"self": _shaped("int8", 1 << 31), "dim": 0}, None,
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_condition_bites_for_shapes_and_layouts_too(name: str, database: Database) -> None:
    release, op, arguments, result, codes = CALLS[name]
    matrix = _matrix(database, f"moorethreads-s4000@{release}")
    outputs = () if result is None else (result,)
    node = Node(OpName.parse(op), tuple(arguments.items()), outputs=outputs)
    found = [c.code for c in matrix.conditions_for(op) if matches(c, node) is not None]
    assert found == codes


@pytest.mark.parametrize("release", LISTED)
def test_tests_look_at_arguments_that_there_are(release: str, database: Database) -> None:
    """A misspelt argument would never bite; the vendor's own operators have no schema here."""
    matrix = _matrix(database, f"moorethreads-s4000@{release}")
    strange = {
        (op, test.argument)
        for op in matrix.conditions
        if op.startswith("aten::")
        for condition in matrix.conditions[op]
        for test in condition.predicates
        if (names := _arguments(op)) and test.argument not in names
        if not isinstance(test, Mode)
    }
    assert strange == set()


def _arguments(op: str) -> frozenset[str]:
    """Of an overload of this torch; none of one that it does not have."""
    name, _, overload = op.partition(".")
    for schema in torch._C._jit_get_schemas_for_operator(name):
        if schema.overload_name == overload:
            return frozenset({"*", "return"} | {argument.name for argument in schema.arguments})
    return frozenset()


def test_products_of_two_doubles_or_two_masks_are_computed_on_the_host(database: Database) -> None:
    matrix = _matrix(database, "moorethreads-s5000")
    for dtype, codes in (("float64", ["computed-on-host"]), ("bool", ["computed-on-host"]),
                         ("float32", [])):  # fmt: skip
        node = Node(
            OpName.parse("aten::mul.Tensor"),
            (("self", _tensor(dtype)), ("other", _tensor(dtype))),
            outputs=(_tensor(dtype),),
        )
        found = [
            c.code for c in matrix.conditions_for(str(node.op)) if matches(c, node) is not None
        ]
        assert found == codes, dtype


@pytest.mark.parametrize(
    ("release", "op", "dtype", "result", "refused"),
    [
        ("2.7.1", "aten::arange.start_out", "float64", "float64", True),
        ("1.2.1", "aten::arange.start_out", "uint8", "uint8", True),
        ("2.7.1", "aten::arange.start_out", "int64", "int64", False),
        ("2.7.1", "aten::logsumexp", "float64", "float64", True),
        ("2.7.1", "aten::logsumexp", "int64", "float32", False),
        ("2.1.1", "aten::sum", "uint8", "int64", True),
        ("2.1.1", "aten::sum", "uint8", "float32", False),
        ("2.1.1", "aten::sum", "int32", "int64", False),
        ("2.5.0", "aten::sum", "uint8", "int64", False),
    ],
)
def test_kernels_that_refuse_a_result(
    release: str, op: str, dtype: str, result: str, refused: bool, database: Database
) -> None:
    matrix = _matrix(database, f"moorethreads-s4000@{release}")
    node = Node(OpName.parse(op), (("self", _tensor(dtype)),), outputs=(_tensor(result),))
    found = [c.code for c in matrix.conditions_for(op) if matches(c, node) is not None]
    assert found == ["dtype-not-supported"] * refused


def test_what_depends_on_the_chip(database: Database) -> None:
    bfloat16 = {"self": _tensor("bfloat16")}
    found = {
        chip: (
            [c.code for c in _bitten(_matrix(database, name), "aten::relu", **bfloat16)],
            [c.code for c in _bitten(_matrix(database, name), "aten::_scaled_mm")],
        )
        for chip in ("s70", "s80", "s3000", "m1000", "s4000", "s5000")
        for name in (f"moorethreads-{chip}",)
    }
    no_bfloat16, no_fp8 = ["dtype-not-supported"], ["not-supported-on-chip"]
    assert found == {
        "s70": (no_bfloat16, no_fp8),
        "s80": (no_bfloat16, no_fp8),
        "s3000": (no_bfloat16, no_fp8),
        "m1000": ([], no_fp8),
        "s4000": ([], no_fp8),
        "s5000": ([], []),
    }


@pytest.mark.parametrize("release", LISTED)
def test_conditions_are_about_registered_operators(release: str, sources: Path) -> None:
    read = read_release(sources, release)
    found = list(conditions(read))
    assert found
    named = {op for line in found for op in line["ops"]} - {"*"}
    assert named <= set(read.kernels)


def test_attention_runs_as_the_vendors_own_operators(database: Database) -> None:
    """Their PyTorch takes it there; what PyTorch makes of it is never asked of the device."""
    for release in LISTED:
        matrix = _matrix(database, f"moorethreads-s80@{release}")
        entry = matrix.entries["aten::scaled_dot_product_attention"]
        assert entry.keys == ("PrivateUse1", "AutogradPrivateUse1")
        for kernel in entry.implementation:
            assert f"aten::{kernel}" in matrix.entries
        gradient = matrix.gradients["aten::scaled_dot_product_attention"]
        assert set(gradient.kernels) <= set(matrix.entries)


def test_an_unknown_release_names_the_known_ones(sources: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        MooreThreadsImporter().run(sources, "2.9.9")
    assert "2.9.9" in caught.value.message
    assert "2.0.0-pt25" in caught.value.hint


@pytest.mark.parametrize("chips", [("s80", "s70", "s3000"), ("s4000", "m1000")], ids="-".join)
@pytest.mark.parametrize("release", LISTED)
def test_chips_of_one_architecture_fare_alike(
    chips: tuple[str, ...], release: str, database: Database
) -> None:
    """What was reported of one of them alone stands in advisories."""
    known = database.vendors["moorethreads"].chips
    assert len({known[chip]["arch"] for chip in chips}) == 1
    first, *others = (
        _matrix(database, f"moorethreads-{chip}@{release}")
        for chip in chips
        if version_key(str(known[chip].get("since", "0"))) <= version_key(release)
    )
    for other in others:
        assert other.entries == first.entries
        assert other.conditions == first.conditions
