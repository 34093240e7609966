"""Operators that may name any of several equal values: results as far as they are settled."""

from collections.abc import Sequence

import torch
from torch import Tensor

from opcheck.rewrite.call import Call

Outcome = tuple[Sequence[Tensor], Sequence[Tensor] | None]
"""Results, and gradients where there are any."""

ANY_OF_EQUAL = "of equal values, which one is taken: another index, and of zeros the other sign"
"""What a rule gives up that sorts or reduces in another order than PyTorch's kernels do."""
OTHER_ZERO = "of zeros of both signs, which one is taken"
"""The same, where no index is given."""


def named_by_value(call: Call, outcome: Outcome) -> Outcome:
    """Take what an operator gives with ``values`` and ``indices``, whichever equal one it names.

    Each index becomes the value that it names, and each element's gradient becomes the sum of
    the gradients of all that are equal to it.
    """
    results, gradients = outcome
    self, dim = call.given("self").detach(), call.given("dim")
    if not self.dim():
        self, dim = self.reshape(1), 0
    keeps = call.given("keepdim", False)
    settled = [
        _named(self, dim, result, keeps) if place % 2 else result
        for place, result in enumerate(results)
    ]
    if gradients is None or not self.numel():
        return settled, gradients
    return settled, [_shared(self, dim, g.reshape(self.shape)) for g in gradients[:1]]


def _named(self: Tensor, dim: int, indices: Tensor, keeps: bool) -> Tensor:
    if indices.dim() != self.dim():
        indices = indices.unsqueeze(dim)
    if bool(((indices < 0) | (indices >= max(self.size(dim), 1))).any()):
        return indices  # outside: nothing is named, and nothing is equal to it
    named = self.gather(dim, indices)
    return named if keeps else named.squeeze(dim)


def _shared(self: Tensor, dim: int, gradient: Tensor) -> Tensor:
    """Per element, the sum of the gradients of its equals along ``dim``."""
    ordered, places = self.sort(dim=dim, stable=True)
    size = self.size(dim) - 1
    before, after = ordered.narrow(dim, 0, size), ordered.narrow(dim, 1, size)
    apart = (before != after) & ~(before.isnan() & after.isnan())
    first = torch.zeros_like(places.narrow(dim, 0, 1))
    runs = torch.cat([first, apart.long().cumsum(dim)], dim)
    wide = gradient.double().gather(dim, places)
    sums = torch.zeros_like(wide).scatter_add(dim, runs, wide).gather(dim, runs)
    return torch.empty_like(sums).scatter(dim, places, sums)
