"""Orthogonal polynomials whose degree is a tensor, by recurrences with a last step."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments
from opcheck.rewrite.draw import FLOATS, Draw
from opcheck.rewrite.pointwise import MATH, Pointwise, broadcast

LARGEST = 40
"""Degrees above give NaN."""


Number = Tensor | float


def _detached(value: Number, other: Number, dtype: torch.dtype) -> Tensor:
    """Give a tensor of a number as well, on the device of the other."""
    if isinstance(value, Tensor):
        return value.detach().to(dtype)
    assert isinstance(other, Tensor), "one of the two"
    return torch.full([], value, dtype=dtype, device=other.device)


def _reached(
    x: Number, n: Number, first: Callable[..., Tensor], step: Callable[..., Tensor]
) -> Tensor:
    """Go from degree to degree, and keep each where it is asked for; no derivatives, as PyTorch."""
    dtype = torch.result_type(x, n)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    y, k = torch.broadcast_tensors(_detached(x, n, dtype).to(wide), _detached(n, x, dtype).to(wide))
    k = torch.where(k < 0, k.ceil(), k.floor())
    before, last = torch.ones_like(y), first(y)
    found = torch.where(k == 0, before, torch.where(k < 0, torch.zeros_like(y), last))
    for degree in range(2, LARGEST + 1):
        before, last = last, step(y, last, before, degree - 1)
        found = torch.where(k == degree, last, found)
    return torch.where(k > LARGEST, torch.full_like(y, math.nan), found).to(dtype)


def hermite_polynomial_h(x: Number, n: Number) -> Tensor:
    """Physicists' Hermite polynomials."""
    return _reached(
        x, n, lambda y: y + y, lambda y, last, before, k: (y + y) * last - 2 * k * before
    )


def hermite_polynomial_he(x: Number, n: Number) -> Tensor:
    """Probabilists' Hermite polynomials."""
    return _reached(x, n, lambda y: y, lambda y, last, before, k: y * last - k * before)


def laguerre_polynomial_l(x: Number, n: Number) -> Tensor:
    """Laguerre polynomials."""
    return _reached(
        x,
        n,
        lambda y: 1 - y,
        lambda y, last, before, k: ((2 * k + (1 - y)) * last - k * before) / (k + 1),
    )


def legendre_polynomial_p(x: Number, n: Number) -> Tensor:
    """Legendre polynomials."""
    return _reached(
        x,
        n,
        lambda y: y,
        lambda y, last, before, k: ((2 * k + 1) * y * last - k * before) / (k + 1),
    )


class HermiteHByRecurrence(Pointwise):
    """The recurrence of PyTorch's kernel up to degree 40, each degree kept where it is asked for.

    How many steps there are cannot depend on the degrees, which are a tensor: above 40 there is
    NaN. PyTorch has no derivative, so there is none here. Below, the error is at most 16 ``eps`` of
    the value, or 16 times what the polynomial changes with the last place of ``x``; where it
    overflows, NaN may stand for an infinity.
    """

    name = "hermite-h-by-recurrence"
    label = Label.APPROXIMATE
    replaces: ClassVar[tuple[str, ...]] = ("aten::special_hermite_polynomial_h",)
    summary = "Take 40 steps of the recurrence"
    gives_up = "degrees above 40, where the result is NaN"
    references: ClassVar[tuple[str, ...]] = (MATH,)
    spellings: ClassVar[tuple[str, ...]] = ("torch.special.hermite_polynomial_h",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(hermite_polynomial_h)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Degrees of both sides of 0."""
        shape, dtype = draw.shape(0, 3), draw.choose((*FLOATS[:2], torch.int64))
        x = draw.tensor(shape, (dtype,), edges=False)
        n = draw.tensor(broadcast(draw, shape), (torch.int64,))
        n = n.abs() + draw.integer(-2, 6)
        return (x, n.to(dtype) if draw.flag() else n), {}


class HermiteHeByRecurrence(HermiteHByRecurrence):
    """The recurrence of PyTorch's kernel up to degree 40, each one kept where it is asked for."""

    name = "hermite-he-by-recurrence"
    replaces = ("aten::special_hermite_polynomial_he",)
    spellings = ("torch.special.hermite_polynomial_he",)
    replace = staticmethod(hermite_polynomial_he)


class LaguerreByRecurrence(HermiteHByRecurrence):
    """The recurrence of PyTorch's kernel up to degree 40, each one kept where it is asked for.

    It cancels: the error is at most ``16 (n + 2) ** 2`` ``eps`` of the value, or of the largest
    value between -1 and 1.
    """

    name = "laguerre-by-recurrence"
    replaces = ("aten::special_laguerre_polynomial_l",)
    spellings = ("torch.special.laguerre_polynomial_l",)
    replace = staticmethod(laguerre_polynomial_l)


class LegendreByRecurrence(HermiteHByRecurrence):
    """The recurrence of PyTorch's kernel up to degree 40, each one kept where it is asked for."""

    name = "legendre-by-recurrence"
    replaces = ("aten::special_legendre_polynomial_p",)
    spellings = ("torch.special.legendre_polynomial_p",)
    replace = staticmethod(legendre_polynomial_p)
