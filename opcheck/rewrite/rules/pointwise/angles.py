"""Angles and sides of triangles from ``sin``, ``cos``, ``atan`` and ``sqrt``."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import REFERENCES, SOURCES, Arguments, Pointwise, broadcast
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


class _Known(torch.autograd.Function):
    """A function whose derivatives are given, which as in PyTorch are not widened."""

    @staticmethod
    def forward(ctx: Any, function: Any, slopes: Any, *tensors: Tensor) -> Tensor:
        """Compute the function in float32 at least."""
        dtype = tensors[0].dtype
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        result: Tensor = function(*(x.to(wide) for x in tensors)).to(dtype)
        ctx.save_for_backward(*tensors, result)
        ctx.slopes = slopes
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Take each gradient."""
        return None, None, *ctx.slopes(grad, *ctx.saved_tensors)


def _known(function: Any, slopes: Any, *tensors: Tensor) -> Tensor:
    """Promote and broadcast as the original does."""
    dtype = tensors[0].dtype
    for x in tensors[1:]:
        dtype = torch.result_type(tensors[0], x)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    alike = torch.broadcast_tensors(*(x.to(dtype) for x in tensors))
    found: Tensor = _Known.apply(function, slopes, *alike)  # type: ignore[no-untyped-call]
    return found


def tan(self: Tensor) -> Tensor:
    """The sine over the cosine."""
    return _known(lambda x: x.sin() / x.cos(), lambda g, x, y: (g * (y * y + 1),), self)


def asin(self: Tensor) -> Tensor:
    """The angle whose tangent is x over the other leg."""
    return _known(
        lambda x: (x / ((1 - x) * (1 + x)).sqrt()).atan(),
        lambda g, x, y: (g * (1 - x * x).rsqrt(),),
        self,
    )


def acos(self: Tensor) -> Tensor:
    """Twice the angle whose tangent is the root of (1 - x) / (1 + x)."""
    return _known(
        lambda x: 2 * ((1 - x) / (1 + x)).sqrt().atan(),
        lambda g, x, y: (g * -(1 - x * x).rsqrt(),),
        self,
    )


def _negative(x: Tensor) -> Tensor:
    """Below 0, or the zero that is."""
    return (x < 0) | ((x == 0) & (1 / x < 0))


def _atan2(y: Tensor, x: Tensor) -> Tensor:
    one, up, right = torch.ones_like(x), ~_negative(y), ~_negative(x)
    both = (y.abs() == math.inf) & (x.abs() == math.inf)
    rise = torch.where(both, one, y.abs())
    run = torch.where(both, one, x.abs())
    none = (rise == 0) & (run == 0)
    angle = torch.where(none, rise, (rise / torch.where(none, one, run)).atan())
    angle = torch.where(right, angle, math.pi - angle)
    return torch.where(up, angle, -angle)


def _atan2_slopes(g: Tensor, y: Tensor, x: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    square = y * y + x * x
    part = torch.where(square == 0, square, 1 / square)
    return g * x * part, g * -y * part


def atan2(self: Tensor, other: Tensor) -> Tensor:
    """The angle whose tangent is the quotient, in the right quarter."""
    return _known(_atan2, _atan2_slopes, self, other)


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    x, y = x.abs(), y.abs()
    large, small = torch.where(x < y, y, x), torch.where(x < y, x, y)
    part = small / torch.where(large == 0, torch.ones_like(large), large)
    found = large * (1 + part * part).sqrt()
    either = (x == math.inf) | (y == math.inf)
    return torch.where(either, torch.full_like(x, math.inf), found)


def hypot(self: Tensor, other: Tensor) -> Tensor:
    """The longer leg times the root of 1 + the square of their ratio."""
    return _known(_hypot, lambda g, x, y, result: (g * x / result, g * y / result), self, other)


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Cosine and sine, each times the length."""
    length, turn = torch.broadcast_tensors(abs, angle)
    return torch.complex(length * turn.cos(), length * turn.sin())


class TanBySinCos(Pointwise):
    """``sin(x) / cos(x)``."""

    name = "tan-by-sin-cos"
    tolerance = 4.0
    marks: ClassVar[tuple[float, ...]] = (1.5707964, 3.1415927)
    replaces: ClassVar[tuple[str, ...]] = ("aten::tan",)
    summary = "Divide the sine by the cosine"
    spellings: ClassVar[tuple[str, ...]] = ("torch.tan", "Tensor.tan")
    references: ClassVar[tuple[str, ...]] = (
        REFERENCES,
        f"{SOURCES}/tools/autograd/derivatives.yaml",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(tan)


class ArcsByAtan(TanBySinCos):
    """``asin`` is ``atan(x / sqrt((1 - x) * (1 + x)))``.

    ``acos`` is ``2 * atan(sqrt((1 - x) / (1 + x)))``.
    """

    name = "arcs-by-atan"
    tolerance = 4.0
    marks = (0.75, 0.999, 1e-7)
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::asin": asin,
        "aten::acos": acos,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.asin": asin,
        "Tensor.asin": asin,
        "torch.arcsin": asin,
        "Tensor.arcsin": asin,
        "torch.acos": acos,
        "Tensor.acos": acos,
        "torch.arccos": acos,
        "Tensor.arccos": acos,
    }
    summary = "Take atan of a quotient of roots"


class Atan2ByAtan(TanBySinCos):
    """``atan`` of the quotient of absolute values, turned into the right quarter.

    Zeros count by their sign, as in the original.
    """

    name = "atan2-by-atan"
    tolerance = 64.0  # gradients of what was broadcast are sums
    count = 2
    marks = ()
    replaces = ("aten::atan2",)
    summary = "Take atan of the quotient and turn it into the right quarter"
    spellings = ("torch.atan2", "Tensor.atan2", "torch.arctan2", "Tensor.arctan2")
    replace = staticmethod(atan2)


class HypotBySqrt(TanBySinCos):
    """The longer leg times ``sqrt(1 + r * r)``, where r is the shorter over it.

    Nothing overflows that the result does not; an infinite leg outweighs NaN.
    """

    name = "hypot-by-sqrt"
    tolerance = 64.0  # gradients of what was broadcast are sums
    count = 2
    marks = ()
    replaces = ("aten::hypot",)
    summary = "Multiply the longer leg by sqrt(1 + r * r)"
    spellings = ("torch.hypot", "Tensor.hypot")
    replace = staticmethod(hypot)


class PolarByComplex(TanBySinCos):
    """``complex(abs * cos(angle), abs * sin(angle))``.

    Of a negative length, for which ``polar`` is not meant, PyTorch's gradient has the other sign.
    """

    name = "polar-by-complex"
    tolerance = 256.0  # of the gradient of lengths, in which sines and cosines may cancel
    replaces = ("aten::polar",)
    summary = "Make complex numbers of cosines and sines"
    spellings = ("torch.polar",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(polar)

    def refuses(self, call: Call) -> str:
        """Decline half precision, which complex numbers do not have everywhere."""
        half = any(x.dtype not in FLOATS[:2] for x in call.args)
        return "the numbers are not of float32 or float64" if half else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one shape, or one of them broadcast."""
        dtype, shape = draw.choose(FLOATS[:2]), draw.shape(0, 3)
        length = draw.tensor(shape, (dtype,), edges=False).abs()
        return (length, draw.tensor(broadcast(draw, shape), (dtype,), edges=False)), {}
