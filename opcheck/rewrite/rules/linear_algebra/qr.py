"""Orthogonal factors by Householder's reflections, as LAPACK makes them."""

# ruff: noqa: N803  # arguments are named as in the schema

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from msgspec.structs import replace as altered
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

LARGEST = 32
"""Columns beyond which a loop over them is too slow to stand for a kernel."""

_Reflections = list[tuple[Tensor, Tensor]]
"""Vectors as columns, the first element 1, and their factors."""


def _reflection(column: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What takes a column to its first element: the vector, its factor, and that element."""
    first, rest = column[..., :1, :], column[..., 1:, :]
    square = (rest * rest).sum(-2, keepdim=True)
    done = square == 0
    length = torch.where(done, torch.ones_like(square), first * first + square).sqrt()
    made = torch.where(done, first, torch.where(first < 0, length, -length))
    one = torch.ones_like(made)
    factor = torch.where(
        done, torch.zeros_like(made), (made - first) / torch.where(done, one, made)
    )
    rest = rest / torch.where(done, one, first - made)
    return torch.cat([one, rest], -2), factor, made


def _reflected(a: Tensor) -> tuple[Tensor, _Reflections]:
    """R, with as many rows as the matrix has, and the reflections that lead to it."""
    rows, columns = a.shape[-2:]
    done, found = [], []
    for step in range(min(rows, columns)):
        vector, factor, made = _reflection(a[..., :1])
        right = a[..., 1:]
        right = right - factor * vector * (vector * right).sum(-2, keepdim=True)
        row = torch.cat([made, right[..., :1, :]], -1)
        done.append(torch.nn.functional.pad(row, (step, 0)))
        found.append((vector, factor))
        a = right[..., 1:, :]
    return torch.cat([*done, torch.nn.functional.pad(a, (columns - a.size(-1), 0))], -2), found


def _applied(found: _Reflections, b: Tensor, back: bool) -> Tensor:
    """Q times ``b``; its transpose where ``back``."""
    steps = range(len(found))
    for step in steps if back else reversed(steps):
        vector, factor = found[step]
        below = b[..., step:, :]
        below = below - factor * vector * (vector * below).sum(-2, keepdim=True)
        b = torch.cat([b[..., :step, :], below], -2)
    return b


def _kept(packed: Tensor, tau: Tensor) -> _Reflections:
    """Reflections as LAPACK keeps them: below the diagonal."""
    found = []
    for step in range(tau.size(-1)):
        column = packed[..., step:, step : step + 1]
        vector = torch.cat([torch.ones_like(column[..., :1, :]), column[..., 1:, :]], -2)
        found.append((vector, tau[..., step, None, None]))
    return found


def _unit(like: Tensor, columns: int) -> Tensor:
    unit = torch.eye(like.size(-2), columns, dtype=like.dtype, device=like.device)
    return unit.expand(*like.shape[:-2], *unit.shape)


def qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Reflect one column after the other onto the diagonal, and the unit matrix back."""
    upper, found = _reflected(A)
    if mode != "complete":
        upper = upper[..., : len(found), :]
    if mode == "r":
        return A.new_empty(0), upper
    size = A.size(-2) if mode == "complete" else len(found)
    return _applied(found, _unit(A, size), False), upper


def geqrf(self: Tensor) -> tuple[Tensor, Tensor]:
    """Reflect one column after the other onto the diagonal, and keep what did it below."""
    upper, found = _reflected(self)
    columns, factors = [], [self[..., :1, :0]]
    for step, (vector, factor) in enumerate(found):
        columns.append(torch.nn.functional.pad(vector[..., 1:, :], (0, 0, step + 1, 0)))
        factors.append(factor)
    below = torch.cat([*columns, torch.zeros_like(self[..., len(found) :])], -1)
    return upper + below, torch.cat(factors, -1).flatten(-2)


def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """Reflect the unit matrix, from the last to the first."""
    return _applied(_kept(input, tau), _unit(input, input.size(-1)), False)


def ormqr(
    self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Reflect the other matrix, from the last to the first, or its transpose."""
    found = _kept(self, input2)
    if left:
        return _applied(found, input3, transpose)
    return _applied(found, input3.mT, not transpose).mT


def _upwards(a: Tensor, b: Tensor) -> Tensor:
    """The solution of ``a x = b`` for an upper triangle, row by row."""
    rows = []
    for place in reversed(range(a.size(-1))):
        row = b[..., -1:, :] / a[..., place : place + 1, place : place + 1]
        rows.append(row)
        b = b[..., :-1, :] - a[..., :place, place : place + 1] * row
    return torch.cat([*reversed(rows), b], -2)


def _downwards(a: Tensor, b: Tensor) -> Tensor:
    """The solution of ``a x = b`` for a lower triangle, row by row."""
    rows = []
    for place in range(a.size(-1)):
        row = b[..., :1, :] / a[..., place : place + 1, place : place + 1]
        rows.append(row)
        b = b[..., 1:, :] - a[..., place + 1 :, place : place + 1] * row
    return torch.cat([*rows, b], -2)


def lstsq(
    self: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Solve with R what Q makes of the right-hand side."""
    rows, columns = self.shape[-2:]
    vector = b.dim() == self.dim() - 1 and b.shape == self.shape[:-1]
    right = b.unsqueeze(-1) if vector else b
    batch = torch.broadcast_shapes(self.shape[:-2], right.shape[:-2])
    right = right.expand(*batch, *right.shape[-2:])
    squares, none = self.new_empty(0), self.new_empty(0)
    if rows >= columns:
        upper, found = _reflected(self)
        turned = _applied(found, right, True)
        result = _upwards(upper[..., :columns, :], turned[..., :columns, :])
        if rows > columns and driver == "gels":
            left = turned[..., columns:, :]
            squares = (left * left).sum(-2)
    else:
        upper, found = _reflected(self.mT)
        short = _downwards(upper[..., :rows, :].mT, right)
        result = _applied(found, torch.nn.functional.pad(short, (0, 0, 0, columns - rows)), False)
    few = self.new_empty(0, dtype=torch.int64)
    if driver != "gels":
        few = torch.full(self.shape[:-2], min(rows, columns), dtype=torch.int64, device=self.device)
    return result.squeeze(-1) if vector else result, squares, few, none


def qr_factors(A: Tensor, mode: str = "reduced") -> Any:
    """Reflect one column after the other onto the diagonal, and the unit matrix back."""
    named = torch.return_types.linalg_qr  # type: ignore[attr-defined]  # not in its stubs
    return named(qr(A, mode))


def qr_by_some(input: Tensor, some: bool = True) -> Any:
    """Reflect one column after the other onto the diagonal, and the unit matrix back."""
    return torch.return_types.qr(qr(input, "reduced" if some else "complete"))


def geqrf_factors(input: Tensor) -> Any:
    """Reflect one column after the other onto the diagonal, and keep what did it below."""
    return torch.return_types.geqrf(geqrf(input))


def lstsq_solved(
    input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> Any:
    """Solve with R what Q makes of the right-hand side."""
    named = torch.return_types.linalg_lstsq  # type: ignore[attr-defined]  # not in its stubs
    return named(lstsq(input, b, rcond, driver=driver))


def full_rank(x: Tensor) -> Tensor:
    """Give a matrix whose columns, or rows, are far from depending on each other."""
    if not x.is_floating_point() or x.dim() < 2:
        return x
    rows, columns = x.shape[-2:]
    return x / max(rows, columns, 1) + 2 * torch.eye(rows, columns, dtype=x.dtype)


class _ByReflections(Rule):
    """What rules of this file share: real matrices that are not too large."""

    label = Label.TOLERANCE
    tolerance = 512.0

    def refuses(self, call: Call) -> str:
        """Decline complex matrices and large ones."""
        given = call.args[0]
        if given.is_complex():
            return "the matrix is complex"
        if min(given.shape[-2:]) > LARGEST:
            return Sentence(
                "the matrix has more than {count} columns: the loop takes one at a time",
                count=LARGEST,
            )
        return ""

    def valid(self, call: Call) -> Call:
        """Make the matrix one of full rank."""
        return altered(call, args=(full_rank(call.args[0]), *call.args[1:]))

    def matrices(self, draw: Draw, smallest: int = 0) -> Tensor:
        """Draw one matrix, or several."""
        shape = [*draw.shape(0, 2, largest=3), draw.integer(smallest, 5), draw.integer(smallest, 5)]
        x = full_rank(draw.tensor(shape, FLOATS[:2], edges=False))
        return x.mT.contiguous().mT if draw.flag() else x


class QrByReflections(_ByReflections):
    """Each column is reflected onto the diagonal, with LAPACK's signs.

    Q is the unit matrix, reflected back. About twenty calls for each column, for all matrices of a
    batch at once. Squares of elements are added: beyond 1e19 in float32 they overflow, where
    LAPACK scales.
    """

    name = "qr-by-reflections"
    replaces: ClassVar[tuple[str, ...]] = ("aten::linalg_qr",)
    summary = "Reflect column by column onto the diagonal"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.qr": qr_factors, "torch.qr": qr_by_some, "Tensor.qr": qr_by_some
    }  # fmt: skip
    references: ClassVar[tuple[str, ...]] = (
        "https://netlib.org/lapack/explore-html/d8/d9b/group__larfg.html",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(qr)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of any shape, complete or not."""
        return (self.matrices(draw), draw.choose(("reduced", "complete"))), {}


class GeqrfByReflections(_ByReflections):
    """Each column is reflected onto the diagonal; the vectors stay below it, as LAPACK's do."""

    name = "geqrf-by-reflections"
    replaces = ("aten::geqrf",)
    summary = "Reflect column by column onto the diagonal, and keep the vectors below"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.geqrf": geqrf_factors, "Tensor.geqrf": geqrf_factors
    }  # fmt: skip
    references = ("https://netlib.org/lapack/explore-html/d8/d9b/group__larfg.html",)
    replace = staticmethod(geqrf)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of any shape."""
        return (self.matrices(draw),), {}


class HouseholderProductByReflections(_ByReflections):
    """The unit matrix is reflected by each vector in turn, from the last to the first."""

    name = "householder-product-by-reflections"
    replaces = ("aten::linalg_householder_product",)
    summary = "Reflect the unit matrix by each vector in turn"
    spellings = ("torch.linalg.householder_product",)
    replace = staticmethod(householder_product)

    def valid(self, call: Call) -> Call:
        """Take what a factorisation gives."""
        return altered(call, args=torch.geqrf(call.args[0]))

    def example(self, op: str, draw: Draw) -> Arguments:
        """As many vectors as columns, or fewer."""
        a = self.matrices(draw, 1)
        a = a if a.size(-2) >= a.size(-1) else a.mT
        packed, tau = torch.geqrf(a)
        return (packed, tau[..., : draw.integer(0, tau.size(-1))]), {}


class OrmqrByReflections(_ByReflections):
    """The other matrix is reflected by each vector in turn; Q itself is never made."""

    name = "ormqr-by-reflections"
    replaces = ("aten::ormqr",)
    summary = "Reflect the other matrix by each vector in turn"
    spellings = ("torch.ormqr", "Tensor.ormqr")
    replace = staticmethod(ormqr)

    def valid(self, call: Call) -> Call:
        """Take what a factorisation gives."""
        return altered(call, args=(*torch.geqrf(call.args[0]), *call.args[2:]))

    def example(self, op: str, draw: Draw) -> Arguments:
        """From either side, transposed or not."""
        a, left = self.matrices(draw, 1), draw.flag()
        a = a if a.size(-2) >= a.size(-1) else a.mT
        shape = [*a.shape[:-2], a.size(-2), draw.integer(1, 3)]
        other = draw.tensor(shape, (a.dtype,), edges=False)
        return (*torch.geqrf(a), other if left else other.mT, left, draw.flag()), {}


class LstsqByReflections(_ByReflections):
    """``A = Q R``; R is solved for what Q's transpose makes of the right-hand side.

    Where there are more columns than rows, the shortest solution follows from the factors of the
    transpose. The matrix must be of full rank, as PyTorch asks for on CUDA.
    """

    name = "lstsq-by-reflections"
    label = Label.APPROXIMATE
    tolerance = 0.0
    replaces = ("aten::linalg_lstsq",)
    summary = "Reflect to a triangle, and solve row by row"
    gives_up = "A matrix without full rank gives infinities, and its rank is not found"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.linalg.lstsq": lstsq_solved}
    replace = staticmethod(lstsq)

    def refuses(self, call: Call) -> str:
        """Decline drivers that give singular values."""
        if call.given("driver") in ("gelsd", "gelss"):
            return "singular values are asked for"
        return super().refuses(call)

    def example(self, op: str, draw: Draw) -> Arguments:
        """More rows than columns, or fewer; several right-hand sides, or a vector."""
        a = self.matrices(draw, 1)
        columns = [] if draw.flag() and a.dim() > 2 else [draw.integer(1, 3)]
        b = draw.tensor([*a.shape[:-1], *columns], (a.dtype,), edges=False)
        return (a, b), {"driver": draw.choose((None, "gels", "gelsy"))}
