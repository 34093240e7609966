"""Regularized incomplete gamma functions: a series, a continued fraction, and Temme's expansion."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import MATH, Arguments, Pointwise, spread
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
_ONE_ABOVE = (
    0.013381091853678766, 0.22896372806469245, 0.9777175279633727, 1.4549225013723477,
    0.6328270640250934, -0.07721566490153287,
)
_ONE_BELOW = (
    0.003217092422824239, 0.10422264559336913, 0.7692851504566728, 2.128489763798934,
    2.4559779371304113, 1.0,
)
_STIRLING = (
    -0.0016309293409657527, 0.0008363399189962821, -0.00059518755745034, 0.0007936505586430196,
    -0.0027777777772877554, 0.08333333333333297,
)
_TEMME = (
    (
        -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073,
        0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05,
        -2.1854485106799924e-06, -1.85406221071516e-06, 8.296711340953087e-07,
        -1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08,
        -4.382036018453353e-09, 9.14769958223679e-10,
    ),
    (
        -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454,
        -0.0009902263374485596, 0.00020576131687242798, -4.018775720164609e-07,
        -1.8098550334489977e-05, 7.64916091608111e-06, -1.6120900894563446e-06,
        4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08,
        1.1951628599778148e-08,
    ),
    (
        0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049,
        2.0093878600823047e-06, -0.00010736653226365161, 5.2923448829120125e-05,
        -1.2760635188618728e-05, 3.423578734096138e-08, 1.3721957309062932e-06,
        -6.298992138380055e-07, 1.4280614206064242e-07,
    ),
    (
        0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557,
        0.00026772063206283885, -7.561801671883977e-05, -2.396505113867297e-07,
        1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06,
        -2.7861080291528143e-11, -1.6958404091930278e-07,
    ),
    (
        -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902,
        -1.4638452578843418e-06, 6.641498215465122e-05, -3.968365047179435e-05,
        1.1375726970678419e-05, 2.507497226237533e-10, -1.6954149536558305e-06,
        8.907507532205309e-07,
    ),
    (
        -0.00033679855336635813, -6.972813758365858e-05, 0.0002772753244959392,
        -0.00019932570516188847, 6.797780477937208e-05, 1.419062920643967e-07,
        -1.3594048189768693e-05, 8.018470256334202e-06,
    ),
    (
        0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045,
        7.902353232660328e-07, -8.153969367561969e-05, 5.61168275310625e-05,
        -1.8329116582843375e-05,
    ),
    (
        0.00034436760689237765, 5.171790908260592e-05, -0.00033493161081142234,
        0.0002812695154763237, -0.00010976582244684731,
    ),
    (
        -0.0006526239185953094, 0.0008394987206720873, -0.000438297098541721,
    ),
    (
        -0.0005967612901927463,
    ),
)
_PI = 3.1415927410125732
"""In float32, as PyTorch's kernel has it here."""
# fmt: on


def _polynomial(x: Tensor, table: Sequence[float]) -> Tensor:
    found = torch.full_like(x, table[0])
    for coefficient in table[1:]:
        found = found * x + coefficient
    return found


def _ratio(x: Tensor, above: Sequence[float], below: Sequence[float]) -> Tensor:
    return _polynomial(x, above) / _polynomial(x, below)


def _erfc(x: Tensor) -> Tensor:
    size = x.abs()
    inverse = 1 / (size * size)
    far = (1 / math.sqrt(math.pi) - inverse * _ratio(inverse, _FAR_ABOVE, _FAR_BELOW)) / size
    coarse = (size * 16).floor() / 16
    bell = (-coarse * coarse).exp() * (-(size - coarse) * (size + coarse)).exp()
    far = bell * torch.where(size <= 4, _ratio(size, _MID_ABOVE, _MID_BELOW), far)
    far = torch.where(size > 30, torch.zeros_like(x), far)
    near = 1 - x * _ratio(x * x, _NEAR_ABOVE, _NEAR_BELOW)
    return torch.where(size <= 0.46875, near, torch.where(x < 0, 2 - far, far))


def _expm1(x: Tensor) -> Tensor:
    power = x.exp()
    less = power - 1
    exact = (less == 0) | (less == -1)
    found = less * (x / torch.where(exact, torch.full_like(x, 2.0), power).log())
    return torch.where(less == 0, x, torch.where(exact, less, found))


def _correction(a: Tensor) -> Tensor:
    """What Stirling's formula leaves, from 8 on."""
    return _polynomial(1 / (a * a), _STIRLING) / a


def _lgamma(a: Tensor) -> Tensor:
    """Of positive numbers, without digits next to 1 and 2."""
    small, product = a < 8, torch.ones_like(a)
    for k in range(8):
        product = product * torch.where(small, a + k, product * 0 + 1)
    large = torch.where(small, a + 8, a)
    found = (large - 0.5) * (large.log() - 1) + 0.41893853320467272505 + _correction(large)
    return found - product.log()


def _weight(a: Tensor, x: Tensor) -> Tensor:
    """x^a exp(-x) over the gamma function of a."""
    large = torch.where(a < 8, torch.full_like(a, 8.0), a)
    over = large * (x / large).log() - (x - large) - _correction(large)
    over = over + (large / (2 * math.pi)).log() / 2
    power = torch.where(a < 8, a * x.log() - x - _lgamma(a), over)
    least = -709.782712893384 if _wide(a) else -88.72283905206835
    return torch.where(power < least, torch.zeros_like(a), power.exp())


def _wide(a: Tensor) -> bool:
    return a.dtype == torch.float64


def _lower_series(a: Tensor, x: Tensor) -> Tensor:
    term, total = torch.ones_like(a), torch.ones_like(a)
    for k in range(1, 101 if _wide(a) else 51):
        term = term * (x / (a + k))
        total = total + term
    return total * _weight(a, x) / a


def _upper_fraction(a: Tensor, x: Tensor) -> Tensor:
    rest = torch.zeros_like(a)
    for k in range(90 if _wide(a) else 30, 0, -1):
        rest = k * (k - a) / (x + (2 * k + 1) - a - rest)
    return _weight(a, x) / (x + 1 - a - rest)


def _upper_series(a: Tensor, x: Tensor) -> Tensor:
    """Where both are small: without subtracting from 1."""
    factor, total = torch.ones_like(a), torch.zeros_like(a)
    for k in range(1, 21 if _wide(a) else 13):
        factor = factor * (-x / k)
        total = total + factor / (a + k)
    near = torch.where(a < 0.23, a, torch.zeros_like(a))
    one = near * _ratio(near, _ONE_ABOVE, _ONE_BELOW) - near / 2
    power = a * x.log() - torch.where(a < 0.23, one, _lgamma(1 + a))
    return -_expm1(power) - a * power.exp() * total


def _temme(a: Tensor, x: Tensor, sign: int) -> Tensor:
    """The expansion for large a and x near it: the lower function by -1, the upper one by 1."""
    apart = (x - a) / a
    part = apart / (2 + apart)
    square, series = part * part, torch.zeros_like(a)
    for k in range(27, 1, -2):
        series = series * square + 1 / k
    less = apart * part - 2 * part * square * series  # apart - log(1 + apart)
    eta = torch.where(apart < 0, -(2 * less).sqrt(), (2 * less).sqrt())
    rows = _TEMME if _wide(a) else [row[:9] for row in _TEMME[:4]]
    total = torch.zeros_like(a)
    for row in reversed(rows):
        total = total / a + _polynomial(eta, row[::-1])
    bell = (-a * less).exp() / (2 * _PI * a).sqrt()
    return 0.5 * _erfc(sign * eta * (a / 2).sqrt()) + sign * bell * total


def _incomplete(a: Tensor, x: Tensor, upper: bool) -> Tensor:
    usual = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
    b, y = torch.where(usual, a, torch.ones_like(a)), torch.where(usual, x, torch.ones_like(x))
    series = _lower_series(b, y)
    low = torch.where(y <= 0.5, -0.4 / y.log() < b, y * 1.1 < b)
    small = torch.where(low, 1 - series, _upper_series(b, y))
    tail = torch.where(y > 1.1, torch.where(y < b, 1 - series, _upper_fraction(b, y)), small)
    found = tail if upper else torch.where((y > 1) & (y > b), 1 - tail, series)
    even = (b > 20) & ((y - b).abs() < 0.3 * b)
    most = torch.where(even, b, torch.full_like(b, 100.0))
    near = torch.where(even, y, torch.full_like(b, 100.0))
    found = torch.where(even, _temme(most, near, 1 if upper else -1), found)
    return torch.where(usual, found, _edge(a, x, upper))


def _edge(a: Tensor, x: Tensor, upper: bool) -> Tensor:
    nothing, everything = (1.0, 0.0) if upper else (0.0, 1.0)
    found = torch.full_like(a, math.nan)
    found = torch.where(x == math.inf, torch.full_like(a, everything), found)
    found = torch.where((a == math.inf) | (x == 0), torch.full_like(a, nothing), found)
    found = torch.where((a == 0) & (x > 0), torch.full_like(a, everything), found)
    lost = (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | ((a == math.inf) & (x == math.inf))
    return torch.where(lost, torch.full_like(a, math.nan), found)


class _Incomplete(torch.autograd.Function):
    """Either function; PyTorch has no derivative by the first argument."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, x: Tensor, upper: bool) -> Tensor:
        """Compute it in float32 at least."""
        ctx.save_for_backward(a, x)
        ctx.sign = -1 if upper else 1
        wide = torch.float64 if a.dtype == torch.float64 else torch.float32
        return _incomplete(a.to(wide), x.to(wide), upper).to(a.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, None]:
        """Take the integrand."""
        a, x = ctx.saved_tensors
        return None, ctx.sign * grad * ((a - 1) * x.log() - x - _lgamma(a)).exp(), None


def _given(a: Tensor, x: Tensor, upper: bool) -> Tensor:
    dtype = torch.result_type(a, x)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    b, y = torch.broadcast_tensors(a.detach().to(dtype), x.to(dtype))
    found: Tensor = _Incomplete.apply(b, y, upper)  # type: ignore[no-untyped-call]
    return found


def igamma(self: Tensor, other: Tensor) -> Tensor:
    """The lower one."""
    return _given(self, other, upper=False)


def igammac(self: Tensor, other: Tensor) -> Tensor:
    """The upper one."""
    return _given(self, other, upper=True)


class IncompleteGammaBySeries(Pointwise):
    """A series, a continued fraction and, for large a near x, Temme's uniform expansion.

    They are chosen as in PyTorch's kernel, with as many terms as the slowest place needs: about
    1,000 calls in float32. Temme's coefficients are the kernel's, as far as they matter from 20
    on. In float32 either is off by as much as rounding widens in ``x ** a``. The error is at most
    1024 ``eps`` of 1, the largest value there is: small results may have no digits. ``igammac`` is
    not subtracted from 1 where it is small.
    """

    name = "incomplete-gamma-by-series"
    label = Label.APPROXIMATE
    tolerance = 0.0
    gives_up = (
        "0 or 1 stands for NaN where a is beyond 1e37, and digits are lost where both are tiny"
    )
    dtypes: ClassVar[tuple[torch.dtype, ...]] = FLOATS[:2]
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::igamma": igamma,
        "aten::igammac": igammac,
    }
    replaces = tuple(functions)
    summary = "Add a series, a continued fraction and Temme's expansion"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.igamma": igamma,
        "Tensor.igamma": igamma,
        "torch.special.gammainc": igamma,
        "torch.igammac": igammac,
        "Tensor.igammac": igammac,
        "torch.special.gammaincc": igammac,
    }
    references: ClassVar[tuple[str, ...]] = (MATH, "https://dlmf.nist.gov/8.12")

    def example(self, op: str, draw: Draw) -> Arguments:
        """Near each other and apart, up to some hundreds."""
        dtype, shape = draw.choose(self.dtypes), draw.shape(0, 2)
        a = spread(draw, shape, (dtype,), (20.0, 0.1), (1.0, 10.0, 100.0, 0.1)).abs()
        a = torch.where((a < 1e-30) | (a > 1e30), a.round() ** 9, a)  # 0 or infinite
        if draw.flag():
            ratio = draw.tensor(shape, (dtype,), edges=False) * 0.2
            return (a, a * ratio.exp()), {}
        return (a, spread(draw, shape, (dtype,), (1.1, 0.5), (1.0, 10.0, 100.0, 0.1))), {}
