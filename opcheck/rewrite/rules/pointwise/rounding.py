"""Rounding, signs and choices between two numbers, from comparing, rounding and integers."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import REFERENCES, Arguments, Pointwise, broadcast, spread
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, Draw


def trunc(self: Tensor) -> Tensor:
    """Up where it is negative, down where it is not."""
    if not self.is_floating_point():
        return self.clone()
    return torch.where(self < 0, self.ceil(), self.floor())


def frac(self: Tensor) -> Tensor:
    """What rounding towards 0 takes away."""
    return self - trunc(self)


def fmod(self: Tensor, other: Tensor) -> Tensor:
    """The remainder of absolute values, with the sign of the first."""
    dtype = torch.result_type(self, other)
    x, y = torch.broadcast_tensors(self.to(dtype), other.to(dtype))
    if not dtype.is_floating_point:
        return _rest(x, y)
    found: Tensor = _Fmod.apply(x, y)  # type: ignore[no-untyped-call]
    return found


def fmod_of_any(input: Tensor, other: Tensor | float) -> Tensor:
    """The remainder of absolute values, with the sign of the first."""
    if not isinstance(other, Tensor):
        dtype = torch.result_type(input, other)
        other = torch.full([], other, dtype=dtype, device=input.device)
    return fmod(input, other)


def _rest(x: Tensor, y: Tensor) -> Tensor:
    rest = torch.remainder(torch.where(x < 0, -x, x), torch.where(y < 0, -y, y))
    return torch.where(x < 0, -rest, rest)


class _Fmod(torch.autograd.Function):
    """The remainder, whose quotient is constant."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        """Compute it."""
        ctx.save_for_backward(x, y)
        return _rest(x, y)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        """Give the first all of it, and the second the quotient's part."""
        x, y = ctx.saved_tensors
        return grad, -grad * torch.div(x, y, rounding_mode="trunc")


def round_decimals(self: Tensor, *, decimals: int) -> Tensor:
    """Move the point, round, and move it back."""
    power = 10.0 ** abs(decimals) if abs(decimals) < 309 else math.inf
    if decimals > 0:
        return (self * power).round() / power
    return (self / power).round() * power if decimals else self.round()


def sign(self: Tensor) -> Tensor:
    """1, 0 or -1."""
    if self.dtype == torch.bool:
        return self.clone()
    zero, one = torch.zeros_like(self), torch.ones_like(self)
    return torch.where(self > 0, one, torch.where(self < 0, -one, zero))


def heaviside(self: Tensor, values: Tensor) -> Tensor:
    """1 above 0, 0 below it, and what is given at 0."""
    x, at = torch.broadcast_tensors(self.detach(), values.detach())
    return torch.where(x == 0, at, (x > 0).to(x.dtype))


def fmax(self: Tensor, other: Tensor) -> Tensor:
    """The second number where it is larger or the first is NaN."""
    dtype = torch.result_type(self, other)
    x, y = self.to(dtype), other.to(dtype)
    return torch.where((x >= y) | (y != y), x, y)


def fmin(self: Tensor, other: Tensor) -> Tensor:
    """The second number where it is smaller or the first is NaN."""
    dtype = torch.result_type(self, other)
    x, y = self.to(dtype), other.to(dtype)
    return torch.where((x <= y) | (y != y), x, y)


def nan_to_num(
    self: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Choose another number where it is NaN or infinite."""
    if not self.is_floating_point():
        return self.clone()
    largest = torch.finfo(self.dtype).max
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    x = torch.where(self != self, torch.full_like(self, nan or 0.0), self)
    x = torch.where(self == math.inf, torch.full_like(self, high), x)
    return torch.where(self == -math.inf, torch.full_like(self, low), x)


def angle(self: Tensor) -> Tensor:
    """Pi below 0, 0 above."""
    x = self.detach()
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    found = torch.where(x < 0, torch.full_like(x, math.pi), torch.zeros_like(x))
    return torch.where(x != x, x, found)


class TruncByWhere(Pointwise):
    """``ceil(x)`` below 0 and ``floor(x)`` from there on."""

    name = "trunc-by-where"
    label = Label.EXACT
    dtypes: ClassVar[tuple[torch.dtype, ...]] = (*FLOATS, *INTEGERS)
    replaces: ClassVar[tuple[str, ...]] = ("aten::trunc",)
    summary = "Round up below 0 and down above"
    spellings: ClassVar[tuple[str, ...]] = (
        "torch.trunc", "Tensor.trunc", "torch.fix", "Tensor.fix"
    )  # fmt: skip
    references: ClassVar[tuple[str, ...]] = (REFERENCES,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(trunc)


class FracByWhere(TruncByWhere):
    """A number less ``ceil`` of it below 0, less ``floor`` of it from there on."""

    name = "frac-by-where"
    dtypes = FLOATS
    replaces = ("aten::frac",)
    summary = "Take the whole part away"
    spellings = ("torch.frac", "Tensor.frac")
    replace = staticmethod(frac)


class FmodByRemainder(TruncByWhere):
    """``remainder`` of absolute values, which is exact, with the sign of the first number.

    By numbers below the smallest normal one PyTorch's vectors give NaN for both operators, and its
    kernels for single values the remainder: which of them runs depends on the layout.
    """

    name = "fmod-by-remainder"
    replaces = ("aten::fmod.Tensor",)
    summary = "Take the remainder of absolute values, with the first number's sign"
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.fmod": fmod_of_any, "Tensor.fmod": fmod_of_any
    }  # fmt: skip
    replace = staticmethod(fmod)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one dtype or of two."""
        shape = draw.shape(0, 3)
        x = spread(draw, shape, self.dtypes)
        y = spread(draw, shape, self.dtypes)
        return (x, y if y.is_floating_point() else y * y + 1), {}


class RoundDecimalsByRound(TruncByWhere):
    """``round(x * 10 ** decimals) / 10 ** decimals``, the other way round for negative ones.

    In half precision PyTorch rounds between the steps on some machines and not on others.
    """

    name = "round-decimals-by-round"
    dtypes = FLOATS
    replaces = ("aten::round.decimals",)
    summary = "Multiply by a power of 10, round, and divide again"
    spellings = ("torch.round", "Tensor.round")
    replace = staticmethod(round_decimals)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Before and behind the point."""
        args, _ = super().example(op, draw)
        return args, {"decimals": draw.integer(-2, 3)}

    def refuses(self, call: Call) -> str:
        """Decline half precision."""
        half = call.args[0].dtype in (torch.float16, torch.bfloat16)
        return "the numbers are in half precision" if half else super().refuses(call)


class SignByWhere(TruncByWhere):
    """1 above 0, -1 below, and 0 elsewhere."""

    name = "sign-by-where"
    dtypes = (*FLOATS, *INTEGERS, torch.bool)
    replaces = ("aten::sign",)
    summary = "Choose between 1, 0 and -1"
    spellings = ("torch.sign", "Tensor.sign")
    replace = staticmethod(sign)


class HeavisideByWhere(TruncByWhere):
    """1 above 0, the given value at 0, and 0 elsewhere; PyTorch has no gradient either."""

    name = "heaviside-by-where"
    count = 2
    replaces = ("aten::heaviside",)
    summary = "Choose between 1, the value at 0, and 0"
    spellings = ("torch.heaviside", "Tensor.heaviside")
    replace = staticmethod(heaviside)


class FmaxByWhere(TruncByWhere):
    """The first number where it is not smaller or the second is NaN, and the second elsewhere.

    The smallest likewise. Gradients go where PyTorch sends them: of equal numbers, to the first.
    """

    name = "fmax-by-where"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::fmax": fmax,
        "aten::fmin": fmin,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.fmax": fmax,
        "Tensor.fmax": fmax,
        "torch.fmin": fmin,
        "Tensor.fmin": fmin,
    }
    summary = "Choose the first where it is farther or the second is NaN"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one dtype or of two."""
        shape = draw.shape(0, 3)
        x = spread(draw, shape, self.dtypes)
        if x.is_floating_point():  # gradients of what is broadcast are summed in some order
            return (x, spread(draw, shape, self.dtypes)), {}
        return (x, spread(draw, broadcast(draw, shape), INTEGERS)), {}


class NanToNumByWhere(TruncByWhere):
    """A given number where there is NaN, the largest or another where there is an infinity."""

    name = "nan-to-num-by-where"
    replaces = ("aten::nan_to_num",)
    summary = "Choose other numbers where there is NaN or an infinity"
    spellings = ("torch.nan_to_num", "Tensor.nan_to_num")
    replace = staticmethod(nan_to_num)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without numbers to put there."""
        args, _ = super().example(op, draw)
        return (*args, *(draw.choose((None, 0.5, -2.0)) for _ in range(3))), {}


class AngleByWhere(TruncByWhere):
    """The angle of a real number is pi below 0, and 0 elsewhere; its gradient is 0."""

    name = "angle-by-where"
    replaces = ("aten::angle",)
    summary = "Choose pi below 0 and 0 elsewhere"
    spellings = ("torch.angle", "Tensor.angle")
    replace = staticmethod(angle)


def floor(self: Tensor) -> Tensor:
    """Cut it off, and take 1 away where that went up."""
    x = self.detach()
    if not x.is_floating_point():
        return x.clone()
    none, far = torch.zeros_like(x), 2.0**52
    small = torch.where(x < far, x, none)
    small = torch.where(small > -far, small, none)
    cut = small.to(torch.int64).to(x.dtype)
    down = torch.where(cut > small, cut - 1, cut)
    down = torch.where(down == small, small, down)  # keeps the sign of 0
    return torch.where(small == x, down, x)


def ceil(self: Tensor) -> Tensor:
    """Turn it round, round down, and turn that round."""
    x = self.detach()
    return -floor(-x) if x.is_floating_point() else x.clone()


class FloorAndCeilByIntegers(Pointwise):
    """The number as an integer, which is cut off towards 0, less 1 where that is above it.

    What is no number, infinite, or has no digits behind the point stays as it is. ``ceil(x)`` is
    ``-floor(-x)``.
    """

    name = "floor-and-ceil-by-integers"
    label = Label.EXACT
    dtypes: ClassVar[tuple[torch.dtype, ...]] = FLOATS
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::floor": floor,
        "aten::ceil": ceil,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.floor": floor,
        "Tensor.floor": floor,
        "torch.ceil": ceil,
        "Tensor.ceil": ceil,
    }
    summary = "Cut off by way of an integer, and go one further where that was the wrong way"
    references: ClassVar[tuple[str, ...]] = (REFERENCES,)
