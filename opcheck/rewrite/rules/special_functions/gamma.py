"""The logarithm of the gamma function, its derivatives, and the zeta function."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.base import MATH, SOURCES, Arguments, Pointwise, spread
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

# fmt: off
_TWO = (
    4.4864094961891516e-05, 2.5214456545125733e-05, 0.00010801156724758394,
    0.00022086279071390839, 0.0005100697921535113, 0.0011927076318336207, 0.0028905138367341563,
    0.007385550860814029, 0.020580808432516733, 0.06735230105312927, 0.3224670334241136,
    0.07721566490153287,
)
_LOWEST = (
    0.0003355291926355191, -0.00031275416837512086, 0.00031563207090362595,
    -0.0005385953053567405, 0.000881081882437654, -0.0014034646998923284, 0.0022596478090061247,
    -0.0036845201678113826, 0.006100538702462913, -0.010314224129834144, 0.01797067508118204,
    -0.032788541075985965, 0.06462494023913339, -0.1475877229945939, 0.48383612272381005,
)
_ONE_ABOVE = (
    0.013381091853678766, 0.22896372806469245, 0.9777175279633727, 1.4549225013723477,
    0.6328270640250934, -0.07721566490153287,
)
_ONE_BELOW = (
    0.003217092422824239, 0.10422264559336913, 0.7692851504566728, 2.128489763798934,
    2.4559779371304113, 1.0,
)
_SHIFTED_ABOVE = (
    3.194753265841009e-05, 0.0018402845140733772, 0.02664227030336386, 0.14635047265246445,
    0.325778796408931, 0.21498241596060885, -0.07721566490153287,
)
_SHIFTED_BELOW = (
    7.326684307446256e-06, 0.0007779424963818936, 0.01864591917156529, 0.17193386563280308,
    0.7219355475671381, 1.3920053346762105, 1.0,
)
_STIRLING = (
    -0.0016309293409657527, 0.0008363399189962821, -0.00059518755745034, 0.0007936505586430196,
    -0.0027777777772877554, 0.08333333333333297,
)
_DIGAMMA = (
    0.08333333333333333, -0.021092796092796094, 0.007575757575757576, -0.004166666666666667,
    0.003968253968253968, -0.008333333333333333, 0.08333333333333333,
)
_EULER = (
    12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1892437580.3183792, 74724249600.0,
    -2950130727918.164, 116467828143500.67, -4597978722407473.0, 1.8152105401943546e+17,
    -7.166165256175667e+18,
)
# fmt: on
_GAMMA = 0.5772156649015329
"""Euler's constant: next to 0 the series of lgamma begins with -log|x| - _GAMMA x."""
_HIGHEST = 6
"""Orders up to which polygamma keeps its digits."""
_TOO_STEEP = 1.7976931348623157e308 ** (1 / 23)
"""Exponents of which 23 multiplied overflow float64, and then multiply a 0 in PyTorch's kernel."""
_DONE = 2.0**-53
"""A term is dropped that is less than this part of the sum, in PyTorch's kernel."""


class _Known(torch.autograd.Function):
    """A function whose derivative is given, which as in PyTorch is not widened."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, function: Any, slope: Any) -> Tensor:
        """Compute the function in float32 at least."""
        result: Tensor = function(x if x.dtype == torch.float64 else x.float()).to(x.dtype)
        ctx.save_for_backward(x)
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


def _polynomial(x: Tensor, table: Sequence[float]) -> Tensor:
    found = torch.full_like(x, table[0])
    for coefficient in table[1:]:
        found = found * x + coefficient
    return found


def _sine(x: Tensor) -> Tensor:
    """sin(pi x) without its sign, of what x is off the next integer."""
    return ((x - x.round()) * math.pi).sin().abs()


def _lgamma(x: Tensor) -> Tensor:
    size = x.abs()
    tiny = size < 1e-10
    safe = torch.where(tiny, torch.ones_like(x), size)
    found = torch.where(size < 2, _below_two(safe), _up_to_eight(safe))
    found = torch.where(size >= 8, _stirling(safe), found)
    found = torch.where(tiny, -size.log() - _GAMMA * x, found)
    sine = _sine(safe) * safe
    mirrored = (math.pi / torch.where(sine == 0, torch.ones_like(x), sine)).log() - found
    mirrored = torch.where(sine == 0, torch.full_like(x, math.inf), mirrored)
    found = torch.where((x < 0) & ~tiny, mirrored, found)
    return torch.where((size == math.inf) | (x != x), size, found)


def _below_two(x: Tensor) -> Tensor:
    """Polynomials about 2, the minimum and 1; below 0.9 those of x + 1 less a logarithm."""
    lower = x <= 0.9
    up = torch.where(lower, x + 1, x)
    about_two = torch.where(lower, 1 - x, 2 - x)
    about_lowest = torch.where(lower, x - 0.46163214496836225, x - 1.4616321449683622)
    about_one = torch.where(lower, x, x - 1)
    square = about_lowest * about_lowest
    two = about_two * _polynomial(about_two, _TWO) - about_two / 2
    lowest = square * _polynomial(about_lowest, _LOWEST) - 0.12148629053584961
    one = _polynomial(about_one, _ONE_ABOVE) / _polynomial(about_one, _ONE_BELOW)
    one = about_one * one - about_one / 2
    found = torch.where(up >= 1.7316, two, torch.where(up >= 1.23164, lowest, one))
    return torch.where(lower, found - x.log(), found)


def _up_to_eight(x: Tensor) -> Tensor:
    """A rational function of what is above 2, and the logarithm of what lies between."""
    near = torch.where(x < 8, x, torch.full_like(x, 2.0))
    over = near - near.floor()
    ratio = over * _polynomial(over, _SHIFTED_ABOVE) / _polynomial(over, _SHIFTED_BELOW)
    product = torch.ones_like(x)
    for k in range(2, 7):
        product = torch.where(near >= k + 1, product * (over + k), product)
    return over / 2 + ratio + product.log()


def _stirling(x: Tensor) -> Tensor:
    inverse = 1 / x
    rest = 0.41893853320467272505 + inverse * _polynomial(inverse * inverse, _STIRLING)
    return (x - 0.5) * (x.log() - 1) + rest


def _digamma(x: Tensor) -> Tensor:
    negative = x < 0
    y = torch.where(negative, 1 - x, x)
    result = torch.zeros_like(y)
    for _ in range(10):
        small = y < 10
        result = torch.where(small, result - 1 / y, result)
        y = torch.where(small, y + 1, y)
    inverse = 1 / (y * y)
    series = torch.where(y < 1e17, inverse * _polynomial(inverse, _DIGAMMA), torch.zeros_like(y))
    result = torch.where(
        y == 10, result + 2.25175258906672110764, result + y.log() - 0.5 / y - series
    )
    off = (x - x.round()) * math.pi
    whole = negative & (x == x.floor())
    sine = torch.where(whole, torch.ones_like(x), off.sin())
    result = torch.where(negative, result - math.pi * off.cos() / sine, result)
    return torch.where(whole, torch.full_like(x, math.nan), torch.where(x == 0, -1 / x, result))


def polygamma_of(input: Tensor, n: int) -> Tensor:
    """The method, whose order comes last."""
    return polygamma(n, input)


def _trigamma(x: Tensor) -> Tensor:
    lower = x < 0.5
    sine = (x * math.pi).sin()
    y = torch.where(lower, 1 - x, x)
    result = torch.where(lower, -(math.pi**2) / (sine * sine), torch.zeros_like(x))
    for _ in range(6):
        result = result + 1 / (y * y)
        y = y + 1
    inverse = 1 / (y * y)
    series = inverse * (1 / 6 - inverse * (1 / 30 - inverse * (1 / 42)))
    result = result + (1 + 1 / (2 * y) + series) / y
    return torch.where(lower, -result, result)


def _zeta(s: Tensor, q: Tensor, wide: bool) -> Tensor:
    """Of q below 0 by the sum over all integers, less the part that is beyond q."""
    negative = (q <= 0) & (s == s.floor())
    part = torch.where(negative, q - q.floor(), q)
    other = torch.where(negative, q.ceil() - q, torch.ones_like(q))
    beyond = torch.where(negative, 1 - q, torch.ones_like(q))
    after = _hurwitz(s, beyond, True)
    rest = _hurwitz(s, other, wide) - after
    odd = s - 2 * (s / 2).floor() == 1
    found = _hurwitz(s, torch.where(part == 0, torch.ones_like(q), part), wide)
    steep = (found == 0) & (s > _TOO_STEEP)
    found = torch.where(steep, torch.full_like(q, math.nan), found)
    both = found + torch.where(odd, -rest, rest)
    # of two that are infinite in float32 alone, one is larger; at a half the others cancel
    told = odd & (-s * torch.maximum(part, other).log() < 709.78)
    both = torch.where(told & (rest == found), torch.where(part < other, found, -rest), both)
    both = torch.where(told & (part == other), after, both)
    found = torch.where(negative, both, found)
    whole = (q <= 0) & ((q == q.floor()) | (negative & (s == math.inf)))
    found = torch.where((q <= 0) & ~negative, torch.full_like(q, math.nan), found)
    found = torch.where(whole, torch.full_like(q, math.inf), found)
    found = torch.where(s < 1, torch.full_like(q, math.nan), found)
    return torch.where(s == 1, torch.full_like(q, math.inf), found)


def _hurwitz(s: Tensor, q: Tensor, wide: bool) -> Tensor:
    """Nine terms, and the rest by Euler and Maclaurin's formula.

    The last term times its number underflows first. PyTorch's kernel computes float32 in float64,
    where it does not (``wide``), and other dtypes as they are, where it does.
    """
    total, last = torch.zeros_like(q), q
    for k in range(10):
        last = q + k
        term = last.pow(-s)
        total = total + term
    whole = last.pow(1 - s) if wide else term * last
    rest = whole / (s - 1) - term / 2
    rest = rest + (_wide_rest(s, last, term) if wide else _rest(s, last, term, total + rest))
    rest = torch.where(q == math.inf, torch.full_like(q, math.nan), rest)
    done = term.abs() < _DONE * total.abs()
    return torch.where(done, total, total + rest)


def _wide_rest(s: Tensor, last: Tensor, term: Tensor) -> Tensor:
    """Twelve terms of Euler and Maclaurin's formula, none of which overflows before it is small."""
    rest, factor = torch.zeros_like(term), term * (s / last)
    for k, divisor in enumerate(_EULER):
        rest = rest + factor / divisor
        factor = factor * ((s + 2 * k + 1) / last) * ((s + 2 * k + 2) / last)
    return rest


def _rest(s: Tensor, last: Tensor, term: Tensor, total: Tensor) -> Tensor:
    """The same, by products that overflow and underflow as those of the kernel do."""
    rest, above, below = torch.zeros_like(term), torch.ones_like(term), term
    done = torch.zeros_like(term, dtype=torch.bool)
    for k, divisor in enumerate(_EULER):
        above, below = above * (s + 2 * k), below / last
        more = above * below / divisor
        rest = torch.where(done, rest, rest + more)
        done = done | ((more / (total + rest)).abs() < _DONE)
        above, below = above * (s + (2 * k + 1)), below / last
    return rest


def lgamma(self: Tensor) -> Tensor:
    """Polynomials and rational functions below 8, Stirling's series beyond."""
    return _known(_lgamma, digamma, self)


def digamma(self: Tensor) -> Tensor:
    """An asymptotic series from 10 on, and steps up to it."""
    return _known(_digamma, lambda x: polygamma(1, x), self)


def polygamma(n: int, self: Tensor) -> Tensor:
    """Zeta functions, or series of their own for the first two."""
    if n == 0:
        return digamma(self)
    if n == 1:
        return _known(_trigamma, lambda x: polygamma(2, x), self)
    dtype = self.dtype if self.is_floating_point() else torch.get_default_dtype()
    factor = math.factorial(n) * (1 if n % 2 else -1)

    def function(x: Tensor) -> Tensor:
        found = _zeta(torch.full_like(x, n + 1.0), x, dtype == torch.float32)
        return factor * found.to(dtype).to(x.dtype)  # rounded before, as in PyTorch's kernel

    return _known(function, lambda x: polygamma(n + 1, x), self)


class _Zeta(torch.autograd.Function):
    """The zeta function, which has a derivative by the second argument alone."""

    @staticmethod
    def forward(ctx: Any, s: Tensor, q: Tensor) -> Tensor:
        """Compute it."""
        ctx.save_for_backward(s, q)
        return _zeta(s, q, s.dtype == torch.float32)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        """Take the function of one more."""
        s, q = ctx.saved_tensors
        return None, grad * -s * zeta(s + 1, q)


def zeta(self: Tensor | float, other: Tensor | float) -> Tensor:
    """Nine terms and Euler and Maclaurin's formula."""
    dtype = torch.result_type(self, other)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    device = (self if isinstance(self, Tensor) else torch.as_tensor(other)).device
    both = (torch.as_tensor(given, dtype=dtype, device=device) for given in (self, other))
    s, q = torch.broadcast_tensors(*both)
    s = s.detach()
    found: Tensor = _Zeta.apply(s, q)  # type: ignore[no-untyped-call]
    return found


class LgammaByPolynomials(Pointwise):
    """Polynomials about 1, 2 and the minimum, a rational function up to 8, Stirling's beyond.

    Coefficients are those of the C library (fdlibm, Sun Microsystems 1993): zeros at 1 and 2 are
    exact, and next to them all digits are kept. Below 0 it is mirrored, and has few digits next to
    its zeros there, as PyTorch's has: the difference is of units of 1, not of the result. The
    gradient is ``digamma``.
    """

    name = "lgamma-by-polynomials"
    tolerance = 64.0  # of the gradient, which is the digamma function
    dtypes: ClassVar[tuple[torch.dtype, ...]] = (*FLOATS, torch.int64)
    marks: ClassVar[tuple[float, ...]] = (1.0, 2.0, 8.0, 0.9, 1.7316, -2.0)
    scales: ClassVar[tuple[float, ...]] = (1.0, 10.0, 0.01, 1e4)
    replaces: ClassVar[tuple[str, ...]] = ("aten::lgamma",)
    summary = "Write it with polynomials below 8 and Stirling's series beyond"
    spellings: ClassVar[tuple[str, ...]] = (
        "torch.lgamma", "Tensor.lgamma", "torch.special.gammaln"
    )  # fmt: skip
    references: ClassVar[tuple[str, ...]] = (
        "https://netlib.org/fdlibm/e_lgamma_r.c",
        f"{SOURCES}/tools/autograd/derivatives.yaml",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(lgamma)


class DigammaBySeries(LgammaByPolynomials):
    """The asymptotic series of PyTorch's kernel from 10 on, ten steps of 1 / x up to it.

    Below 0 it is mirrored; the gradient is ``polygamma(1, x)``.
    """

    name = "digamma-by-series"
    tolerance = 64.0
    marks = (10.0, 9.5, 1.4616321, -2.0, -0.5)
    replaces = ("aten::digamma",)
    summary = "Step up to 10 and take the asymptotic series"
    spellings = ("torch.digamma", "Tensor.digamma", "torch.special.digamma", "torch.special.psi")
    references = (MATH,)
    replace = staticmethod(digamma)


class ZetaBySum(LgammaByPolynomials):
    """Nine terms of the sum, and the rest by Euler and Maclaurin's formula, as PyTorch's kernel.

    The kernel adds more terms for q below 0, as many as q is far from it; here the sum over all
    integers, found from two positive q, is taken less what lies beyond q.
    """

    name = "zeta-by-sum"
    tolerance = 1024.0  # of the smallest gradients: s times what is rounded to few digits
    replaces = ("aten::special_zeta",)
    summary = "Add nine terms and Euler and Maclaurin's formula"
    spellings = ("torch.special.zeta",)
    references = (MATH,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(zeta)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Exponents on both sides of 1, whole ones among them."""
        dtype, shape = draw.choose(FLOATS[:2]), draw.shape(0, 2)
        s = draw.tensor(shape, (dtype,), edges=False).abs() * draw.choose((1.0, 4.0, 10.0))
        s = s.round() + 1 if draw.flag() else s
        return (s, spread(draw, shape, (dtype,), (-2.0, 9.0), (1.0, 10.0, 0.1))), {}


class PolygammaByZeta(LgammaByPolynomials):
    """``(-1) ** (n + 1) * n! * zeta(n + 1, x)``, and series of their own for n of 0 and 1.

    As PyTorch's kernel does it; the gradient is ``polygamma(n + 1, x)``. With ``n`` above 6 the
    zeta function underflows in float32 where ``n!`` times it does not. Results are within 256 eps.
    """

    name = "polygamma-by-zeta"
    tolerance = 2048.0  # of the smallest gradients: n! times what is rounded to few digits
    scales = (1.0, 10.0, 0.1)
    replaces = ("aten::polygamma",)
    summary = "Write it with the zeta function"
    spellings = ("torch.polygamma", "torch.special.polygamma")
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"Tensor.polygamma": polygamma_of}
    references = (MATH,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(polygamma)

    def refuses(self, call: Call) -> str:
        """Decline complex numbers, orders that are none, and those that leave no digits."""
        if call.args[0] > _HIGHEST:
            return Sentence("the order is above {number}", number=_HIGHEST)
        return "the order is negative" if call.args[0] < 0 else super().refuses(call)

    def example(self, op: str, draw: Draw) -> Arguments:
        """The first orders."""
        (x,), given = super().example(op, draw)
        return (draw.integer(0, 5), x), given
