"""Distances between points, and norms held below a limit."""

import math
from typing import Any

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

_LARGEST = 1 << 26


def _norm(apart: Tensor, p: float) -> Tensor:
    """The p-norm of the last dimension; its gradient is 0 where it is 0."""
    size = apart.abs()
    if p == 0:
        return (size != 0).to(apart.dtype).sum(-1)
    if p == 1:
        return size.sum(-1)
    if p == math.inf:
        if not size.size(-1):
            return size.sum(-1)
        most = size.detach().amax(-1, keepdim=True)
        still = torch.where(most < math.inf, most, torch.zeros_like(most))
        moved = torch.where(size == most, size - still, torch.zeros_like(size))
        # all that are as large get the whole gradient
        first = still.squeeze(-1) + moved.amax(-1).detach()
        rest = moved - moved.detach()
        return first + torch.where(moved.detach() == 0, rest, torch.zeros_like(rest)).sum(-1)
    none = size == 0
    powers = torch.where(none, torch.ones_like(size), size).pow(p)
    total = torch.where(none, torch.zeros_like(size), powers).sum(-1)
    zero = total == 0
    root = torch.where(zero, torch.ones_like(total), total)
    root = root.sqrt() if p == 2 else root.pow(1 / p)
    return torch.where(zero, torch.zeros_like(root), root)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    """Take the norm of every difference."""
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def pdist(self: Tensor, p: float = 2.0) -> Tensor:
    """Take the norm of each point's differences from those after it."""
    count = self.size(0)
    if count < 2:
        return self.new_zeros([0])
    parts = [self.narrow(0, i, 1) - self.narrow(0, i + 1, count - i - 1) for i in range(count - 1)]
    return _norm(torch.cat(parts), p)


def renorm(self: Tensor, p: Any, dim: int, maxnorm: Any) -> Tensor:
    """Scale what is longer than the limit."""
    if self.dim() < 2:
        raise RuntimeError("renorm: input needs at least 2 dimensions")
    wide = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    rows = wide.movedim(dim, 0)
    norm = _norm(rows.reshape(rows.size(0), math.prod(rows.shape[1:])), float(p))
    long = norm > maxnorm
    scale = torch.where(long, maxnorm / (norm + 1e-7), torch.ones_like(norm))
    shape = [1] * self.dim()
    shape[dim] = scale.numel()
    return self * scale.reshape(shape).to(self.dtype)


class CdistByDifferences(Rule):
    """The norm of every difference, from a table of all pairs of points.

    Unlike PyTorch's product of matrices for many points, it loses nothing where points are
    close. The table takes as many numbers as there are pairs, times the size of a point.
    """

    name = "cdist-by-differences"
    label = Label.TOLERANCE
    tolerance = 64
    replaces = ("aten::cdist", "aten::_cdist_forward")
    summary = "Subtract all pairs, and take the norm"
    spellings = ("torch.cdist",)
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cpu/DistanceOpsKernel.cpp",
    )
    replace = staticmethod(cdist)

    def refuses(self, call: Call) -> str:
        """Decline a table that is too large."""
        x1, x2 = call.given("x1"), call.given("x2")
        batch = max(math.prod(x1.shape[:-2]), math.prod(x2.shape[:-2]))
        table = batch * x1.size(-2) * x2.size(-2) * x1.size(-1)
        return _too_large(table)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Batches that broadcast, and points that are the same."""
        dtype = (draw.choose(FLOATS[:2]),)
        batch, size = draw.shape(0, 2, smallest=1, largest=3), draw.integer(1, 4)
        x1 = draw.tensor([*batch, draw.integer(1, 4), size], dtype, edges=False)
        other = [] if draw.flag() and op == "aten::cdist" else batch
        x2 = draw.tensor([*other, draw.integer(1, 4), size], dtype, edges=False)
        p = draw.choose((2.0, 1.0, 0.0, math.inf, 3.0, 1.5))
        return (x1, x2, p, None if op.endswith("forward") else draw.choose((None, 2))), {}


class PdistByDifferences(Rule):
    """The norm of each point's differences from the points after it, as one table of all pairs."""

    name = "pdist-by-differences"
    label = Label.TOLERANCE
    tolerance = 64
    replaces = ("aten::pdist", "aten::_pdist_forward")
    summary = "Subtract all pairs, and take the norm"
    spellings = ("torch.pdist", "torch.nn.functional.pdist")
    references = CdistByDifferences.references
    replace = staticmethod(pdist)

    def refuses(self, call: Call) -> str:
        """Decline a loop that is too long."""
        count = call.given("self").size(0)
        return f"it would take {count:,} steps, more than 512" if count > 512 else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """No pair, one, or some; of no points at all PyTorch 2.13.0 crashes in the gradient."""
        x = draw.tensor([draw.integer(1, 5), draw.integer(1, 4)], FLOATS[:2], edges=False)
        return (x, draw.choose((2.0, 1.0, 0.0, math.inf, 3.0, 1.5))), {}


class RenormByNorm(Rule):
    """What is longer than the limit is multiplied by the limit over its norm.

    The norm is the root of a sum of powers, in float32 at least.
    """

    name = "renorm-by-norm"
    label = Label.TOLERANCE
    tolerance = 16
    replaces = ("aten::renorm",)
    summary = "Take the norm by powers, and scale what is longer"
    spellings = ("torch.renorm", "Tensor.renorm")
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_decomp/decompositions.py",)
    replace = staticmethod(renorm)

    def refuses(self, call: Call) -> str:
        """Decline complex numbers."""
        return "it takes no complex numbers" if call.given("self").is_complex() else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Some longer than the limit, some not."""
        x = draw.tensor(draw.shape(2, 3, smallest=2, largest=4), FLOATS[:2], edges=False)
        return (x, draw.choose((2, 1, 3.0)), draw.dim(x), draw.choose((1.0, 0.25, 5))), {}


def _too_large(table: int) -> str:
    return f"its table takes {table:,} numbers, more than {_LARGEST:,}" if table > _LARGEST else ""
