"""Bunch and Kaufman's factors of symmetric matrices, and solutions with them."""

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
_SHARE = (1 + math.sqrt(17)) / 8
"""Part of the largest element beside it with which an element is good enough as a pivot."""


def _over(a: Tensor, b: Tensor) -> Tensor:
    """``a / b``; ``a`` where ``b`` is 0."""
    return a / torch.where(b == 0, torch.ones_like(b), b)


def _exchange(size: int, one: Tensor, other: Tensor) -> Tensor:
    """Which row comes where when two change places."""
    here = torch.arange(size, device=one.device)
    return torch.where(here == one, other, torch.where(here == other, one, here))


def _pivot(a: Tensor, pair: Tensor) -> tuple[Tensor, Tensor]:
    """The row to exchange, and whether it takes two; none where ``pair`` is already under way."""
    here = torch.arange(a.size(-1), device=a.device).unsqueeze(-1)
    size = a.abs()
    corner, column = size[..., :1, :1], size[..., :1]
    below = torch.where(here == 0, torch.zeros_like(column), column)
    largest = below.amax(-2, keepdim=True)
    place = below.argmax(-2, keepdim=True)
    row = size.gather(-2, place.expand(*place.shape[:-1], a.size(-1))).mT
    middle = row.gather(-2, place)
    beside = torch.where(here == place, torch.zeros_like(row), row).amax(-2, keepdim=True)
    stays = (corner >= _SHARE * largest) | (corner * beside >= _SHARE * largest * largest) | pair
    two = ~stays & (middle < _SHARE * beside)
    return torch.where(stays, torch.zeros_like(place), place), two


def _step(a: Tensor, pair: Tensor, two: Tensor) -> tuple[Tensor, Tensor]:
    """One column of L with what it has of D, and the matrix that remains."""
    first = a[..., :1]
    single = torch.cat([first[..., :1, :], _over(first[..., 1:, :], first[..., :1, :])], -2)
    rest = a[..., 1:, 1:] - single[..., 1:, :] * first[..., 1:, :].mT
    rest = torch.where(pair, a[..., 1:, 1:], rest)
    column = torch.where(pair, first, single)
    if a.size(-1) == 1:
        return column, rest
    across = a[..., 1:2, :1]
    high, low = _over(a[..., 1:2, 1:2], across), _over(a[..., :1, :1], across)
    scale = _over(_over(torch.ones_like(across), high * low - 1), across)
    left, right = a[..., 2:, :1], a[..., 2:, 1:2]
    mine, other = scale * (high * left - right), scale * (low * right - left)
    both = a[..., 2:, 2:] - mine * left.mT - other * right.mT
    kept = torch.cat([a[..., 1:2, 1:2], other], -2)
    top = torch.cat([a[..., 1:2, 1:2], other.mT], -1)
    block = torch.cat([kept, torch.cat([top[..., 1:], both], -2)], -1)
    column = torch.where(two, torch.cat([a[..., :2, :1], mine], -2), column)
    return column, torch.where(two, block, rest)


def ldl_factor_ex(
    self: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Take one column after the other, or two at once, with the pivots of ``sytrf``."""
    size = self.size(-1)
    a = self.tril() + self.tril(-1).mT
    named = torch.zeros(*self.shape[:-2], 1, 1, dtype=torch.int64, device=self.device)
    pair, info = named != 0, named.to(torch.int32)
    columns, pivots = [a[..., :0]], [named[..., :0]]
    for step in range(size):
        place, two = _pivot(a, pair)
        order = _exchange(size - step, two.to(torch.int64), place)
        order = torch.where(place > 0, order, torch.arange(size - step, device=a.device))
        a = a.gather(-2, order.mT.expand(a.shape)).gather(-1, order.expand(a.shape))
        empty = (a[..., :1].abs().amax(-2, keepdim=True) == 0) & (info == 0) & ~pair
        info = torch.where(empty, torch.full_like(info, step + 1), info)
        name = step + 1 + place
        named = torch.where(pair, named, torch.where(two, -name, name))
        column, a = _step(a, pair, two)
        columns.append(torch.nn.functional.pad(column, (0, 0, step, 0)))
        pivots.append(named)
        pair = two
    names = torch.cat(pivots, -1).squeeze(-2).to(torch.int32)
    return torch.cat(columns, -1), names, info[..., 0, 0]


def ldl_factor(input: Tensor, *, hermitian: bool = False) -> Any:
    """``ldl_factor`` as users call it; a singular matrix is no error."""
    return torch.return_types.linalg_ldl_factor(ldl_factor_ex(input, hermitian=hermitian)[:2])  # type: ignore[attr-defined]


def ldl_factor_ex_of(input: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """``ldl_factor_ex`` as users call it."""
    found = ldl_factor_ex(input, hermitian=hermitian)
    if check_errors:
        name = "torch.linalg.ldl_factor_ex"
        torch._linalg_check_errors(found[2], name, is_matrix=input.dim() == 2)
    return torch.return_types.linalg_ldl_factor_ex(found)  # type: ignore[attr-defined]


def _blocks(pivots: Tensor) -> list[tuple[Tensor, Tensor]]:
    """For each column whether it is the first, and the second, of two at once."""
    found, first = [], pivots[..., :1] != pivots[..., :1]
    for step in range(pivots.size(-1)):
        second = first
        first = (pivots[..., step : step + 1] < 0) & ~second
        found.append((first.unsqueeze(-1), second.unsqueeze(-1)))
    return found


def _swapped(b: Tensor, step: int, pivot: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Exchange the rows that one column asks for."""
    mine = first.to(torch.int64) + step
    other = torch.where(second, mine, pivot.to(torch.int64).abs().unsqueeze(-1) - 1)
    return b.gather(-2, _exchange(b.size(-2), mine, other).mT.expand(b.shape))


def _undone(LD: Tensor, blocks: list[tuple[Tensor, Tensor]], b: Tensor) -> Tensor:
    """The solution with D alone: blocks of one or of two rows."""
    first = torch.cat([f for f, _ in blocks], -2)
    values = LD.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
    below = LD.diagonal(-1, dim1=-2, dim2=-1).unsqueeze(-1)
    below = torch.where(first[..., :-1, :], below, torch.zeros_like(below))
    pad = torch.nn.functional.pad
    down, up = pad(below, (0, 0, 0, 1)), pad(below, (0, 0, 1, 0))
    after, before = pad(values[..., 1:, :], (0, 0, 0, 1)), pad(values[..., :-1, :], (0, 0, 1, 0))
    partner = torch.where(first, after, torch.where(up != 0, before, torch.ones_like(values)))
    next_, last = pad(b[..., 1:, :], (0, 0, 0, 1)), pad(b[..., :-1, :], (0, 0, 1, 0))
    other = down + up
    return (partner * b - down * next_ - up * last) / (values * partner - other * other)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """Exchange rows and take out one column of L after the other, forth and back."""
    size = LD.size(-1)
    batch = torch.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    b, named = B.expand(*batch, *B.shape[-2:]), pivots.expand(*batch, size)
    if not size:
        return b.clone()
    blocks, columns = _blocks(named), []
    for step, (first, second) in enumerate(blocks):
        column = LD[..., step + 1 :, step : step + 1]
        column = torch.cat(
            [torch.where(first, torch.zeros_like(first, dtype=LD.dtype), column[..., :1, :]),
             column[..., 1:, :].expand(*batch, -1, 1)], -2,
        ) if step + 1 < size else column  # fmt: skip
        columns.append(column)
        b = _swapped(b, step, named[..., step : step + 1], first, second)
        rest = b[..., step + 1 :, :] - column * b[..., step : step + 1, :]
        b = torch.cat([b[..., : step + 1, :], rest], -2)
    b = _undone(LD, blocks, b)
    for step in reversed(range(size)):
        row = b[..., step : step + 1, :]
        row = row - (columns[step] * b[..., step + 1 :, :]).sum(-2, keepdim=True)
        b = torch.cat([b[..., :step, :], row, b[..., step + 1 :, :]], -2)
        b = _swapped(b, step, named[..., step : step + 1], *blocks[step])
    return b


def uneven(x: Tensor) -> Tensor:
    """Give a symmetric matrix that is not definite, no two of whose elements are as large."""
    if not x.is_floating_point() or x.dim() < 2 or x.size(-1) != x.size(-2):
        return x
    size = x.size(-1)
    wave = torch.arange(1, size * size + 1, dtype=x.dtype).square().sin().reshape(size, size)
    return (x + x.mT) / 16 + wave + wave.mT


class _ByBlocks(Rule):
    """What rules of this file share: real matrices that are not too large."""

    label = Label.TOLERANCE
    tolerance = 2048.0

    def refuses(self, call: Call) -> str:
        """Decline complex matrices, large ones, and checks that read a value."""
        given = call.args[0]
        if given.is_complex():
            return "the matrix is complex"
        if given.size(-1) > LARGEST:
            return Sentence(
                "the matrix has more than {count} columns: the loop takes one at a time",
                count=LARGEST,
            )
        return "it waits for a check" if call.given("check_errors", False) else ""

    def square(self, draw: Draw) -> Tensor:
        """Draw one symmetric matrix, or several."""
        size = draw.integer(0, 5)
        shape = [*draw.shape(0, 2, largest=3), size, size]
        return uneven(draw.tensor(shape, FLOATS[:2], edges=False))


class LdlFactorByColumns(_ByBlocks):
    """Bunch and Kaufman's method as LAPACK's ``sytrf``: pivots of one row or of two.

    Both ways are computed at each step and ``where`` takes the one that the values ask for; the
    second column of a pair passes through its own step untouched. About eighty calls for each
    column, for all matrices of a batch at once, and no value is read: a singular matrix raises
    nothing, its place is in ``info``.
    """

    name = "ldl-factor-by-columns"
    replaces: ClassVar[tuple[str, ...]] = ("aten::linalg_ldl_factor_ex",)
    summary = "Take one column after the other, with both kinds of pivots under masks"
    references = ("https://netlib.org/lapack/explore-html/d8/d0e/group__hetf2.html",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.ldl_factor": ldl_factor,
        "torch.linalg.ldl_factor_ex": ldl_factor_ex_of,
    }
    replace: ClassVar[Callable[..., Any]] = staticmethod(ldl_factor_ex)

    def valid(self, call: Call) -> Call:
        """Make the matrix one without ties."""
        return altered(call, args=(uneven(call.args[0]), *call.args[1:]))

    def example(self, op: str, draw: Draw) -> Arguments:
        """Symmetric matrices that are not definite."""
        return (self.square(draw),), {"hermitian": draw.flag()}


class LdlSolveByColumns(_ByBlocks):
    """One column of L after the other is taken out of the right-hand side, forth and back.

    Rows are exchanged on the way as the pivots say, blocks of two rows under masks.
    """

    name = "ldl-solve-by-columns"
    replaces = ("aten::linalg_ldl_solve",)
    summary = "Take out one column of L after the other, forth and back"
    spellings = ("torch.linalg.ldl_solve",)
    replace = staticmethod(ldl_solve)

    def valid(self, call: Call) -> Call:
        """Take what a factorisation gives."""
        factors = torch.linalg.ldl_factor_ex(uneven(call.args[0]))
        return altered(call, args=(factors[0], factors[1], *call.args[2:]))

    def example(self, op: str, draw: Draw) -> Arguments:
        """Factors that PyTorch gives, batches broadcast."""
        a = self.square(draw)
        shape = [*a.shape[draw.integer(0, a.dim() - 2) : -2], a.size(-1), draw.integer(0, 3)]
        factors = torch.linalg.ldl_factor_ex(a)
        b = draw.tensor(shape, (a.dtype,), edges=False)
        return (factors[0], factors[1], b), {}
