"""Pinned host memory where torch has no allocator of it."""

import torch

from opcheck.emulate.memory import pinning


def test_what_is_pinned_says_so_and_is_a_copy() -> None:
    host = torch.arange(6.0).view(2, 3).t()
    with pinning():
        pinned = host.pin_memory()
        assert (host.is_pinned(), pinned.is_pinned(), pinned[0].is_pinned()) == (False, True, True)
        assert pinned.pin_memory() is pinned
        assert pinned.stride() == host.stride()
        assert torch.equal(pinned, host)
        assert not pinned.clone().is_pinned()
    assert not pinned.is_pinned()
