"""Gauss's elimination with pivots, and what PyTorch makes of it: solutions, inverses, det."""

# ruff: noqa: N803  # arguments are named as in the schema

import math
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
"""Rows beyond which a loop over columns is too slow to stand for a kernel."""


def _eliminated(a: Tensor) -> tuple[Tensor, Tensor]:
    """L and U in one matrix, and for each step the row that it exchanged its own for."""
    rows, columns = a.shape[-2:]
    done: list[Tensor] = []
    taken = [torch.arange(0, device=a.device).expand(*a.shape[:-2], 0)]
    for step in range(min(rows, columns)):
        place = a[..., step : step + 1].abs().argmax(-2, keepdim=True)
        top = a.gather(-2, place.expand(*place.shape[:-1], columns))
        here = torch.arange(rows - step, device=a.device).unsqueeze(-1)
        rest = torch.where(here == place, a[..., :1, :], a)[..., 1:, :]
        pivot = top[..., step : step + 1]
        factor = rest[..., step : step + 1] / torch.where(pivot == 0, torch.ones_like(pivot), pivot)
        left = rest[..., step + 1 :] - factor * top[..., step + 1 :]
        a = torch.cat([rest[..., :step], factor, left], -1)
        done.append(top)
        taken.append(place.squeeze(-1) + step)
    return torch.cat([*done, a], -2), torch.cat(taken, -1)


def _order(taken: Tensor, rows: int, back: bool = False) -> Tensor:
    """Which row comes where after all exchanges; ``back``: where each row went."""
    here = torch.arange(rows, device=taken.device)
    order = here.expand(*taken.shape[:-1], rows)
    steps = range(taken.size(-1))
    for step in reversed(steps) if back else steps:
        place = taken[..., step : step + 1]
        mine, other = order[..., step : step + 1], order.gather(-1, place)
        order = torch.where(here == step, other, torch.where(here == place, mine, order))
    return order


def _exchanged(taken: Tensor, b: Tensor, back: bool = False) -> Tensor:
    """The rows of ``b`` after all exchanges, or before them."""
    order = _order(taken, b.size(-2), back)
    return b.gather(-2, order.unsqueeze(-1).expand(b.shape))


def _substituted(a: Tensor, b: Tensor, upper: bool, unit: bool) -> Tensor:
    """The solution of ``a x = b``, row by row."""
    rows, size = [], a.size(-1)
    for place in reversed(range(size)) if upper else range(size):
        row = b[..., -1:, :] if upper else b[..., :1, :]
        row = row if unit else row / a[..., place : place + 1, place : place + 1]
        rows.append(row)
        if upper:
            b = b[..., :-1, :] - a[..., :place, place : place + 1] * row
        else:
            b = b[..., 1:, :] - a[..., place + 1 :, place : place + 1] * row
    return torch.cat([*(reversed(rows) if upper else rows), b], -2)


def _solved(lu: Tensor, taken: Tensor, b: Tensor, left: bool, adjoint: bool) -> Tensor:
    """The solution for a matrix, its transpose, or either from the right."""
    if not left:
        return _solved(lu, taken, b.mT, True, not adjoint).mT
    batch = torch.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    b, taken = b.expand(*batch, *b.shape[-2:]), taken.expand(*batch, taken.size(-1))
    if adjoint:
        half = _substituted(lu.mT, b, False, False)
        return _exchanged(taken, _substituted(lu.mT, half, True, True), True)
    half = _substituted(lu, _exchanged(taken, b), False, True)
    return _substituted(lu, half, True, False)


def _info(lu: Tensor) -> Tensor:
    """The place, from 1, of the first pivot that is 0; 0 where none is."""
    pivots = lu.diagonal(dim1=-2, dim2=-1)
    size = pivots.size(-1)
    left = torch.arange(size, 0, -1, device=lu.device)
    wrong = torch.where(pivots == 0, left, torch.zeros_like(left))
    first = torch.nn.functional.pad(wrong, (1, 0)).amax(-1)
    return torch.where(first > 0, size + 1 - first, first).to(torch.int32)


def _named(taken: Tensor) -> Tensor:
    """Exchanges as LAPACK names them, from 1."""
    return (taken + 1).to(torch.int32)


def _parts(lu: Tensor) -> tuple[Tensor, Tensor]:
    """L, with ones on its diagonal, and U."""
    size = min(lu.shape[-2:])
    unit = torch.eye(lu.size(-2), size, dtype=lu.dtype, device=lu.device)
    return lu[..., :size].tril(-1) + unit, lu[..., :size, :].triu()


def _permutation(taken: Tensor, rows: int, like: Tensor) -> Tensor:
    """The matrix P of ``A = P L U``."""
    here = torch.arange(rows, device=taken.device).unsqueeze(-1)
    return (here == _order(taken, rows).unsqueeze(-2)).to(like.dtype)


def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Eliminate one column after the other below its largest element."""
    lu, taken = _eliminated(A)
    return lu, _named(taken), _info(lu)


def lu(A: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """Eliminate one column after the other, and take the matrix apart."""
    both, taken = _eliminated(A)
    return _permutation(taken, A.size(-2), A), *_parts(both)


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """Take the matrix apart, and make the exchanges on the numbers of rows."""
    none = LU_data.new_empty(0)
    low, high = _parts(LU_data) if unpack_data else (none, none)
    if not unpack_pivots:
        return none, low, high
    return _permutation(LU_pivots.long() - 1, LU_data.size(-2), LU_data), low, high


def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """Exchange rows, and find one row of the solution after the other, twice."""
    return _solved(LU, pivots.long() - 1, B, left, adjoint)


def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Eliminate, and find one row of the solution after the other, twice."""
    vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1])
    right = B.unsqueeze(-1) if vector else B
    lu, taken = _eliminated(A)
    result = _solved(lu, taken, right, left or vector, False)
    result = result.squeeze(-1) if vector else result
    return result, lu.detach(), _named(taken), _info(lu)


def inverse_ex(A: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """Eliminate, and solve for each column of the unit matrix."""
    lu, taken = _eliminated(A)
    unit = torch.eye(A.size(-1), dtype=A.dtype, device=A.device)
    return _solved(lu, taken, unit, True, False), _info(lu)


def _turned(taken: Tensor, like: Tensor) -> Tensor:
    """1 for an even number of exchanges, -1 for an odd one."""
    moved = (taken != torch.arange(taken.size(-1), device=taken.device)).to(like.dtype)
    count = moved.sum(-1)
    return 1 - 2 * (count - 2 * (count / 2).floor())


def det(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Eliminate, and multiply the pivots."""
    lu, taken = _eliminated(A.mT if A.is_contiguous() else A)
    product = lu.diagonal(dim1=-2, dim2=-1).prod(-1)
    return product * _turned(taken, A), lu.detach(), _named(taken)


def slogdet(A: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Eliminate, and add the logarithms of the pivots."""
    lu, taken = _eliminated(A.mT if A.is_contiguous() else A)
    pivots = lu.diagonal(dim1=-2, dim2=-1)
    signs = (pivots > 0).to(A.dtype) - (pivots < 0).to(A.dtype)
    sign = signs.prod(-1) * _turned(taken, A)
    return sign, pivots.abs().log().sum(-1), lu.detach(), _named(taken)


def _checked(info: Tensor, name: str, a: Tensor) -> None:
    """Raise where a matrix is singular, as PyTorch does: this reads a value."""
    torch._linalg_check_errors(info, name, is_matrix=a.dim() == 2)


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """``solve`` as users call it; of a singular matrix infinities, and no error."""
    return solve_ex(A, B, left=left)[0]


def solve_and_info(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """``solve_ex`` as users call it."""
    result, _, _, info = solve_ex(A, B, left=left)
    if check_errors:
        _checked(info, "torch.linalg.solve_ex", A)
    return torch.return_types.linalg_solve_ex((result, info))  # type: ignore[attr-defined]


def inverse(A: Tensor) -> Tensor:
    """``inv`` as users call it; of a singular matrix infinities, and no error."""
    return inverse_ex(A)[0]


def inverse_and_info(A: Tensor, *, check_errors: bool = False) -> Any:
    """``inv_ex`` as users call it."""
    found = inverse_ex(A)
    if check_errors:
        _checked(found[1], "linalg.inv_ex", A)
    return torch.return_types.linalg_inv_ex(found)  # type: ignore[attr-defined]


def determinant(A: Tensor) -> Tensor:
    """``det`` as users call it."""
    return det(A)[0]


def log_determinant(A: Tensor) -> Tensor:
    """``logdet`` as users call it: NaN for a determinant below 0."""
    sign, size, _, _ = slogdet(A)
    return torch.where(sign < 0, torch.full_like(size, math.nan), size)


def sign_and_log_determinant(A: Tensor) -> Any:
    """``linalg.slogdet`` as users call it."""
    return torch.return_types.linalg_slogdet(slogdet(A)[:2])  # type: ignore[attr-defined]


def sign_and_log_determinant_of(input: Tensor) -> Any:
    """``slogdet`` as users call it."""
    return torch.return_types.slogdet(slogdet(input)[:2])


def lu_of(A: Tensor, *, pivot: bool = True) -> Any:
    """``linalg.lu`` as users call it."""
    return torch.return_types.linalg_lu(lu(A))  # type: ignore[attr-defined]


def factor(A: Tensor, *, pivot: bool = True) -> Any:
    """``linalg.lu_factor`` as users call it; a singular matrix is no error."""
    return torch.return_types.linalg_lu_factor(lu_factor_ex(A)[:2])  # type: ignore[attr-defined]


def factor_and_info(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """``linalg.lu_factor_ex`` as users call it."""
    found = lu_factor_ex(A)
    if check_errors:
        _checked(found[2], "torch.linalg.lu_factor_ex", A)
    return torch.return_types.linalg_lu_factor_ex(found)  # type: ignore[attr-defined]


def unpacked(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """``lu_unpack`` as users call it."""
    return torch.return_types.lu_unpack(lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots))


def regular(x: Tensor) -> Tensor:
    """Give a matrix that is far from singular, whose largest elements are off the diagonal."""
    if not x.is_floating_point() or x.dim() < 2:
        return x
    rows, columns = x.shape[-2:]
    unit = torch.eye(rows, columns, dtype=x.dtype)
    return x / 4 / max(rows, columns, 1) + 2 * (unit.roll(1, -2) if rows > 1 else unit)


class _ByElimination(Rule):
    """What rules of this file share: real matrices that are not too large."""

    label = Label.TOLERANCE
    tolerance = 512.0
    matrix: ClassVar[str] = "A"

    def refuses(self, call: Call) -> str:
        """Decline complex matrices, large ones, and checks that read a value."""
        given = call.given(self.matrix)
        if given.is_complex():
            return "the matrix is complex"
        if min(given.shape[-2:]) > LARGEST:
            return Sentence(
                "the matrix has more than {count} columns: the loop takes one at a time",
                count=LARGEST,
            )
        if not call.given("pivot", True):
            return "it goes without pivots, which the host cannot do to compare"
        return "it waits for a check" if call.given("check_errors", False) else ""

    def valid(self, call: Call) -> Call:
        """Make the matrix one that is far from singular."""
        return altered(call, args=(regular(call.args[0]), *call.args[1:]))

    def matrices(self, draw: Draw, rows: int, columns: int) -> Tensor:
        """Draw one matrix, or several."""
        shape = [*draw.shape(0, 2, largest=3), rows, columns]
        x = regular(draw.tensor(shape, FLOATS[:2], edges=False))
        return x.mT.contiguous().mT if draw.flag() else x

    def square(self, draw: Draw) -> Tensor:
        """Draw one square matrix, or several."""
        size = draw.integer(0, 5)
        return self.matrices(draw, size, size)


class LuFactorByElimination(_ByElimination):
    """Elimination with the largest element of each column as its pivot, as LAPACK's ``getrf``.

    One step finds the pivot with ``argmax``, fetches its row with ``gather``, puts the first row
    in its place with ``where`` and takes out an outer product: about twelve calls for each column,
    for all matrices of a batch at once, and no value is read. Where two elements are as large,
    to the last digits, another pivot may be taken than LAPACK's. A singular matrix raises nothing:
    its place is in ``info``.
    """

    name = "lu-factor-by-elimination"
    replaces: ClassVar[tuple[str, ...]] = ("aten::linalg_lu_factor_ex",)
    summary = "Eliminate column by column, with pivots by argmax and gather"
    references: ClassVar[tuple[str, ...]] = (
        "https://netlib.org/lapack/explore-html/dd/d9a/group__double_g_ecomputational.html",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.lu_factor": factor,
        "torch.linalg.lu_factor_ex": factor_and_info,
    }
    replace: ClassVar[Callable[..., Any]] = staticmethod(lu_factor_ex)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of any shape."""
        return (self.matrices(draw, draw.integer(0, 5), draw.integer(0, 5)),), {}


class LuByElimination(LuFactorByElimination):
    """Elimination with pivots; the triangles and the permutation are taken apart afterwards."""

    name = "lu-by-elimination"
    replaces = ("aten::linalg_lu",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.linalg.lu": lu_of}
    replace = staticmethod(lu)


class LuUnpackByExchanges(_ByElimination):
    """The triangles are masked; the permutation follows from exchanging numbers of rows."""

    name = "lu-unpack-by-exchanges"
    replaces = ("aten::lu_unpack",)
    summary = "Mask the triangles, and exchange numbers of rows"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.lu_unpack": unpacked}
    replace = staticmethod(lu_unpack)
    matrix = "LU_data"

    def valid(self, call: Call) -> Call:
        """Take what a factorisation gives."""
        return altered(call, args=(*_factored(call.args[0]), *call.args[2:]))

    def example(self, op: str, draw: Draw) -> Arguments:
        """Both or one of them."""
        a = self.matrices(draw, draw.integer(0, 5), draw.integer(0, 5))
        parts = draw.choose(((True, True), (True, False), (True, True), (False, True)))
        return (*_factored(a), *parts), {}


class LuSolveBySubstitution(_ByElimination):
    """Rows are exchanged, and one row of the solution is found after the other, for L and for U."""

    name = "lu-solve-by-substitution"
    replaces = ("aten::linalg_lu_solve",)
    summary = "Exchange rows and solve with both triangles, row by row"
    spellings = ("torch.linalg.lu_solve",)
    replace = staticmethod(lu_solve)
    matrix = "LU"

    def valid(self, call: Call) -> Call:
        """Take what a factorisation gives."""
        return altered(call, args=(*_factored(call.args[0]), *call.args[2:]))

    def example(self, op: str, draw: Draw) -> Arguments:
        """From either side, transposed or not, batches broadcast."""
        a, left = self.square(draw), draw.flag()
        shape = [*a.shape[draw.integer(0, a.dim() - 2) : -2], a.size(-1), draw.integer(0, 3)]
        b = draw.tensor(shape, (a.dtype,), edges=False)
        named = {"left": left, "adjoint": draw.flag()}
        return (*_factored(a), b if left else b.mT), named


def _factored(a: Tensor) -> tuple[Tensor, Tensor]:
    """Factors that PyTorch gives."""
    lu, pivots, _ = torch.linalg.lu_factor_ex(regular(a))
    return lu, pivots
