"""Eigenvalues and singular values by Jacobi's rotations, in a fixed number of rounds."""

# ruff: noqa: N803  # arguments are named as in the schema

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from msgspec.structs import replace as altered
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

LARGEST = 16
"""Columns beyond which rounds over all pairs are too slow to stand for a kernel."""
SWEEPS = 10
"""How often every pair is rotated; each sweep about doubles the right digits in the end."""


def _turn(first: Tensor, second: Tensor, between: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine of the smaller rotation that takes ``between`` away."""
    gap, twice = second - first, 2 * between
    length = (gap * gap + twice * twice).sqrt() + gap.abs()
    still = length == 0
    tangent = twice / torch.where(still, torch.ones_like(length), length)
    tangent = torch.where(gap < 0, -tangent, tangent)
    cosine = (tangent * tangent + 1).rsqrt()
    return cosine.unsqueeze(-1), (tangent * cosine).unsqueeze(-1)


def _rotated(rows: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate each row of the upper half with its partner of the lower half."""
    half = rows.size(-2) // 2
    upper, lower = rows[..., :half, :], rows[..., half:, :]
    return torch.cat([cosine * upper - sine * lower, sine * upper + cosine * lower], -2)


def _seated(rows: Tensor) -> Tensor:
    """Pair every row anew: the first stays, the others move on by one seat around the table."""
    half = rows.size(-2) // 2
    if half == 1:
        return rows
    upper, lower = rows[..., :half, :], rows[..., half:, :]
    return torch.cat(
        [upper[..., :1, :], lower[..., :1, :], upper[..., 1:-1, :], lower[..., 1:, :],
         upper[..., -1:, :]], -2,
    )  # fmt: skip


def _even(size: int) -> int:
    return size + size % 2


def _diagonalised(a: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues of symmetric matrices, the smallest first, and vectors as columns."""
    size, even = a.size(-1), _even(a.size(-1))
    a = torch.nn.functional.pad(a, (0, even - size, 0, even - size))
    unit = torch.eye(even, dtype=a.dtype, device=a.device).expand(a.shape)
    rows, half = unit, even // 2
    for _ in range(SWEEPS * (even - 1)):
        values, across = a.diagonal(dim1=-2, dim2=-1), a[..., :half, half:]
        turn = _turn(values[..., :half], values[..., half:], across.diagonal(dim1=-2, dim2=-1))
        both = _seated(_rotated(torch.cat([a, rows], -1), *turn))
        a, rows = both[..., :even], both[..., even:]
        a = _seated(_rotated(a.mT, *turn))
    values, order = a.diagonal(dim1=-2, dim2=-1)[..., :size].sort(-1)
    vectors = rows[..., :size, :size].gather(-2, order.unsqueeze(-1).expand(*order.shape, size))
    return values, vectors.mT


def _apart(values: Tensor) -> Tensor:
    """``1 / (values[j] - values[i])``; 0 where they are equal."""
    gap = values.unsqueeze(-2) - values.unsqueeze(-1)
    return torch.where(gap == 0, gap, 1 / torch.where(gap == 0, torch.ones_like(gap), gap))


def _moving(a: Tensor) -> Tensor:
    """Zeros that have the gradient of ``a``."""
    return a - a.detach()


def eigh(A: Tensor, UPLO: str = "L", compute_v: bool = True) -> tuple[Tensor, Tensor]:
    """Rotate pairs of rows and columns until nothing is left beside the diagonal."""
    if not A.size(-1):
        return A.flatten(-2), A.clone() if compute_v else A.new_empty(0)
    low = A.tril() if UPLO.upper() == "L" else A.triu().mT
    whole = low + low.tril(-1).mT
    values, vectors = _diagonalised(whole.detach())
    change = vectors.mT @ _moving((A + A.mT) / 2) @ vectors
    values = values + change.diagonal(dim1=-2, dim2=-1)
    if not compute_v:
        return values, A.new_empty(0)
    return values, vectors + vectors @ (_apart(values.detach()) * change)


def _completed(columns: Tensor, size: int) -> Tensor:
    """Orthonormal columns along those given, which are orthogonal; as many as asked for."""
    height, found, a = columns.size(-2), [], columns
    signs = []
    for step in range(columns.size(-1)):
        column = a[..., :1]
        first, rest = column[..., :1, :], column[..., 1:, :]
        square = (rest * rest).sum(-2, keepdim=True)
        length = (first * first + square).sqrt()
        minus = first < 0
        made = torch.where(minus, length, -length)
        still = length == 0
        base = torch.where(still, torch.ones_like(first), first - made)
        vector = torch.cat([torch.ones_like(first), rest / base], -2)
        over = torch.where(still, torch.ones_like(made), made)
        factor = torch.where(still, torch.zeros_like(made), (made - first) / over)
        right = a[..., 1:]
        a = (right - factor * vector * (vector * right).sum(-2, keepdim=True))[..., 1:, :]
        found.append((step, vector, factor))
        signs.append(torch.where(minus | still, torch.ones_like(made), -torch.ones_like(made)))
    made = torch.eye(height, size, dtype=columns.dtype, device=columns.device)
    made = made.expand(*columns.shape[:-2], height, size)
    for step, vector, factor in reversed(found):
        below = made[..., step:, :]
        below = below - factor * vector * (vector * below).sum(-2, keepdim=True)
        made = torch.cat([made[..., :step, :], below], -2)
    turned = torch.cat(signs, -1)
    return torch.cat([made[..., : turned.size(-1)] * turned, made[..., turned.size(-1) :]], -1)


def _tall(a: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    """U, singular values, the largest first, and V, of matrices with no more columns than rows."""
    height, size = a.shape[-2:]
    if not size:
        unit = torch.eye(height, height if full else 0, dtype=a.dtype, device=a.device)
        return unit.expand(*a.shape[:-2], *unit.shape), a.sum(-2), a.mT @ a
    even = _even(size)
    rows = torch.nn.functional.pad(a.mT, (0, 0, 0, even - size))
    turns, half = torch.eye(even, dtype=a.dtype, device=a.device), even // 2
    both = torch.cat([rows, turns.expand(*a.shape[:-2], even, even)], -1)
    for _ in range(SWEEPS * (even - 1)):
        upper, lower = both[..., :half, :height], both[..., half:, :height]
        turn = _turn((upper * upper).sum(-1), (lower * lower).sum(-1), (upper * lower).sum(-1))
        both = _seated(_rotated(both, *turn))
    both = both[..., :size, : height + size]
    lengths = (both[..., :height] * both[..., :height]).sum(-1).sqrt()
    values, order = lengths.sort(-1, descending=True)
    both = both.gather(-2, order.unsqueeze(-1).expand(both.shape))
    left = _completed(both[..., :height].mT, height if full else size)
    return left, values, both[..., height:].mT


def _decomposed(a: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    """U, singular values and V of matrices with no more columns than rows, with gradients."""
    left, values, right = _tall(a.detach(), full)
    size = a.size(-1)
    moved = _moving(a) @ right
    known = left[..., :size]
    change = known.mT @ moved
    apart, wide = _apart(values * values), values.unsqueeze(-2)
    scaled = change * wide
    turn = known @ (apart * (scaled + scaled.mT))
    zero = wide == 0
    rest = (moved - known @ change) / torch.where(zero, torch.ones_like(wide), wide)
    other = change * values.unsqueeze(-1)
    return (
        torch.cat([known + turn + rest, left[..., size:]], -1),
        values + change.diagonal(dim1=-2, dim2=-1),
        right + right @ (apart * (other + other.mT)),
    )


def svd(
    A: Tensor,
    full_matrices: bool = False,
    compute_uv: bool = True,
    *,
    driver: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Rotate pairs of columns until all are orthogonal; their lengths are the singular values."""
    wide = A.size(-2) < A.size(-1)
    left, values, right = _decomposed(A.mT if wide else A, full_matrices and compute_uv)
    if not compute_uv:
        return A.new_empty(0), values, A.new_empty(0)
    return (right, values, left.mT) if wide else (left, values, right.mT)


def eigh_pair(input: Tensor, UPLO: str = "L") -> Any:
    """Rotate pairs of rows and columns until nothing is left beside the diagonal."""
    named = torch.return_types.linalg_eigh  # type: ignore[attr-defined]  # not in its stubs
    return named(eigh(input, UPLO))


def eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """Rotate pairs of rows and columns until nothing is left beside the diagonal."""
    return eigh(input, UPLO, compute_v=False)[0]


def svd_factors(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """Rotate pairs of columns until all are orthogonal; their lengths are the singular values."""
    named = torch.return_types.linalg_svd  # type: ignore[attr-defined]  # not in its stubs
    return named(svd(A, full_matrices))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Rotate pairs of columns until all are orthogonal; their lengths are the singular values."""
    return svd(A, compute_uv=False)[1]


def svd_by_some(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Rotate pairs of columns until all are orthogonal; their lengths are the singular values."""
    if compute_uv:
        left, values, right = svd(input, not some)
        return torch.return_types.svd((left, values, right.mT))
    rows, columns = input.shape[-2:]
    none = [input.new_zeros(*input.shape[:-2], size, size) for size in (rows, columns)]
    return torch.return_types.svd((none[0], svdvals(input), none[1]))


def spread(x: Tensor) -> Tensor:
    """Give a matrix whose eigenvalues, and singular values, are not 0 and far from each other."""
    if not x.is_floating_point() or x.dim() < 2:
        return x
    rows, columns = x.shape[-2:]
    steps = torch.arange(1, columns + 1, dtype=x.dtype)
    return x / 4 / max(rows, columns, 1) + torch.eye(rows, columns, dtype=x.dtype) * steps


class _ByRotations(Rule):
    """What rules of this file share: real matrices that are small."""

    label = Label.TOLERANCE
    tolerance = 2048.0

    def refuses(self, call: Call) -> str:
        """Decline complex matrices and large ones."""
        given = call.args[0]
        if given.is_complex():
            return "the matrix is complex"
        if min(given.shape[-2:]) > LARGEST:
            return Sentence(
                "the matrix has more than {count} columns: all pairs are rotated many times",
                count=LARGEST,
            )
        return ""

    def valid(self, call: Call) -> Call:
        """Make the values that are looked for lie apart."""
        return altered(call, args=(spread(call.args[0]), *call.args[1:]))


class EighByRotations(_ByRotations):
    """Jacobi's method: rotate rows and columns until nothing is left beside the diagonal.

    Each rotation takes one pair of elements away. Half as many pairs as rows are rotated in one
    round, and every pair once in a sweep; ten sweeps are made whatever the values are, about
    eighteen calls a round. Eigenvalues are right to 50 ``eps`` of the largest; each
    vector may have the other sign. The gradient is PyTorch's: of ``V (F * (V' dA V))``; it is 0
    instead of infinite between eigenvalues that are equal.
    """

    name = "eigh-by-rotations"
    replaces: ClassVar[tuple[str, ...]] = ("aten::_linalg_eigh",)
    summary = "Rotate pairs of rows and columns until the matrix is diagonal"
    references: ClassVar[tuple[str, ...]] = (
        "https://en.wikipedia.org/wiki/Jacobi_eigenvalue_algorithm",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.eigh": eigh_pair, "torch.linalg.eigvalsh": eigvalsh
    }  # fmt: skip
    replace: ClassVar[Callable[..., Any]] = staticmethod(eigh)

    def unique(self, call: Call, results: Sequence[Tensor]) -> Sequence[Tensor]:
        """Take each vector's product with itself, which has one sign."""
        values, vectors = results
        if not vectors.numel():
            return results
        return values, vectors.unsqueeze(-2) * vectors.unsqueeze(-3)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of either triangle, with vectors."""
        size = draw.integer(0, 4)
        shape = [*draw.shape(0, 2, largest=2), size, size]
        x = spread(draw.tensor(shape, FLOATS[:2], edges=False))
        return (x, draw.choose(("L", "U")), True), {}


class SvdByRotations(_ByRotations):
    """One-sided Jacobi: pairs of columns are rotated until all are orthogonal to each other.

    Their lengths are the singular values, they themselves make U, the rotations make V; what is
    missing of U is completed by reflections. Ten sweeps are made whatever the values are, about
    seventeen calls a round. Small singular values come more exact than from LAPACK; each pair of
    vectors may have the other sign. The gradient is 0 instead of infinite between singular values
    that are equal.
    """

    name = "svd-by-rotations"
    replaces = ("aten::_linalg_svd",)
    summary = "Rotate pairs of columns until all are orthogonal"
    references = ("https://netlib.org/lapack/lawnspdf/lawn169.pdf",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.svd": svd_factors,
        "torch.linalg.svdvals": svdvals,
        "torch.svd": svd_by_some,
        "Tensor.svd": svd_by_some,
    }
    replace = staticmethod(svd)

    def unique(self, call: Call, results: Sequence[Tensor]) -> Sequence[Tensor]:
        """Take products of two vectors that change their signs together."""
        left, values, right = results
        if not left.numel():
            return results
        size = values.size(-1)
        first, second = left[..., :size], right.mT[..., :size]
        more = (left[..., size:], right.mT[..., size:])
        return (
            values,
            first.unsqueeze(-2) * second.unsqueeze(-3),
            *(x.detach() @ x.detach().mT for x in more),
        )

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of any shape, full or not."""
        shape = [*draw.shape(0, 2, largest=2), draw.integer(0, 4), draw.integer(0, 4)]
        x = spread(draw.tensor(shape, FLOATS[:2], edges=False))
        return (x, draw.flag(), True), {}
