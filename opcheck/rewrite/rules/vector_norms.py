"""Norms of vectors by powers, and norms held below a limit."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


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


def vector_norm(
    self: Tensor,
    ord: float = 2,
    dim: Sequence[int] | int | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Take the root of a sum of powers."""
    x = self if dtype is None else self.to(dtype)
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    count = max(x.dim(), 1)
    given = list(range(count)) if dim is None or dim == [] else dim
    dims = sorted(d % count for d in ([given] if isinstance(given, int) else given))
    if not x.dim():
        return _norm(wide.reshape(1), float(ord)).to(x.dtype)
    left = [d for d in range(count) if d not in dims]
    rows = wide.permute([*left, *dims]).flatten(len(left))
    shape = [1 if d in dims else x.size(d) for d in range(count)]
    norm = _norm(rows, float(ord)).to(x.dtype)
    return norm.reshape(shape) if keepdim else norm


def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Take the root of a sum of powers, unless it is the norm of a matrix."""
    flat = dim is None or isinstance(dim, int) or len(dim) <= 2
    order = 2.0 if p == "fro" and flat else p
    if not isinstance(order, int | float) or order < 0 or input.is_complex() or out is not None:
        found: Tensor = torch.norm(input, p, dim, keepdim, out, dtype)
        return found
    return vector_norm(input, order, dim, keepdim, dtype=dtype)


def norm_of(
    self: Tensor,
    p: float | str | None = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Take the root of a sum of powers, unless it is the norm of a matrix."""
    return norm(self, p, dim, keepdim, dtype=dtype)


def linalg_norm(
    input: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Take the root of a sum of powers, unless it is the norm of a matrix."""
    count = input.dim() if dim is None else 1 if isinstance(dim, int) else len(dim)
    order = 2.0 if ord is None or (ord == "fro" and count == 2) else ord
    of_vector = ord is None or (ord == "fro" and count == 2) or count == 1
    if not of_vector or isinstance(order, str) or order < 0 or input.is_complex():
        found: Tensor = torch.linalg.norm(input, ord, dim, keepdim, dtype=dtype)
        return found
    return vector_norm(input, order, dim, keepdim, dtype=dtype)


def normalize(
    input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """Divide by the root of a sum of powers."""
    if p < 0 or input.is_complex() or out is not None:
        return torch.nn.functional.normalize(input, p, dim, eps, out)
    return input / vector_norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)


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


class VectorNormByPowers(Rule):
    """The norm is the root of a sum of powers; the largest one for ``ord=inf``.

    Powers are taken and added up in float32 at least.
    """

    name = "vector-norm-by-powers"
    label = Label.TOLERANCE
    tolerance = 16
    replaces = ("aten::linalg_vector_norm",)
    summary = "Take powers, add them up, and take the root"
    references = RenormByNorm.references
    spellings = ("torch.linalg.vector_norm",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.norm": norm,
        "Tensor.norm": norm_of,
        "torch.linalg.norm": linalg_norm,
        "torch.nn.functional.normalize": normalize,
    }
    replace = staticmethod(vector_norm)

    def refuses(self, call: Call) -> str:
        """Decline complex numbers and negative orders."""
        dtype = call.given("dtype")
        if call.given("self").is_complex() or (dtype is not None and dtype.is_complex):
            return "it takes no complex numbers"
        return "its order is negative" if call.given("ord", 2) < 0 else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any order that is not negative, over some dimensions or all."""
        x = draw.tensor(draw.shape(smallest=1), FLOATS[:2], edges=False)
        dims = [d for d in range(x.dim()) if draw.flag()] or None
        order = draw.choose((2, 1, math.inf, 0, 3, 1.5))
        return (x, order, dims, draw.flag()), {}
