"""Biren: what torch-supa keeps of PyTorch's list, its own kernels, and its documents."""

from pathlib import Path

import pytest

from opcheck.db.importers.biren import BirenImporter, registered
from opcheck.db.importers.shared import in_tree
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, Value
from opcheck.model.verdict import Method, Verdict
from opcheck.resolve.conditions import matches
from tests.db.calls import dense

SUPA = ("BIRENSUPA/torch-supa", "torch_supa/csrc/aten/supa_native_functions.yaml")
CELLS = (
    ("aten::mm.out", "supa::mm.out", 30),
    ("aten::scaled_dot_product_attention", "supa::scaled_dot_product_attention", 45),
    ("aten::convolution_overrideable", "supa::convolution_overrideable", 18),
    ("aten::_copy_from", "supa::_copy_from", 10),
    ("aten::renorm.out", "supa::renorm.out", 54),
)
WIDE = dense(4, 4, dtype="float32")


def matrix(database: Database, text: str = "biren-br2xx") -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(text)))


def verdicts(target: SupportMatrix, op: str, **arguments: Value) -> set[Verdict]:
    node = Node(OpName.parse(op), tuple(arguments.items()))
    return {c.verdict for c in target.conditions_for(op) if matches(c, node) is not None}


@pytest.mark.parametrize(("op", "kernel", "line"), CELLS, ids=[op for op, _, _ in CELLS])
def test_the_vendors_own_kernels_cite_its_list(
    op: str, kernel: str, line: int, database: Database
) -> None:
    entry = matrix(database).entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert (evidence.source, evidence.path, evidence.line) == (*SUPA, line)
    assert evidence.method is Method.REGISTERED


def test_other_kernels_are_pytorchs_own_for_cuda(database: Database) -> None:
    entry = matrix(database, "biren-br2xx@1.0.0.21000").entries["aten::native_layer_norm"]
    (evidence,) = entry.evidence
    assert entry.implementation == ("layer_norm_cuda",)
    assert (evidence.source, evidence.method) == ("pytorch/pytorch", Method.REGISTERED)


@pytest.mark.parametrize("release", ["1.0.0.20600", "1.0.0.21200"])
def test_what_the_generator_keeps(release: str, sources: Path, database: Database) -> None:
    torch = {"1.0.0.20600": "2.6.0", "1.0.0.21200": "2.12.1"}[release]
    found = registered(sources, torch)
    cuda = in_tree.registered(in_tree.declared(sources / "pytorch", torch), "CUDA")
    assert database.vendors["biren"].release(release).data["operators"].keys() == found.keys()
    left_out = {name for name in cuda if f"aten::{name}" not in found}
    assert {"_fft_c2c", "miopen_convolution", "_cslt_compress", "mm"} <= left_out
    own = {"mm", "bmm", "addmm", "dot", "addmv", "baddbmm", "_addmm_activation", "vdot"}
    words = ("miopen", "fft", "_cholesky_solve_helper", "sparse", "_cslt", "_csr_", "_coo_")
    for name in left_out:
        delegated = in_tree.declared(sources / "pytorch", torch)[name].delegate
        listed = f"aten::{delegated}" in found or name.removesuffix("_") in own
        assert listed or any(word in name for word in words), name


def test_what_is_left_out_runs_on_the_host(database: Database) -> None:
    target = matrix(database)
    assert "aten::_fft_c2c" not in target.entries
    assert target.fallback.to_cpu


def test_what_the_vendor_says_of_dtypes_and_attention(database: Database) -> None:
    target = matrix(database)
    double = dense(4, 4, dtype="float64")
    assert verdicts(target, "aten::relu", self=WIDE) == set()
    assert verdicts(target, "aten::relu", self=double) == {Verdict.UNKNOWN}
    heads = dense(1, 2, 8, 640, dtype="bfloat16")
    flash, efficient = (
        f"aten::_scaled_dot_product_{way}_attention" for way in ("flash", "efficient")
    )
    assert verdicts(target, flash, query=dense(1, 2, 8, 64, dtype="bfloat16")) == set()
    assert verdicts(target, flash, query=heads) == {Verdict.UNKNOWN}
    assert verdicts(target, efficient, query=WIDE) == {Verdict.UNKNOWN}


def test_functions_that_a_table_denies_and_a_kernel_is_there_for_are_unknown(
    database: Database,
) -> None:
    target = matrix(database)
    assert verdicts(target, "aten::_linalg_svd", A=WIDE) == {Verdict.UNKNOWN}
    codes = [c.code for c in target.conditions_for("aten::linalg_inv_ex")]
    assert codes.count("document-contradicts-registration") == 1
    assert verdicts(target, "aten::linalg_inv_ex", A=WIDE) == {Verdict.UNKNOWN}


def test_a_release_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"no torch-supa 1\.0\.0\.20700 is known"):
        BirenImporter().run(tmp_path, "1.0.0.20700")
