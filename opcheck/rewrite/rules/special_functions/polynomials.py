"""Orthogonal polynomials whose degree is a tensor, by angles or by recurrences."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import MATH, Arguments, Pointwise, broadcast, special_names
from opcheck.rewrite.draw import FLOATS, Draw

_STEPS = 8
"""Degrees up to this are reached by the recurrence, others by functions of the angle."""


def _given(x: Tensor | float, n: Tensor | float) -> tuple[Tensor, Tensor, torch.dtype]:
    """Promoted and broadcast, the degree without its fraction; PyTorch has no derivatives."""
    dtype = torch.result_type(x, n)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    device = (x if isinstance(x, Tensor) else torch.as_tensor(n)).device
    both = (torch.as_tensor(given, dtype=dtype, device=device).detach() for given in (x, n))
    y, k = torch.broadcast_tensors(*(given.to(wide) for given in both))
    return y, torch.where(k < 0, k.ceil(), k.floor()), dtype


def _chebyshev(kind: str, y: Tensor, n: Tensor) -> Tensor:
    one = torch.ones_like(y)
    first = {"t": y, "u": y + y, "v": y + y - 1, "w": y + y + 1}[kind]
    before, last, found = one, first, torch.where(n == 0, one, first)
    for k in range(2, _STEPS + 1):
        before, last = last, (y + y) * last - before
        found = torch.where(n >= k, last, found)
    found = torch.where(n > _STEPS, _far(kind, y, n), found)
    found = torch.where(y.abs() == 1, _ends(kind, y, n), found)
    return torch.where(n < 0, torch.zeros_like(y), found)


def _odd(n: Tensor) -> Tensor:
    return n - 2 * (n / 2).floor() == 1


def _ends(kind: str, y: Tensor, n: Tensor) -> Tensor:
    """The value at 1 and, with the sign of an odd degree, at -1."""
    one = torch.ones_like(y)
    above = {"t": one, "u": n + 1, "v": one, "w": n + n + 1}[kind]
    below = {"t": one, "u": n + 1, "v": n + n + 1, "w": one}[kind]
    return torch.where(y > 0, above, torch.where(_odd(n), -below, below))


def _far(kind: str, y: Tensor, n: Tensor) -> Tensor:
    size, inside = y.abs(), y.abs() < 1
    angle = 2 * ((1 - y) / (1 + y)).sqrt().atan()
    swapped = {"v": "w", "w": "v"}.get(kind, kind)  # what y becomes below 0
    beyond = torch.where(y < 0, _beyond(swapped, size, n), _beyond(kind, size, n))
    beyond = torch.where((y < 0) & _odd(n), -beyond, beyond)
    # the recurrence subtracts an infinity from another, two degrees after it overflows
    overflown = _beyond(kind, size, n - 2).abs() == math.inf
    beyond = torch.where(overflown, torch.full_like(y, math.nan), beyond)
    return torch.where(inside, _within(kind, angle, n), beyond)


def _within(kind: str, angle: Tensor, n: Tensor) -> Tensor:
    match kind:
        case "t":
            return (n * angle).cos()
        case "u":
            return ((n + 1) * angle).sin() / angle.sin()
        case "v":
            return ((n + 0.5) * angle).cos() / (angle / 2).cos()
    return ((n + 0.5) * angle).sin() / (angle / 2).sin()


def _beyond(kind: str, size: Tensor, n: Tensor) -> Tensor:
    """By hyperbolic functions, each an exponential times what is close to 1."""
    power = (size + ((size - 1) * (size + 1)).sqrt()).log()
    power = torch.where(size > 1e9, size.log() + math.log(2), power)
    match kind:
        case "t":
            return (n * power - math.log(2)).exp() * (1 + (-2 * n * power).exp())
        case "u":
            return (n * power).exp() * (1 - (-2 * (n + 1) * power).exp()) / _less(2 * power)
        case "v":
            return (n * power).exp() * (1 + (-(2 * n + 1) * power).exp()) / (1 + (-power).exp())
    return (n * power).exp() * (1 - (-(2 * n + 1) * power).exp()) / _less(power)


def _less(power: Tensor) -> Tensor:
    return 1 - (-power).exp()


def chebyshev_polynomial_t(x: Tensor | float, n: Tensor | float) -> Tensor:
    """Of the first kind."""
    y, degree, dtype = _given(x, n)
    return _chebyshev("t", y, degree).to(dtype)


def chebyshev_polynomial_u(x: Tensor | float, n: Tensor | float) -> Tensor:
    """Of the second kind."""
    y, degree, dtype = _given(x, n)
    return _chebyshev("u", y, degree).to(dtype)


def chebyshev_polynomial_v(x: Tensor | float, n: Tensor | float) -> Tensor:
    """Of the third kind."""
    y, degree, dtype = _given(x, n)
    return _chebyshev("v", y, degree).to(dtype)


def chebyshev_polynomial_w(x: Tensor | float, n: Tensor | float) -> Tensor:
    """Of the fourth kind."""
    y, degree, dtype = _given(x, n)
    return _chebyshev("w", y, degree).to(dtype)


def shifted_chebyshev_polynomial_t(x: Tensor | float, n: Tensor | float) -> Tensor:
    """Of the first kind, at 2 x - 1."""
    y, degree, dtype = _given(x, n)
    return _chebyshev("t", y + y - 1, degree).to(dtype)


def shifted_chebyshev_polynomial_u(x: Tensor | float, n: Tensor | float) -> Tensor:
    """Of the second kind, at 2 x - 1."""
    y, degree, dtype = _given(x, n)
    return _chebyshev("u", y + y - 1, degree).to(dtype)


def shifted_chebyshev_polynomial_v(x: Tensor | float, n: Tensor | float) -> Tensor:
    """Of the third kind, at 2 x - 1."""
    y, degree, dtype = _given(x, n)
    return _chebyshev("v", y + y - 1, degree).to(dtype)


def shifted_chebyshev_polynomial_w(x: Tensor | float, n: Tensor | float) -> Tensor:
    """Of the fourth kind, at 2 x - 1."""
    y, degree, dtype = _given(x, n)
    return _chebyshev("w", y + y - 1, degree).to(dtype)


class ChebyshevByAngle(Pointwise):
    """Up to degree 8 the recurrence, above it functions of the angle ``a = acos(x)``.

    ``cos(n a)``, ``sin((n + 1) a) / sin(a)``, ``cos((n + 1/2) a) / cos(a / 2)`` and ``sin((n +
    1/2) a) / sin(a / 2)`` are the four kinds; the shifted ones are those of ``2 * x - 1``. Where
    ``|x|`` is above 1, functions of the angle become hyperbolic ones, and NaN stands where the
    recurrence of PyTorch's kernel overflows. No loop depends on the degree. For NaN itself
    PyTorch's result is undefined; there is no derivative in PyTorch, and none here. The error is at
    most ``16 (n + 2) ** 2`` ``eps`` of the value, or of the largest value between -1 and 1.
    """

    name = "chebyshev-by-angle"
    label = Label.APPROXIMATE
    tolerance = 0.0
    gives_up = "NaN stands where the polynomial overflows, and next to its zeros digits are lost"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::special_chebyshev_polynomial_t": chebyshev_polynomial_t,
        "aten::special_chebyshev_polynomial_u": chebyshev_polynomial_u,
        "aten::special_chebyshev_polynomial_v": chebyshev_polynomial_v,
        "aten::special_chebyshev_polynomial_w": chebyshev_polynomial_w,
        "aten::special_shifted_chebyshev_polynomial_t": shifted_chebyshev_polynomial_t,
        "aten::special_shifted_chebyshev_polynomial_u": shifted_chebyshev_polynomial_u,
        "aten::special_shifted_chebyshev_polynomial_v": shifted_chebyshev_polynomial_v,
        "aten::special_shifted_chebyshev_polynomial_w": shifted_chebyshev_polynomial_w,
    }
    replaces = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = special_names(functions)
    summary = "Take the recurrence for small degrees and the angle for others"
    references = (MATH,)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Inside and outside of -1 ... 1 and at its ends, degrees of both sides of 0."""
        shape, dtype = draw.shape(0, 3), draw.choose((*FLOATS[:2], torch.int64))
        x = draw.tensor(shape, (dtype,), edges=False)
        if dtype.is_floating_point:
            x = x * draw.choose((1.0, 0.25, 5.0, 1e3))
            x = x.round() if draw.flag() else x
        x = torch.where(x == 0, torch.ones_like(x), x)  # where odd ones have a zero
        n = draw.tensor(broadcast(draw, shape), (torch.int64,))
        n = n.abs() + draw.integer(-2, 6)
        return (x, n.to(dtype) if draw.flag() else n), {}


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


class PolynomialsByRecurrence(Pointwise):
    """The recurrence of PyTorch's kernel up to degree 40, each degree kept where it is asked for.

    How many steps there are cannot depend on the degrees, which are a tensor: above 40 there is
    NaN. PyTorch has no derivative, so there is none here. Below, the error is at most 16 ``eps`` of
    the value, or 16 times what the polynomial changes with the last place of ``x``; Laguerre's
    cancels, and is off by at most ``16 (n + 2) ** 2`` ``eps`` of the value, or of the largest
    between -1 and 1. Where a polynomial overflows, NaN may stand for an infinity.
    """

    name = "polynomials-by-recurrence"
    label = Label.APPROXIMATE
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::special_hermite_polynomial_h": hermite_polynomial_h,
        "aten::special_hermite_polynomial_he": hermite_polynomial_he,
        "aten::special_laguerre_polynomial_l": laguerre_polynomial_l,
        "aten::special_legendre_polynomial_p": legendre_polynomial_p,
    }
    replaces = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = special_names(functions)
    summary = "Take 40 steps of the recurrence"
    gives_up = "degrees above 40, where the result is NaN"
    references = (MATH,)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Degrees of both sides of 0."""
        shape, dtype = draw.shape(0, 3), draw.choose((*FLOATS[:2], torch.int64))
        x = draw.tensor(shape, (dtype,), edges=False)
        n = draw.tensor(broadcast(draw, shape), (torch.int64,))
        n = n.abs() + draw.integer(-2, 6)
        return (x, n.to(dtype) if draw.flag() else n), {}
