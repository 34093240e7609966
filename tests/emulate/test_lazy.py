"""Lazy conjugates on a device that computes, also where a host kernel leaves one behind."""

import pytest
import torch


@pytest.mark.slow
def test_an_output_that_the_host_kernel_conjugates_has_its_values(device: torch.device) -> None:
    """The CPU kernel marks its ``out=`` tensor as conjugate; a device's tensor stays unmarked."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(3, 3, dtype=torch.complex64, generator=generator) for _ in range(2))
    lu, pivots = torch.linalg.lu_factor(a)
    expected = torch.linalg.lu_solve(lu, pivots, b, left=False, adjoint=True)
    found = torch.linalg.lu_solve(
        lu.to(device), pivots.to(device), b.to(device), left=False, adjoint=True
    )
    assert not found.is_conj()
    torch.testing.assert_close(found.cpu(), expected.resolve_conj())
