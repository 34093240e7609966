"""Rebellions: cells and conditions of torch-rbln, read in its files by eye."""

import re
from pathlib import Path

import pytest

from opcheck.db.importers.rebellions import RebellionsImporter
from opcheck.db.importers.rebellions.extract import read
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import matches
from tests.db.calls import dense

LIST = "aten/src/ATen/native/native_functions.yaml"
CODE = "aten/src/ATen/native/RBLNRegisterOps.cpp"
CELLS = (
    ("0.2.0", "aten::add.out", "add_out_rbln", LIST, 3),
    ("0.2.0", "aten::mm.out", "mm_out_rbln", LIST, 81),
    ("0.2.0", "aten::linear", "linear_rbln", LIST, 248),
    ("0.2.0", "aten::view", "view", CODE, 144),
    ("0.2.0", "aten::relu", "fallback_rbln", CODE, 255),
    ("0.1.9rc0", "aten::max", "max_rbln", LIST, 205),
    ("0.1.9rc0", "aten::_copy_from", "_copy_from_rbln", CODE, 133),
)
HALF, WIDE = dense(2, 64, dtype="float16"), dense(2, 64, dtype="float32")


def matrix(database: Database, text: str = "rebellions-atom") -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(text)))


def verdicts(target: SupportMatrix, op: str, **arguments: Value) -> set[Verdict]:
    node = Node(OpName.parse(op), tuple(arguments.items()))
    return {c.verdict for c in target.conditions_for(op) if matches(c, node) is not None}


@pytest.mark.parametrize(("release", "op", "kernel", "path", "line"), CELLS)
def test_cells_read_by_eye(
    release: str, op: str, kernel: str, path: str, line: int, database: Database
) -> None:
    entry = matrix(database, f"rebellions-atom@{release}").entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert (evidence.source, evidence.path, evidence.line) == ("RBLN-SW/torch-rbln", path, line)
    assert re.fullmatch(r"[0-9a-f]{40}", evidence.commit)


def test_only_overloads_that_its_torch_declares_are_entries(database: Database) -> None:
    known = database.tables.operators("2.13")
    for release in ("0.1.9rc0", "0.2.0"):
        entries = database.vendors["rebellions"].release(release).data["operators"]
        assert len(entries) == 141
        assert entries.keys() <= known.keys()
    assert RebellionsImporter().registered("0.2.0", ()) == {}


def test_kernels_compute_in_float16_alone(database: Database) -> None:
    target = matrix(database)
    assert target.fallback.to_cpu
    assert verdicts(target, "aten::add.out", self=HALF, other=HALF) == set()
    assert verdicts(target, "aten::add.out", self=HALF, other=WIDE) == {Verdict.FALLBACK}
    mask = dense(2, 64, dtype="bool")
    assert verdicts(target, "aten::gt.Scalar_out", self=HALF, other=0.5, out=mask) == set()
    assert verdicts(target, "aten::gt.Scalar_out", self=WIDE, other=0.5, out=mask) == {
        Verdict.FALLBACK
    }
    assert verdicts(target, "aten::where.self", condition=mask, self=HALF, other=HALF) == {
        Verdict.FALLBACK
    }
    assert verdicts(target, "aten::relu", self=HALF) == {Verdict.FALLBACK}


@pytest.mark.parametrize(
    ("exponent", "found"), [(2, set()), (2.0, set()), (0.5, {Verdict.FALLBACK})], ids=str
)
def test_powers_of_whole_exponents_alone(
    exponent: float, found: set[Verdict], database: Database
) -> None:
    target = matrix(database)
    assert verdicts(target, "aten::pow.Tensor_Scalar_out", self=HALF, exponent=exponent) == found


@pytest.mark.parametrize(
    ("shape", "dtype", "found"),
    [
        ((1, 2, 64, 64), "float16", 0),
        ((1, 2, 50, 64), "float16", 1),
        ((1, 2, 64, 80), "float16", 1),
        ((1, 2, 64, 64), "float32", 1),
    ],
)
def test_attention_takes_float16_and_multiples_of_32(
    shape: tuple[int, ...], dtype: str, found: int, database: Database
) -> None:
    given = dense(*shape, dtype=dtype)
    op = "aten::_scaled_dot_product_fused_attention_overrideable"
    said = verdicts(matrix(database), op, query=given, key=given, value=given)
    assert said == ({Verdict.FALLBACK} if found else set())


def test_attention_of_four_dimensions_goes_to_its_own_kernel(database: Database) -> None:
    (way,) = matrix(database).choices["aten::scaled_dot_product_attention"]
    assert way.asks == ("aten::_scaled_dot_product_fused_attention_overrideable",)
    assert way.text == "torch-rbln takes attention of four dimensions for its own kernel"


def test_the_list_and_the_code_are_read() -> None:
    listed = (
        "\n# - func: arange(int end)\n"
        "- func: mm.out(Tensor self)\n  dispatch:\n    PrivateUse1: mm_rbln\n"
    )
    coded = (
        '  m.impl("view", TORCH_FN(at::native::view));\n'
        '  m.impl("flip", torch::CppFunction::makeFromBoxedFunction<&fallback_rbln>());\n'
    )
    assert read(listed, coded) == {
        "mm.out": {"at": 3, "impl": "mm_rbln", "by": "list"},
        "view": {"at": 1, "impl": "view", "by": "code"},
        "flip": {"at": 2, "impl": "fallback_rbln", "by": "code", "host": True},
    }


def test_a_release_that_was_not_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nothing of torch-rbln 0\.5\.0 was read"):
        RebellionsImporter().run(tmp_path, "0.5.0")
