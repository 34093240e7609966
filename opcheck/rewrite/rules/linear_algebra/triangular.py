"""Cholesky's factors and triangular systems, column by column."""

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

LARGEST = 64
"""Rows beyond which a loop over columns is too slow to stand for a kernel."""


def _whole(a: Tensor, upper: bool) -> Tensor:
    """The symmetric matrix that one triangle says; its gradient goes to both alike."""
    named = a.triu() if upper else a.tril()
    other = a.triu(1) if upper else a.tril(-1)
    both = (a + a.mT) / 2
    return (named + other.mT).detach() + (both - both.detach())


def _lower_factor(a: Tensor) -> tuple[Tensor, Tensor]:
    """L of a symmetric matrix, and what was on the diagonal when a square root was taken."""
    columns, pivots = [a[..., :0]], [a[..., :1, :0]]
    for place in range(a.size(-1)):
        pivot = a[..., :1, :1]
        column = a[..., :1] / pivot.sqrt()
        columns.append(torch.nn.functional.pad(column, (0, 0, place, 0)))
        pivots.append(pivot)
        below = column[..., 1:, :]
        a = a[..., 1:, 1:] - below * below.mT
    return torch.cat(columns, -1), torch.cat(pivots, -1).flatten(-2)


def _substituted(a: Tensor, b: Tensor, upper: bool, unit: bool) -> Tensor:
    """The solution of ``a x = b``, row by row."""
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    b, rows, size = b.expand(*batch, *b.shape[-2:]), [], a.size(-1)
    for place in reversed(range(size)) if upper else range(size):
        row = b[..., -1:, :] if upper else b[..., :1, :]
        row = row if unit else row / a[..., place : place + 1, place : place + 1]
        rows.append(row)
        if upper:
            b = b[..., :-1, :] - a[..., :place, place : place + 1] * row
        else:
            b = b[..., 1:, :] - a[..., place + 1 :, place : place + 1] * row
    return torch.cat([*(reversed(rows) if upper else rows), b], -2)


def cholesky_ex(
    self: Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor]:
    """Take one column of L after the other, and the place of the first that has no root."""
    factor, pivots = _lower_factor(_whole(self, upper))
    size = self.size(-1)
    left = torch.arange(size, 0, -1, device=self.device)
    wrong = torch.where(pivots > 0, torch.zeros_like(left), left)
    first = torch.nn.functional.pad(wrong, (1, 0)).amax(-1)
    info = torch.where(first > 0, size + 1 - first, first).to(torch.int32)
    return factor.mT if upper else factor, info


def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """Take one column of L after the other."""
    factor, _ = _lower_factor(_whole(self, upper))
    return factor.mT if upper else factor


def cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
    """Invert the factor, row by row, and multiply; the gradient is that of an inverse."""
    factor = self.mT if upper else self
    unit = torch.eye(self.size(-1), dtype=self.dtype, device=self.device)
    root = _substituted(factor.detach(), unit, False, False)
    inverse, product = root.mT @ root, factor @ factor.mT
    return inverse - inverse @ (product - product.detach()) @ inverse


def cholesky_solve(self: Tensor, A: Tensor, upper: bool) -> Tensor:
    """Solve with the factor, and then with its transpose."""
    factor = A.mT if upper else A
    return _substituted(factor.mT, _substituted(factor, self, False, False), True, False)


def solve_triangular(
    self: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Find one row of the solution after the other."""
    if left:
        return _substituted(self, B, upper, unitriangular)
    return _substituted(self.mT, B.mT, not upper, unitriangular).mT


def triangular_solve(
    self: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Tensor, Tensor]:
    """Find one row of the solution after the other; the matrix comes along."""
    batch = torch.broadcast_shapes(A.shape[:-2], self.shape[:-2])
    copy = A.expand(*batch, *A.shape[-2:]).clone()
    matrix = A.mT if transpose else A
    return _substituted(matrix, self, upper is not transpose, unitriangular), copy


def cholesky_or_error(input: Tensor, *, upper: bool = False) -> Tensor:
    """Take one column of L after the other; a matrix that is not positive definite is an error."""
    factor, info = cholesky_ex(input, upper=upper)
    # what torch.linalg.cholesky (2.13) itself calls
    torch.ops.aten._linalg_check_errors(info, "linalg.cholesky", is_matrix=input.dim() == 2)
    return factor


def cholesky_pair(input: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Take one column of L after the other, and the place of the first that has no root."""
    factor, info = cholesky_ex(input, upper=upper)
    if check_errors:
        # what torch.linalg.cholesky_ex (2.13) itself calls
        is_matrix = input.dim() == 2
        torch.ops.aten._linalg_check_errors(info, "linalg.cholesky_ex", is_matrix=is_matrix)
    named = torch.return_types.linalg_cholesky_ex  # type: ignore[attr-defined]  # not in its stubs
    return named((factor, info))


def solved_by_cholesky(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solve with the factor, and then with its transpose."""
    return cholesky_solve(input, input2, upper)


def triangular_solved(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    """Find one row of the solution after the other; the matrix comes along."""
    found = triangular_solve(input, A, upper, transpose, unitriangular)
    return torch.return_types.triangular_solve(found)


def definite(x: Tensor) -> Tensor:
    """Give a symmetric positive definite matrix that is easy to factor."""
    if not x.is_floating_point() or x.dim() < 2 or x.size(-1) != x.size(-2):
        return x
    return x @ x.mT / max(x.size(-1), 1) + torch.eye(x.size(-1), dtype=x.dtype)


def dominant(x: Tensor) -> Tensor:
    """Give a matrix whose triangles are easy to solve with."""
    if not x.is_floating_point() or x.dim() < 2 or x.size(-1) != x.size(-2):
        return x
    return x / max(x.size(-1), 1) + 2 * torch.eye(x.size(-1), dtype=x.dtype)


class _ByColumns(Rule):
    """What rules of this file share: real matrices that are not too large."""

    label = Label.TOLERANCE
    tolerance = 512.0
    matrix: ClassVar[str] = "self"
    made: ClassVar[Callable[..., Tensor]] = staticmethod(definite)

    def refuses(self, call: Call) -> str:
        """Decline complex matrices, large ones, and checks that read a value."""
        given = call.given(self.matrix)
        if given.is_complex():
            return "the matrix is complex"
        if given.size(-1) > LARGEST:
            return Sentence(
                "the matrix has more than {count} columns: the loop takes one at a time",
                count=LARGEST,
            )
        return "it waits for a check" if call.given("check_errors", False) else ""

    def valid(self, call: Call) -> Call:
        """Make the matrix one that has an answer."""
        names = [argument.name for argument in call.func._schema.arguments]
        place, make = names.index(self.matrix), type(self).made
        args = [make(a) if i == place else a for i, a in enumerate(call.args)]
        kwargs = {n: make(v) if n == self.matrix else v for n, v in call.kwargs.items()}
        return altered(call, args=tuple(args), kwargs=kwargs)

    def square(self, draw: Draw) -> Tensor:
        """Draw a matrix, or several, that are fit for it."""
        size = draw.integer(0, 5)
        shape = [*draw.shape(0, 2, largest=3), size, size]
        x = type(self).made(draw.tensor(shape, FLOATS[:2], edges=False))
        return x.mT.contiguous().mT if draw.flag() else x

    def right(self, draw: Draw, a: Tensor, rows: int) -> Tensor:
        """Draw a right-hand side."""
        shape = [*a.shape[draw.integer(0, a.dim() - 2) : -2], rows, draw.integer(0, 3)]
        return draw.tensor(shape, (a.dtype,), edges=False)


class CholeskyExByColumns(_ByColumns):
    """Each column of L is one of the matrix over the root of its diagonal; what it explains goes.

    One step takes a root, a division and an outer product, for all matrices of a batch at once:
    about seven calls for each column. Where a matrix is not positive definite, its ``info`` is as
    it should be, and L holds NaN from that column on.
    """

    name = "cholesky-ex-by-columns"
    replaces: ClassVar[tuple[str, ...]] = ("aten::linalg_cholesky_ex",)
    summary = "Take one column of L after the other"
    references = ("https://netlib.org/lapack/explore-html/d9/d9d/group__potf2.html",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.cholesky": cholesky_or_error,
        "torch.linalg.cholesky_ex": cholesky_pair,
    }
    replace: ClassVar[Callable[..., Any]] = staticmethod(cholesky_ex)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of either triangle."""
        return (self.square(draw),), {"upper": draw.flag(), "check_errors": False}


class CholeskyByColumns(_ByColumns):
    """Each column of L is one of the matrix over the root of its diagonal; what it explains goes.

    Where the operator raises, because a matrix is not positive definite, this gives NaN.
    """

    name = "cholesky-by-columns"
    replaces = ("aten::cholesky",)
    summary = "Take one column of L after the other"
    spellings = ("torch.cholesky", "Tensor.cholesky")
    references = ("https://netlib.org/lapack/explore-html/d9/d9d/group__potf2.html",)
    replace = staticmethod(cholesky)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of either triangle."""
        return (self.square(draw), draw.flag()), {}


class CholeskyInverseByRows(_ByColumns):
    """The factor is inverted row by row, as a system with the unit matrix, and multiplied.

    The last line of the function adds nothing but the gradient, ``-X d(L L^T) X``, which goes to
    the other triangle as well, as PyTorch's does.
    """

    name = "cholesky-inverse-by-rows"
    replaces = ("aten::cholesky_inverse",)
    summary = "Invert the factor row by row, and multiply"
    spellings = ("torch.cholesky_inverse", "Tensor.cholesky_inverse")
    replace = staticmethod(cholesky_inverse)
    made = staticmethod(dominant)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of either triangle."""
        return (self.square(draw), draw.flag()), {}


class CholeskySolveByRows(_ByColumns):
    """A system with the factor and one with its transpose, each row by row."""

    name = "cholesky-solve-by-rows"
    replaces = ("aten::_cholesky_solve_helper",)
    summary = "Solve with the factor and with its transpose, row by row"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.cholesky_solve": solved_by_cholesky, "Tensor.cholesky_solve": solved_by_cholesky
    }  # fmt: skip
    replace = staticmethod(cholesky_solve)
    matrix = "A"
    made = staticmethod(dominant)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of either triangle; both are of one batch here."""
        a = self.square(draw)
        b = draw.tensor([*a.shape[:-1], draw.integer(0, 3)], (a.dtype,), edges=False)
        return (b, a, draw.flag()), {}


class SolveTriangularByRows(_ByColumns):
    """One row of the solution after the other; each is taken out of the rows that remain.

    About three calls for each row, for all matrices of a batch and all columns at once.
    """

    name = "solve-triangular-by-rows"
    replaces = ("aten::linalg_solve_triangular",)
    summary = "Find one row of the solution after the other"
    spellings = ("torch.linalg.solve_triangular",)
    replace = staticmethod(solve_triangular)
    made = staticmethod(dominant)

    def example(self, op: str, draw: Draw) -> Arguments:
        """From the left and from the right, with a diagonal or without, batches broadcast."""
        a, left = self.square(draw), draw.flag()
        b = self.right(draw, a, a.size(-1))
        named = {"upper": draw.flag(), "left": left, "unitriangular": draw.flag()}
        return (a, b if left else b.mT), named


class TriangularSolveByRows(_ByColumns):
    """One row of the solution after the other; each is taken out of the rows that remain."""

    name = "triangular-solve-by-rows"
    replaces = ("aten::triangular_solve",)
    summary = "Find one row of the solution after the other"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.triangular_solve": triangular_solved, "Tensor.triangular_solve": triangular_solved
    }  # fmt: skip
    replace = staticmethod(triangular_solve)
    matrix = "A"
    made = staticmethod(dominant)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With the matrix or its transpose, with a diagonal or without, batches broadcast."""
        a = self.square(draw)
        return (self.right(draw, a, a.size(-1)), a, draw.flag(), draw.flag(), draw.flag()), {}
