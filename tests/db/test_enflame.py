"""Enflame: cells and conditions of Torch-FL's build for the GCU, read in its files by eye."""

import re
from pathlib import Path

import pytest

from opcheck.db.importers.enflame import EnflameImporter
from opcheck.db.importers.enflame.extract import CODE, LIST, read
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Constant, Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import matches
from tests.db.calls import dense

CELLS = (
    ("aten::_foreach_add_.List", "WrapperForeachAddInplaceList", LIST, 12),
    ("aten::_softmax", "WrapperPrivSoftmax", LIST, 30),
    ("aten::empty.memory_format", "WrapperEmptyMemoryFormat", CODE, 419),
    ("aten::set_.source_Storage_storage_offset", "WrapperSetSourceStorageOffset", CODE, 431),
    ("aten::_fused_sdp_choice", "WrapperFusedSdpChoice", CODE, 442),
)
HALF, LONG, MASK = (dense(2, 64, dtype=dtype) for dtype in ("float16", "int64", "bool"))
TURNED = TensorMeta("float16", (64, 2), (1, 64))


def matrix(database: Database) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse("enflame-s60")))


def verdicts(target: SupportMatrix, op: str, **arguments: Value) -> set[Verdict]:
    node = Node(OpName.parse(op), tuple(arguments.items()))
    return {c.verdict for c in target.conditions_for(op) if matches(c, node) is not None}


@pytest.mark.parametrize(("op", "kernel", "path", "line"), CELLS)
def test_cells_read_by_eye(op: str, kernel: str, path: str, line: int, database: Database) -> None:
    entry = matrix(database).entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert (evidence.source, evidence.path, evidence.line) == ("flagos-ai/Torch-FL", path, line)
    assert re.fullmatch(r"[0-9a-f]{40}", evidence.commit)


def test_other_vendors_kernels_are_no_entries(database: Database) -> None:
    entries = matrix(database).entries
    assert len(entries) == len(
        EnflameImporter().registered("0.1.0", [op.removeprefix("aten::") for op in entries])
    )
    assert not {"aten::matmul", "aten::convolution_overrideable"} & entries.keys()
    assert EnflameImporter().registered("0.1.0", ()) == {}


@pytest.mark.parametrize(
    ("op", "arguments", "on_host"),
    [
        ("aten::add.Tensor", {"self": HALF, "other": HALF}, False),
        ("aten::add.Tensor", {"self": HALF, "other": LONG}, True),
        ("aten::sum", {"self": HALF}, False),
        ("aten::sum", {"self": MASK}, True),
        ("aten::mean", {"self": HALF, "dtype": Constant("dtype", "int64")}, True),
        ("aten::multinomial", {"self": HALF, "num_samples": 1}, True),
        ("aten::index_put_", {"self": HALF, "indices": (MASK,), "values": HALF}, True),
        ("aten::clone", {"self": HALF}, False),
        ("aten::clone", {"self": TURNED}, True),
        ("aten::copy_", {"self": HALF, "src": HALF}, False),
        ("aten::copy_", {"self": HALF, "src": MASK}, True),
        ("aten::_to_copy", {"self": HALF, "dtype": Constant("dtype", "float16")}, False),
        ("aten::_to_copy", {"self": HALF, "dtype": Constant("dtype", "float32")}, True),
        ("aten::_foreach_neg_", {"self": (HALF, TURNED)}, True),
    ],
    ids=str,
)
def test_what_topsaten_does_not_take_is_computed_on_the_host(
    op: str, arguments: dict[str, Value], on_host: bool, database: Database
) -> None:
    expected = {Verdict.FALLBACK} if on_host else set()
    assert verdicts(matrix(database), op, **arguments) == expected


def test_float64_raises(database: Database) -> None:
    wide = dense(2, 64, dtype="float64")
    assert verdicts(matrix(database), "aten::mm", self=wide, mat2=wide) == {Verdict.UNSUPPORTED}


def test_lists_of_random_integers_are_int64(database: Database) -> None:
    (condition,) = matrix(database).conditions_for("aten::randperm.generator")[-1:]
    node = Node(OpName.parse("aten::randperm.generator"), (("n", 4),), (LONG,))
    assert matches(condition, node) is not None


def test_what_others_compile_is_not_read() -> None:
    listed = '  m.impl("abs", WrapperAbs);\n  // m.impl("sqrt", WrapperSqrt);\n'
    coded = (
        "TORCH_LIBRARY_IMPL(aten, CatchAll, m) {\n"
        '  m.impl("cos", Cos);\n}\n'
        "TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {\n"
        '  m.impl("view", WrapperView);\n'
        "#if defined(USE_ASCEND)\n"
        '  m.impl("matmul", WrapperMatmul);\n'
        "#endif\n"
        '  m.impl(\n      "set_.source_Storage", WrapperSet);\n}\n'
    )
    assert read(listed, coded) == {
        "view": {"at": 5, "impl": "WrapperView", "by": "code"},
        "set_.source_Storage": {"at": 10, "impl": "WrapperSet", "by": "code"},
        "abs": {"at": 1, "impl": "WrapperAbs", "by": "list"},
    }


def test_a_release_that_was_not_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nothing of Torch-FL 9\.0 was read"):
        EnflameImporter().run(tmp_path, "9.0")
