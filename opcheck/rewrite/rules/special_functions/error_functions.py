"""The error function and what is made of it, by rational functions."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import MATH, SOURCES, Arguments, Pointwise
from opcheck.rewrite.draw import FLOATS, Draw

# fmt: off
_NEAR_ABOVE = (
    0.18577770618460315, 3.1611237438705655, 113.86415415105016, 377.485237685302,
    3209.3775891384694,
)
_NEAR_BELOW = (
    1.0, 23.601290952344122, 244.02463793444417, 1282.6165260773723, 2844.236833439171,
)
_MID_ABOVE = (
    2.1531153547440383e-08, 0.5641884969886701, 8.883149794388377, 66.11919063714163,
    298.6351381974001, 881.952221241769, 1712.0476126340707, 2051.0783778260716,
    1230.3393547979972,
)
_MID_BELOW = (
    1.0, 15.744926110709835, 117.6939508913125, 537.1811018620099, 1621.3895745666903,
    3290.7992357334597, 4362.619090143247, 3439.3676741437216, 1230.3393548037495,
)
_FAR_ABOVE = (
    0.016315387137302097, 0.30532663496123236, 0.36034489994980445, 0.12578172611122926,
    0.016083785148742275, 0.0006587491615298378,
)
_FAR_BELOW = (
    1.0, 2.568520192289822, 1.8729528499234673, 0.5279051029514285, 0.06051834131244132,
    0.0023352049762686918,
)
_MIDDLE_ABOVE = (
    -59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968,
    -1.2391658386738125,
)
_MIDDLE_BELOW = (
    1.0, 1.9544885833814176, 4.676279128988815, 86.36024213908905, -225.46268785411937,
    200.26021238006066, -82.03722561683334, 15.90562251262117, -1.1833162112133,
)
_TAIL_ABOVE = (
    4.0554489230596245, 31.525109459989388, 57.16281922464213, 44.08050738932008,
    14.684956192885803, 2.1866330685079025, -0.1402560791713545, -0.03504246268278482,
    -0.0008574567851546854,
)
_TAIL_BELOW = (
    1.0, 15.779988325646675, 45.39076351288792, 41.3172038254672, 15.04253856929075,
    2.504649462083094, -0.14218292285478779, -0.03808064076915783, -0.0009332594808954574,
)
_END_ABOVE = (
    3.2377489177694603, 6.915228890689842, 3.9388102529247444, 1.3330346081580755,
    0.20148538954917908, 0.012371663481782003, 0.00030158155350823543, 2.6580697468673755e-06,
    6.239745391849833e-09,
)
_END_BELOW = (
    1.0, 6.02427039364742, 3.6798356385616087, 1.3770209948908132, 0.21623699359449663,
    0.013420400608854318, 0.00032801446468212774, 2.8924786474538068e-06, 6.790194080099813e-09,
)
_CENTRE_ABOVE = (
    -0.140543331, 0.914624893, -1.645349621, 0.886226899,
)
_CENTRE_BELOW = (
    0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0,
)
_SIDE_ABOVE = (
    1.641345311, 3.429567803, -1.624906493, -1.970840454,
)
_SIDE_BELOW = (
    1.6370678, 3.5438892, 1.0,
)
# fmt: on


class _Known(torch.autograd.Function):
    """A function whose derivative is given, which as in PyTorch is not widened."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, function: Any, slope: Any) -> Tensor:
        """Compute the function in float32 at least."""
        result: Tensor = function(x if x.dtype == torch.float64 else x.float()).to(x.dtype)
        ctx.save_for_backward(x, result)
        ctx.slope = slope
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """Multiply by the derivative."""
        return grad * ctx.slope(*ctx.saved_tensors), None, None


def _known(function: Any, slope: Any, x: Tensor) -> Tensor:
    given = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    found: Tensor = _Known.apply(given, function, slope)  # type: ignore[no-untyped-call]
    return found


def _ratio(x: Tensor, above: Sequence[float], below: Sequence[float]) -> Tensor:
    parts = []
    for table in (above, below):
        found = torch.full_like(x, table[0])
        for coefficient in table[1:]:
            found = found * x + coefficient
        parts.append(found)
    return parts[0] / parts[1]


def _near(x: Tensor) -> Tensor:
    """The error function up to 15 / 32."""
    return x * _ratio(x * x, _NEAR_ABOVE, _NEAR_BELOW)


def _scaled(size: Tensor) -> Tensor:
    """The complement by exp(x * x), from 15 / 32 on."""
    inverse = 1 / (size * size)
    far = (1 / math.sqrt(math.pi) - inverse * _ratio(inverse, _FAR_ABOVE, _FAR_BELOW)) / size
    return torch.where(size <= 4, _ratio(size, _MID_ABOVE, _MID_BELOW), far)


def _bell(size: Tensor) -> Tensor:
    """exp(-x * x), the square in two parts so that rounding it costs nothing."""
    coarse = (size * 16).floor() / 16
    fine = (-coarse * coarse).exp() * (-(size - coarse) * (size + coarse)).exp()
    return torch.where(size > 30, torch.zeros_like(size), fine)


def _erf(x: Tensor) -> Tensor:
    size = x.abs()
    far = 1 - _bell(size) * _scaled(size)
    return torch.where(size <= 0.46875, _near(x), torch.where(x < 0, -far, far))


def _erfc(x: Tensor) -> Tensor:
    size = x.abs()
    far = _bell(size) * _scaled(size)
    far = torch.where(size > 30, torch.zeros_like(x), far)
    return torch.where(size <= 0.46875, 1 - _near(x), torch.where(x < 0, 2 - far, far))


def _erfcx(x: Tensor) -> Tensor:
    size = x.abs()
    power = (x * x).exp()
    far = torch.where(size == math.inf, torch.zeros_like(x), _scaled(size))
    far = torch.where(x < 0, 2 * power - far, far)
    return torch.where(size <= 0.46875, power * (1 - _near(x)), far)


def _erfinv(y: Tensor) -> Tensor:
    size = y.abs()
    centre = size * _ratio(y * y, _CENTRE_ABOVE, _CENTRE_BELOW)
    x = torch.where(
        size <= 0.7, centre, _ratio((-((1 - size) / 2).log()).sqrt(), _SIDE_ABOVE, _SIDE_BELOW)
    )
    for _ in range(2):  # Newton's steps
        off = torch.where(size <= 0.5, _erf(x) - size, (1 - size) - _erfc(x))
        x = x - off / (2 / math.sqrt(math.pi) * (-x * x).exp())
    x = torch.where(size == 1, torch.full_like(x, math.inf), x)
    x = torch.where(size > 1, torch.full_like(x, math.nan), x)
    return torch.where(y < 0, -x, torch.where(y == 0, y, x))


def _ndtri(given: Tensor) -> Tensor:
    upper = given > 1 - math.exp(-2)
    y = torch.where(upper, 1 - given, given)
    middle = y - 0.5
    square = middle * middle
    centre = middle + middle * (square * _ratio(square, _MIDDLE_ABOVE, _MIDDLE_BELOW))
    x = (-2 * y.log()).sqrt()
    z = 1 / x
    tail = torch.where(
        x < 8, _ratio(z, _TAIL_ABOVE, _TAIL_BELOW), _ratio(z, _END_ABOVE, _END_BELOW)
    )
    tail = x - x.log() / x - z * tail
    tail = torch.where(upper, tail, -tail)
    found = torch.where(y > math.exp(-2), centre * math.sqrt(2 * math.pi), tail)
    found = torch.where(given == 0, torch.full_like(y, -math.inf), found)
    found = torch.where(given == 1, torch.full_like(y, math.inf), found)
    outside = (given < 0) | (given > 1)
    return torch.where(outside, torch.full_like(y, math.nan), found)


def _log1p(x: Tensor) -> Tensor:
    more = 1 + x
    none = more == 1
    return torch.where(none, x, more.log() * (x / torch.where(none, more, more - 1)))


def _log_ndtr(x: Tensor) -> Tensor:
    t = x * math.sqrt(0.5)
    return torch.where(x < -1, (_erfcx(-t) / 2).log() - t * t, _log1p(-_erfc(t) / 2))


def erf(self: Tensor) -> Tensor:
    """Three rational functions."""
    return _known(_erf, lambda x, y: 2 / math.sqrt(math.pi) * (-(x * x)).exp(), self)


def erfc(self: Tensor) -> Tensor:
    """Three rational functions."""
    return _known(_erfc, lambda x, y: -2 / math.sqrt(math.pi) * (-(x * x)).exp(), self)


def erfcx(self: Tensor) -> Tensor:
    """Three rational functions, scaled."""
    return _known(_erfcx, lambda x, y: 2 * x * y - 2 / math.sqrt(math.pi), self)


def erfinv(self: Tensor) -> Tensor:
    """A rational function and two of Newton's steps."""
    return _known(_erfinv, lambda x, y: math.sqrt(math.pi) / 2 * (y * y).exp(), self)


def ndtri(self: Tensor) -> Tensor:
    """Three rational functions."""
    return _known(_ndtri, lambda x, y: math.sqrt(2 * math.pi) * (y * y / 2).exp(), self)


def log_ndtr(self: Tensor) -> Tensor:
    """The logarithm of the scaled complement where that is small."""
    return _known(_log_ndtr, lambda x, y: (-(y + x * x / 2)).exp() / math.sqrt(2 * math.pi), self)


class ErfByRatios(Pointwise):
    """Rational functions up to 15/32, up to 4 and beyond, by W. J. Cody (1969).

    The square in ``exp(-x * x)`` is taken in two parts, so that rounding it costs nothing.
    Gradients are PyTorch's formulas.
    """

    name = "erf-by-ratios"
    tolerance = 4.0
    dtypes: ClassVar[tuple[torch.dtype, ...]] = (*FLOATS[:3], torch.int64)
    marks: ClassVar[tuple[float, ...]] = (0.46875, 4.0, -0.47)
    scales: ClassVar[tuple[float, ...]] = (1.0, 3.0, 0.01, 1e4, 1e-20)
    replaces: ClassVar[tuple[str, ...]] = ("aten::erf",)
    summary = "Write it with Cody's rational functions"
    spellings: ClassVar[tuple[str, ...]] = ("torch.erf", "Tensor.erf", "torch.special.erf")
    references: ClassVar[tuple[str, ...]] = (
        "https://netlib.org/specfun/erf",
        f"{SOURCES}/tools/autograd/derivatives.yaml",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(erf)


class ErfcByRatios(ErfByRatios):
    """What the error function leaves of 1, by Cody's rational functions without subtracting."""

    name = "erfc-by-ratios"
    tolerance = 16.0
    replaces = ("aten::erfc",)
    spellings = ("torch.erfc", "Tensor.erfc", "torch.special.erfc")
    replace = staticmethod(erfc)


class ErfcxByRatios(ErfByRatios):
    """``exp(x * x)`` times what the error function leaves of 1: Cody's functions without the bell.

    PyTorch's kernel takes a hundred polynomials from a table; both are right to a few units in
    the last place, save that the square in ``exp(x * x)`` is rounded below 0. For large x few
    digits of the gradient are left, here and in PyTorch: it is the difference of numbers near 1,
    and as near as if it were 1 at least.
    """

    name = "erfcx-by-ratios"
    tolerance = 256.0
    cancels = True
    scales = (1.0, 3.0, 0.01, 1e-20)
    dtypes = (*FLOATS[:2], torch.int64)
    replaces = ("aten::special_erfcx",)
    spellings = ("torch.special.erfcx",)
    replace = staticmethod(erfcx)


class ErfinvByNewton(ErfByRatios):
    """PyTorch's rational approximation and two of Newton's steps, with Cody's error function.

    Next to -1 and 1 the steps use what is left of 1, which keeps digits that the difference of
    two numbers near 1 would lose.
    """

    name = "erfinv-by-newton"
    tolerance = 64.0
    marks = (0.7, -0.7, 0.5, 0.999)
    scales = (1.0, 0.25, 0.01, 1e-20)
    replaces = ("aten::erfinv",)
    summary = "Write it with a rational function and two of Newton's steps"
    spellings = ("torch.erfinv", "Tensor.erfinv", "torch.special.erfinv")
    references = (MATH, "https://netlib.org/specfun/erf")
    replace = staticmethod(erfinv)


class NdtriByRatios(ErfByRatios):
    """The rational functions of PyTorch's kernel, taken from Cephes, for the middle and tails.

    The gradient is the exponential of a square, which widens what rounding left: the results
    alone are within 256 eps.
    """

    name = "ndtri-by-ratios"
    tolerance = 16384.0  # of the gradient
    dtypes = FLOATS[:2]
    marks = (0.5, 0.1353, 0.8647, 1e-20)
    replaces = ("aten::special_ndtri",)
    summary = "Write it with the rational functions of PyTorch's kernel"
    spellings = ("torch.special.ndtri",)
    references = (MATH,)
    replace = staticmethod(ndtri)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Probabilities, and a few numbers that are none."""
        (x,), given = super().example(op, draw)
        x = torch.where(x.abs() < 1e-30, x.round(), x)  # gradients next to 0 are infinite
        return (torch.where((x > 1) | (x < 0), (x / 3).sigmoid(), x),), given


class LogNdtrByRatios(ErfByRatios):
    """Below -1 ``log(erfcx(-x / sqrt(2)) / 2) - x * x / 2``, beyond ``log(1 - erfc / 2)``.

    The gradient is PyTorch's, ``exp`` of a difference, which has few digits left far below 0: the
    results alone are within 64 eps.
    """

    name = "log-ndtr-by-ratios"
    tolerance = 16384.0  # of the gradient
    scales = (1.0, 3.0, 0.01, 1e-20)
    dtypes = (*FLOATS[:2], torch.int64)
    marks = (-1.0, -9.0)
    replaces = ("aten::special_log_ndtr",)
    summary = "Take the logarithm of the scaled complement where that is small"
    spellings = ("torch.special.log_ndtr",)
    references = (MATH,)
    replace = staticmethod(log_ndtr)
