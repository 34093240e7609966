"""Which kernels for sparse tensors a release has, by its list and its vendor's code."""

from pathlib import Path

import pytest

from opcheck.db.importers.shared import in_tree
from opcheck.db.importers.shared.sparse_kernels import shared
from opcheck.db.store import Database
from opcheck.model.sparse import SparseKernels
from opcheck.model.target import TargetSpec

PRODUCT, ROOT, LISTED = "aten::addmm", "aten::sqrt", "aten::_coalesce"


def kernels(database: Database, text: str, layout: str = "sparse_coo") -> SparseKernels | None:
    return database.matrix(database.resolve(TargetSpec.parse(text))).sparse.get(layout)


@pytest.mark.parametrize(
    ("target", "layout", "expected"),
    [
        ("ascend-910b@26.1.0+torch2.12", "sparse_coo", {ROOT, LISTED}),
        ("ascend-910b@26.1.0+torch2.12", "sparse_csr", {PRODUCT, ROOT}),
        ("ascend-910b@6.0.0+torch2.1", "sparse_coo", {ROOT, LISTED}),
        ("ascend-910b@6.0.0+torch2.1", "sparse_csr", set()),
        ("ascend-910b@6.0.0+torch2.4", "sparse_csr", {PRODUCT, ROOT}),
        ("ascend-910b@5.0.0", "sparse_coo", set()),
        ("cambricon-mlu370@r2.4_develop", "sparse_coo", {PRODUCT, ROOT, LISTED}),
        ("cambricon-mlu370@r2.4_develop", "sparse_csr", set()),
        ("cambricon-mlu370@r2.3_develop", "sparse_coo", set()),
        ("moorethreads-s4000@2.7.1", "sparse_coo", {LISTED}),
        ("moorethreads-s4000@2.1.1", "sparse_coo", set()),
        ("google-tpu-v5e@r2.9", "sparse_coo", set()),
    ],
)
def test_a_release_has_what_it_lists_and_what_its_code_shares(
    target: str, layout: str, expected: set[str], database: Database
) -> None:
    found = kernels(database, target, layout)
    assert found is not None
    assert {PRODUCT, ROOT, LISTED} & set(found.kernels) == expected
    assert found.listed
    assert not found.on_host


def test_of_a_torch_that_no_branch_was_read_of_nothing_is_said(database: Database) -> None:
    assert kernels(database, "ascend-910b@26.1.0+torch2.1") is None


def test_one_branch_of_cambricon_takes_the_rest_to_the_host(database: Database) -> None:
    found = kernels(database, "cambricon-mlu370@r2.1_develop")
    assert found is not None
    assert "aten::_sparse_softmax" in found.on_host
    assert "aten::linalg_eig" not in found.on_host


def test_what_is_asked_inside_of_a_shared_kernel(database: Database) -> None:
    found = kernels(database, "ascend-910b@26.1.0+torch2.12")
    assert found is not None
    asked = found.inside["aten::mm"]
    assert (asked.asks, asked.both) == ((PRODUCT,), ("aten::_sparse_sparse_matmul",))
    assert "aten::_to_sparse_csr" not in found.inside
    older = kernels(database, "ascend-910b@6.0.0+torch2.1")
    assert older is not None
    assert older.inside["aten::_to_sparse_csr"].asks == ()


def test_shared_kernels_have_one_name_and_lack_only_what_is_told_of(sources: Path) -> None:
    """All that CUDA has and does not share is asked for by name in ``inside``, or by none."""
    listed = in_tree.declared(sources / "pytorch", "2.7.1")
    own = {
        kind: sorted(set(in_tree.kernels(sources / "pytorch", "2.7.1", f"{kind}CUDA"))
                     - set(shared(listed, kind)))
        for kind in ("Sparse", "SparseCsr")
    }  # fmt: skip
    assert own == {
        "Sparse": [
            "_coalesce", "_sparse_log_softmax", "_sparse_log_softmax_backward_data",
            "_sparse_softmax", "_sparse_softmax_backward_data", "_sparse_sparse_matmul",
            "_sparse_sum_backward", "add.out", "addmm", "addmm.out", "addmm_", "bmm", "bmm.out",
            "hspmm", "hspmm.out", "index_select", "mul.out", "sspaddmm.out",
        ],
        "SparseCsr": [
            "_sparse_csr_prod.dim_dtype", "_sparse_csr_sum.dim_dtype", "_spsolve", "add.out",
            "addmm.out", "addmv.out", "baddbmm.out", "bmm.out", "sparse_sampled_addmm",
            "sparse_sampled_addmm.out", "triangular_solve.X",
        ],
    }  # fmt: skip
