"""Exponentials, logarithms and functions made of them, from ``exp`` and ``log``."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import REFERENCES, SOURCES, Pointwise


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


def _log1p(x: Tensor) -> Tensor:
    """The logarithm of 1 + x, by as much more as x is than what was added to 1."""
    more = 1 + x
    added = more - 1
    exact = (added == 0) | (more == math.inf)
    found = more.log() * (x / torch.where(exact, torch.ones_like(x), added))
    return torch.where(exact, x, found)


def _expm1(x: Tensor) -> Tensor:
    """exp(x) less 1, by as much more as x is than the logarithm of what came of it."""
    power = x.exp()
    less = power - 1
    exact = (less == 0) | (less == -1) | (power == math.inf)
    scale = x / torch.where(exact, torch.ones_like(x), power).log()
    found = torch.where(exact, less, less * scale)
    return torch.where(less == 0, x, found)


def _signed(x: Tensor, size: Tensor) -> Tensor:
    return torch.where(x < 0, -size, torch.where(x == 0, x, size))


def log1p(self: Tensor) -> Tensor:
    """The logarithm of 1 + x."""
    return _known(_log1p, lambda g, x, y: (g / (x + 1),), self)


def expm1(self: Tensor) -> Tensor:
    """The exponential less 1."""
    return _known(_expm1, lambda g, x, y: (g * (y + 1),), self)


def log2(self: Tensor) -> Tensor:
    """The logarithm over that of 2."""
    return _known(lambda x: x.log() / math.log(2), lambda g, x, y: (g / (x * math.log(2)),), self)


def exp2(self: Tensor) -> Tensor:
    """Twos to the power."""
    return _known(
        lambda x: torch.pow(torch.full_like(x, 2.0), x),
        lambda g, x, y: (g * y * math.log(2),),
        self,
    )


def _sinh(x: Tensor) -> Tensor:
    size = x.abs()
    less, half = _expm1(size), (size / 2).exp()
    found = torch.where(size < 20, (less + less / (less + 1)) / 2, half / 2 * half)
    return _signed(x, found)


def _cosh(x: Tensor) -> Tensor:
    size = x.abs()
    power, half = size.exp(), (size / 2).exp()
    return torch.where(size < 20, (power + 1 / power) / 2, half / 2 * half)


def sinh(self: Tensor) -> Tensor:
    """Half of exp(x) - exp(-x), large ones without overflow."""
    return _known(_sinh, lambda g, x, y: (g * cosh(x),), self)


def cosh(self: Tensor) -> Tensor:
    """Half of exp(x) + exp(-x), large ones without overflow."""
    return _known(_cosh, lambda g, x, y: (g * sinh(x),), self)


def _asinh(x: Tensor) -> Tensor:
    size = x.abs()
    large = size > 1e8
    near = torch.where(large, torch.ones_like(x), size)
    square = near * near
    found = torch.where(
        large, size.log() + math.log(2), _log1p(near + square / (1 + (square + 1).sqrt()))
    )
    return _signed(x, found)


def asinh(self: Tensor) -> Tensor:
    """log(x + sqrt(x * x + 1)), without cancellation."""
    return _known(_asinh, lambda g, x, y: (g * (x * x + 1).rsqrt(),), self)


def _acosh(x: Tensor) -> Tensor:
    large = x > 1e8
    over = torch.where(large, torch.ones_like(x), x) - 1
    return torch.where(large, x.log() + math.log(2), _log1p(over + over.sqrt() * (over + 2).sqrt()))


def acosh(self: Tensor) -> Tensor:
    """log(x + sqrt(x * x - 1)), without cancellation."""
    return _known(_acosh, lambda g, x, y: (g * (x * x - 1).rsqrt(),), self)


def _atanh(x: Tensor) -> Tensor:
    size = x.abs()
    return _signed(x, _log1p(2 * size / (1 - size)) / 2)


def atanh(self: Tensor) -> Tensor:
    """Half of log((1 + x) / (1 - x)), without cancellation."""
    return _known(_atanh, lambda g, x, y: (g / (1 - x * x),), self)


def _logaddexp(x: Tensor, y: Tensor) -> Tensor:
    same = x == y
    apart = torch.where(same, torch.zeros_like(x), (x - y).abs())
    return torch.where(x < y, y, x) + _log1p((-apart).exp())


def logaddexp(self: Tensor, other: Tensor) -> Tensor:
    """The larger, and the logarithm of 1 + exp of the smaller less the larger."""
    return _known(
        _logaddexp,
        lambda g, x, y, result: (g / (1 + (y - x).exp()), g / (1 + (x - y).exp())),
        self,
        other,
    )


def logaddexp2(self: Tensor, other: Tensor) -> Tensor:
    """The same to base 2."""
    two = math.log(2)
    return _known(
        lambda x, y: _logaddexp(x * two, y * two) / two,
        lambda g, x, y, result: (g / (1 + exp2(y - x)), g / (1 + exp2(x - y))),
        self,
        other,
    )


def _xlog1py(x: Tensor, y: Tensor) -> Tensor:
    return torch.where((x == 0) & (y == y), x * 0, x * _log1p(y))


def _xlog1py_slopes(g: Tensor, x: Tensor, y: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
    none = (x == 0) & (y <= -1)
    return torch.where(none, torch.zeros_like(x), xlog1py(g, y)), g * x / (y + 1)


def xlog1py(self: Tensor | float, other: Tensor | float) -> Tensor:
    """The first times log(1 + the second), and 0 where the first is 0."""
    dtype = torch.result_type(self, other)
    device = (self if isinstance(self, Tensor) else torch.as_tensor(other)).device
    both = (torch.as_tensor(given, dtype=dtype, device=device) for given in (self, other))
    return _known(_xlog1py, _xlog1py_slopes, *both)


class Log1pByLog(Pointwise):
    """``log(u) * x / (u - 1)`` of ``u = 1 + x``.

    What rounding took from ``u`` is given back by the quotient, so small x keep their digits.
    """

    name = "log1p-by-log"
    tolerance = 4.0
    marks: ClassVar[tuple[float, ...]] = (-1.0, -2.0, 1e-7)
    replaces: ClassVar[tuple[str, ...]] = ("aten::log1p",)
    summary = "Write log(u) * x / (u - 1) with u = 1 + x"
    spellings: ClassVar[tuple[str, ...]] = ("torch.log1p", "Tensor.log1p", "torch.special.log1p")
    references: ClassVar[tuple[str, ...]] = (
        REFERENCES,
        f"{SOURCES}/tools/autograd/derivatives.yaml",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(log1p)


class Expm1ByExp(Log1pByLog):
    """``(u - 1) * x / log(u)`` of ``u = exp(x)``.

    What rounding took from ``u`` is given back by the quotient, so small x keep their digits. The
    gradient is PyTorch's, 1 more than the result: below 0 it is as near as if it were 1 at least.
    """

    name = "expm1-by-exp"
    tolerance = 4.0
    cancels = True
    marks = (88.5, -88.5, 1e-7)
    replaces = ("aten::expm1",)
    summary = "Write (u - 1) * x / log(u) with u = exp(x)"
    spellings = ("torch.expm1", "Tensor.expm1", "torch.special.expm1")
    replace = staticmethod(expm1)


class Log2ByLog(Log1pByLog):
    """``log(x) / log(2)``."""

    name = "log2-by-log"
    tolerance = 4.0
    marks = (2.0, 8.0, 1024.0)
    replaces = ("aten::log2",)
    summary = "Divide the logarithm by that of 2"
    spellings = ("torch.log2", "Tensor.log2")
    replace = staticmethod(log2)


class Exp2ByPow(Log1pByLog):
    """``pow`` of a tensor of twos."""

    name = "exp2-by-pow"
    tolerance = 4.0
    marks = (127.5, -126.5, 3.0)
    replaces = ("aten::exp2",)
    summary = "Raise a tensor of twos to the power"
    spellings = ("torch.exp2", "Tensor.exp2", "torch.special.exp2")
    replace = staticmethod(exp2)


class HyperbolicByExp(Log1pByLog):
    """``(u + u / (u + 1)) / 2`` of ``u = exp(|x|) - 1``, with the sign of x, is ``sinh``.

    ``(exp(|x|) + exp(-|x|)) / 2`` is ``cosh``. From 20 on either is half the square of
    ``exp(|x| / 2)``, which overflows no sooner than the result.
    """

    name = "hyperbolic-by-exp"
    tolerance = 4.0
    scales = (1.0, 10.0, 0.01, 1e4, 1e-20)  # the host's vectors overflow at 88.7 already
    marks = (88.0, -88.0, 20.0)
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::sinh": sinh,
        "aten::cosh": cosh,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.sinh": sinh,
        "Tensor.sinh": sinh,
        "torch.cosh": cosh,
        "Tensor.cosh": cosh,
    }
    summary = "Write it with exponentials"


class InverseHyperbolicByLog(Log1pByLog):
    """Logarithms of 1 and a rest, so that small numbers keep their digits.

    ``asinh`` is ``log(1 + a + a * a / (1 + sqrt(a * a + 1)))`` of ``a = |x|``, and ``atanh`` half
    of ``log(1 + 2 * a / (1 - a))``, each with the sign of x; ``acosh`` is ``log(1 + t + sqrt(t) *
    sqrt(t + 2))`` of ``t = x - 1``. Beyond 1e8 the first and the last are ``log(x) + log(2)``: the
    square would overflow.
    """

    name = "inverse-hyperbolic-by-log"
    tolerance = 4.0
    marks = (1e8, 2e8, 1e-7, 0.75, 1.0, 1.5)
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::asinh": asinh,
        "aten::acosh": acosh,
        "aten::atanh": atanh,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.asinh": asinh,
        "Tensor.asinh": asinh,
        "torch.arcsinh": asinh,
        "Tensor.arcsinh": asinh,
        "torch.acosh": acosh,
        "Tensor.acosh": acosh,
        "torch.arccosh": acosh,
        "Tensor.arccosh": acosh,
        "torch.atanh": atanh,
        "Tensor.atanh": atanh,
        "torch.arctanh": atanh,
        "Tensor.arctanh": atanh,
    }
    summary = "Write it with a logarithm and a root"


class LogaddexpByLog(Log1pByLog):
    """The larger, and ``log(1 + exp(-|x - y|))``.

    ``logaddexp2`` is that of both times ``log(2)``, over ``log(2)``.
    """

    name = "logaddexp-by-log"
    tolerance = 64.0  # gradients of what was broadcast are sums
    count = 2
    marks = ()
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::logaddexp": logaddexp,
        "aten::logaddexp2": logaddexp2,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.logaddexp": logaddexp,
        "Tensor.logaddexp": logaddexp,
        "torch.logaddexp2": logaddexp2,
        "Tensor.logaddexp2": logaddexp2,
    }
    summary = "Add log(1 + exp(-|x - y|)) to the larger"


class Xlog1pyByLog(Log1pByLog):
    """``x * log(1 + y)``, and 0 where x is 0 and y is not NaN."""

    name = "xlog1py-by-log"
    tolerance = 64.0  # gradients of what was broadcast are sums
    count = 2
    marks = (-1.0,)
    replaces = ("aten::special_xlog1py",)
    summary = "Multiply by log(1 + y), save where x is 0"
    spellings = ("torch.special.xlog1py",)
    replace = staticmethod(xlog1py)


def _wide(x: Tensor) -> Tensor:
    """In float32 at least."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def silu(self: Tensor) -> Tensor:
    """The quotient; far below zero twice the root of the exponential, until that overflows above.

    Neither values nor gradients do.
    """
    x = _wide(self)
    above = x >= -math.log(torch.finfo(x.dtype).max)
    root = (x.clamp(max=0) / 2).exp() * above.to(x.dtype)
    quotient = x / (1 + (-x).clamp(max=40).exp())
    return torch.where(x < -40, x * root * root, quotient).to(self.dtype)


class SiluByExponential(Pointwise):
    """By its definition, ``x / (1 + exp(-x))``; where the exponential is large, ``x * exp(x)``."""

    name = "silu-by-exponential"
    tolerance = 24.0  # PyTorch's gradient loses x exp(-x), 37 / 2 eps, where the sigmoid is 1
    replaces = ("aten::silu",)
    summary = "Divide by one and the exponential of the negative"
    marks = (-40.0, -41.0, -88.0, -100.0, 88.0)
    replace = staticmethod(silu)
