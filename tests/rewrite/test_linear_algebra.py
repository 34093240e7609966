"""Stand-ins for linear algebra where a drawn call alone would not tell."""

import pytest
import torch

from opcheck.rewrite.rules.linear_algebra.eigenvalues import eigh, svd
from opcheck.rewrite.rules.linear_algebra.ldl import ldl_factor_ex
from opcheck.rewrite.rules.linear_algebra.matrix_exp import matrix_exp
from opcheck.rewrite.rules.linear_algebra.qr import lstsq
from opcheck.rewrite.rules.linear_algebra.triangular import cholesky_ex


@pytest.mark.parametrize("driver", ["gels", "gelsy"])
@pytest.mark.parametrize("shape", [(9, 5), (5, 9), (6, 6)])
def test_least_squares_agree_for_full_rank(shape: tuple[int, int], driver: str) -> None:
    torch.manual_seed(0)
    a, b = torch.randn(3, *shape).double(), torch.randn(3, shape[0], 2).double()
    found, wanted = lstsq(a, b, driver=driver), torch.linalg.lstsq(a, b, driver=driver)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_the_first_minor_that_is_not_positive_is_named() -> None:
    matrices = torch.stack([torch.diag(torch.tensor(d)) for d in
                            ([1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, 0.0])])  # fmt: skip
    assert cholesky_ex(matrices)[1].tolist() == torch.linalg.cholesky_ex(matrices)[1].tolist()


def test_rotations_come_to_an_end_within_their_sweeps() -> None:
    torch.manual_seed(0)
    matrices = torch.randn(8, 16, 16, dtype=torch.float64)
    symmetric = matrices + matrices.mT
    values, vectors = eigh(symmetric)
    torch.testing.assert_close(values, torch.linalg.eigvalsh(symmetric))
    torch.testing.assert_close((vectors * values.unsqueeze(-2)) @ vectors.mT, symmetric)
    left, lengths, right = svd(matrices)
    torch.testing.assert_close(lengths, torch.linalg.svdvals(matrices))
    torch.testing.assert_close((left * lengths.unsqueeze(-2)) @ right, matrices)


@pytest.mark.parametrize("matrix", [torch.zeros(4, 4), torch.ones(5, 3), torch.eye(3)])
def test_vectors_are_orthonormal_where_values_are_equal(matrix: torch.Tensor) -> None:
    left, values, right = svd(matrix, True)
    for vectors in (left, right):
        torch.testing.assert_close(vectors.mT @ vectors, torch.eye(len(vectors)))
    made = (left[:, : len(values)] * values) @ right[: len(values)]
    torch.testing.assert_close(made, matrix)


def test_pivots_of_one_row_and_of_two_are_those_of_lapack() -> None:
    torch.manual_seed(0)
    matrices = torch.randn(50, 12, 12, dtype=torch.float64)
    found = ldl_factor_ex(matrices + matrices.mT)
    wanted = torch.linalg.ldl_factor_ex(matrices + matrices.mT)
    assert (wanted.pivots < 0).any()
    assert torch.equal(found[1], wanted.pivots)
    torch.testing.assert_close(found[0], wanted.LD)


def test_exponentials_of_large_norms() -> None:
    torch.manual_seed(0)
    turning = torch.randn(6, 6, dtype=torch.float64) * 300
    turning = turning - turning.mT
    torch.testing.assert_close(matrix_exp(turning), torch.linalg.matrix_exp(turning))
