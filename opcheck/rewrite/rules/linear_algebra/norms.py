"""Norms of vectors and matrices, and distances between rows."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
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
        first = still.squeeze(-1) + moved.amax(-1).detach()
        rest = moved - moved.detach()
        equal = moved.detach() == 0  # which share the gradient
        equal = torch.where(most < math.inf, equal & (size == most), size == most)
        shared = torch.where(equal, rest, torch.zeros_like(rest)).sum(-1)
        return first + shared / equal.sum(-1).clamp(min=1).to(shared.dtype)
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


def matrix_norm(
    self: Tensor,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Add singular values up, or take the largest or the smallest."""
    x = self if dtype is None else self.to(dtype)
    rows, columns = (d % x.dim() for d in dim)
    values = torch.linalg.svdvals(x.movedim((rows, columns), (-2, -1)))
    norm: Tensor = values.sum(-1) if ord == "nuc" else values.amax(-1)
    if ord == -2:
        norm = values.amin(-1)
    for d in sorted((rows, columns)) if keepdim else ():
        norm = norm.unsqueeze(d)
    return norm


def matrix_norm_of(
    input: Tensor, ord: Any = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
    dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    """``matrix_norm`` by singular values; norms that are not made of them are left to torch."""
    if ord in ("nuc", 2, -2):
        return matrix_norm(input, ord, dim, keepdim, dtype=dtype)
    norm: Tensor = torch.linalg.matrix_norm(input, ord, dim, keepdim, dtype=dtype)
    return norm


class MatrixNormBySingularValues(Rule):
    """The nuclear norm is the sum of the singular values, those of 2 and -2 are their extremes.

    This is what PyTorch computes itself; it is of use where a vendor's own code declines these
    norms and yet has a kernel for singular values.
    """

    name = "matrix-norm-by-singular-values"
    replaces = ("aten::linalg_matrix_norm", "aten::linalg_matrix_norm.str_ord")
    summary = "Add singular values up, or take the largest or the smallest"
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/LinearAlgebra.cpp",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.matrix_norm": matrix_norm_of
    }
    replace = staticmethod(matrix_norm)

    def refuses(self, call: Call) -> str:
        """Decline norms that are not made of singular values."""
        if call.given("ord", "fro") in ("nuc", 2, -2):
            return ""
        return "the norm is not made of singular values"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along any two dimensions, which stay or go."""
        shape = draw.shape(2, 4, smallest=1, largest=4)
        x = torch.eye(*shape[-2:]) + draw.tensor(shape, FLOATS[:2], edges=False)
        first = draw.dim(x)
        others = [d for d in range(x.dim()) if d != first % x.dim()]
        ord_ = "nuc" if op.endswith("str_ord") else draw.choose((2, -2))
        return (x, ord_, [first, draw.choose(others)], draw.flag()), {}


LARGEST = 1 << 24
"""Elements of the table of differences beyond which it is too large."""
ROWS = 256
"""Rows of one set beyond which half of a table is joined of too many parts."""


def _distance(gap: Tensor, p: float) -> Tensor:
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
    return _distance(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def distances(
    x1: Tensor, x2: Tensor, p: float = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:  # fmt: skip
    """Take the norm of every difference, whatever the mode is."""
    return cdist(x1, x2, p)


def pdist(self: Tensor, p: float = 2.0) -> Tensor:
    """Take the norm of every difference of two rows, and join those above the diagonal."""
    rows = range(self.size(0) - 1)
    parts = [_distance(self[row : row + 1] - self[row + 1 :], p) for row in rows]
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
            return Sentence(
                "the table of differences would have more than {count} elements",
                count=f"{LARGEST:,}",
            )
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
        if call.args[0].size(0) <= ROWS:
            return ""
        return Sentence("there are more than {count} rows", count=ROWS)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With all kinds of norms; rows that are equal among them."""
        x = draw.tensor([draw.integer(1, 5), draw.integer(1, 4)], FLOATS[:2], edges=False)
        return (x, draw.choose((2.0, 1.0, 0.0, math.inf, 3.0, 1.5))), {}
