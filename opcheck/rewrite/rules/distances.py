"""Distances between all rows, from their differences."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

LARGEST = 1 << 24
"""Elements of the table of differences beyond which it is too large."""
ROWS = 256
"""Rows of one set beyond which half of a table is joined of too many parts."""


def _norm(gap: Tensor, p: float) -> Tensor:
    """Norms along the last dimension; the gradient is 0 where a distance is."""
    size = gap.abs()
    if p == 0:
        return (gap != 0).to(gap.dtype).sum(-1) + 0 * size.sum(-1)
    if p == 1 or not gap.size(-1):
        return size.sum(-1)
    if p == math.inf:
        largest = size.detach().amax(-1, keepdim=True)
        there = (size == largest).to(gap.dtype)
        return largest.squeeze(-1) + ((size - size.detach()) * there).sum(-1)
    none = size == 0
    powers = torch.where(none, size, torch.where(none, torch.ones_like(size), size) ** p).sum(-1)
    same = powers == 0
    return torch.where(same, powers, torch.where(same, torch.ones_like(powers), powers) ** (1 / p))


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    """Take the norm of every difference."""
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def distances(
    x1: Tensor, x2: Tensor, p: float = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:  # fmt: skip
    """Take the norm of every difference, whatever the mode is."""
    return cdist(x1, x2, p)


def pdist(self: Tensor, p: float = 2.0) -> Tensor:
    """Take the norm of every difference of two rows, and join those above the diagonal."""
    rows = range(self.size(0) - 1)
    parts = [_norm(self[row : row + 1] - self[row + 1 :], p) for row in rows]
    return torch.cat([self.new_zeros(0), *parts])


class CdistByDifferences(Rule):
    """Every row of one is taken from every row of the other; norms are taken of the differences.

    The table of differences is as large as all distances times the columns, and its kernel's
    operands move through memory; PyTorch's own kernel makes no table.
    """

    name = "cdist-by-differences"
    label = Label.TOLERANCE
    tolerance = 256.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::_cdist_forward", "aten::cdist")
    summary = "Take the norm of every difference"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.cdist": distances}
    replace: ClassVar[Callable[..., Any]] = staticmethod(cdist)

    def refuses(self, call: Call) -> str:
        """Decline what makes too large a table."""
        x1, x2 = call.args[:2]
        if x1.numel() * x2.size(-2) > LARGEST:
            return f"the table of differences would have more than {LARGEST:,} elements"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """With all kinds of norms; rows that are equal among them."""
        dtype, columns = draw.choose(FLOATS[:2]), draw.integer(0, 4)
        batch = draw.shape(0, 1, largest=3)
        x1 = draw.tensor([*batch, draw.integer(0, 4), columns], (dtype,), edges=False)
        x2 = draw.tensor([*batch, draw.integer(0, 4), columns], (dtype,), edges=False)
        x2 = x1.clone() if draw.flag() else x2
        return (x1, x2, draw.choose((2.0, 1.0, 0.0, math.inf, 3.0, 1.5)), None), {}


class PdistByDifferences(Rule):
    """Every row is taken from those before it; norms are taken of the differences, and joined."""

    name = "pdist-by-differences"
    label = Label.TOLERANCE
    tolerance = 256.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::_pdist_forward", "aten::pdist")
    summary = "Take the norm of every difference of two rows"
    spellings: ClassVar[tuple[str, ...]] = ("torch.pdist", "torch.nn.functional.pdist")
    replace: ClassVar[Callable[..., Any]] = staticmethod(pdist)

    def refuses(self, call: Call) -> str:
        """Decline many rows, and none."""
        if not call.args[0].numel():
            return "there is nothing to take distances of"
        return "" if call.args[0].size(0) <= ROWS else f"there are more than {ROWS} rows"

    def example(self, op: str, draw: Draw) -> Arguments:
        """With all kinds of norms; rows that are equal among them."""
        x = draw.tensor([draw.integer(1, 5), draw.integer(1, 4)], FLOATS[:2], edges=False)
        return (x, draw.choose((2.0, 1.0, 0.0, math.inf, 3.0, 1.5))), {}
