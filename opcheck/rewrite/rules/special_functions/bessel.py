"""Bessel and Airy functions by the rational functions that PyTorch's kernels use."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import MATH, Pointwise, special_names
from opcheck.rewrite.draw import FLOATS

# fmt: off
_J0_RP = (
    -4794432209.782018, 1956174919465.5657, -249248344360967.72, 9708622510473064.0,
)
_J0_RQ = (
    499.563147152651, 173785.4016763747, 48440965.83399621, 11185553704.535683, 2112775201154.892,
    310518229857422.56, 3.1812195594320496e+16, 1.7108629408104315e+18,
)
_J0_PP = (
    0.0007969367292973471, 0.08283523921074408, 1.239533716464143, 5.447250030587687,
    8.74716500199817, 5.303240382353949, 1.0,
)
_J0_PQ = (
    0.0009244088105588637, 0.08562884743544745, 1.2535274390105895, 5.470977403304171,
    8.761908832370695, 5.306052882353947, 1.0,
)
_J0_QP = (
    -0.011366383889846916, -1.2825271867050931, -19.553954425773597, -93.20601521237683,
    -177.68116798048806, -147.07750515495118, -51.41053267665993, -6.050143506007285,
)
_J0_QQ = (
    64.3178256118178, 856.4300259769806, 3882.4018360540163, 7240.467741956525, 5930.727011873169,
    2062.0933166032783, 242.0057402402914,
)
_J1_RP = (
    -899971225.7055594, 452228297998.19403, -72749424522181.83, 3682957328638529.0,
)
_J1_RQ = (
    620.8364781180543, 256987.25675774884, 83514679.14319493, 22151159547.97925,
    4749141220799.914, 784369607876235.9, 8.952223361846274e+16, 5.322786203326801e+18,
)
_J1_PP = (
    0.0007621256162081731, 0.07313970569409176, 1.1271960812968493, 5.112079511468076,
    8.424045901417724, 5.214515986823615, 1.0,
)
_J1_PQ = (
    0.0005713231280725487, 0.06884559087544954, 1.105142326340617, 5.073863861286015,
    8.399855543276042, 5.209828486823619, 1.0,
)
_J1_QP = (
    0.05108625947501766, 4.982138729512334, 75.82382841325453, 366.7796093601508,
    710.8563049989261, 597.4896124006136, 211.68875710057213, 25.207020585802372,
)
_J1_QQ = (
    74.23732770356752, 1056.4488603826283, 4986.410583376536, 9562.318924047562,
    7997.041604473507, 2826.1927851763908, 336.0936078106983,
)
_Y0_YP = (
    15592.436785523574, -14663929.59039716, 5435264770.518765, -982136065717.9115,
    87590639439536.7, -3466283033847297.0, 4.4273326857256984e+16, -1.8495080043698668e+16,
)
_Y0_YQ = (
    1041.2835366425984, 626107.330137135, 268919633.39381415, 86400248710.3935,
    20297961275010.555, 3171577528429750.5, 2.5059625617265306e+17,
)
_Y1_YP = (
    1263204747.9017804, -647355876379.1603, 114509511541823.73, -8127702555013251.0,
    2.024394757135949e+17, -7.788771962659501e+17,
)
_Y1_YQ = (
    594.3015923461282, 235564.09294306856, 73481194.44597217, 18760131610.870617,
    3882312774962.3857, 620557727146953.8, 6.871410873553005e+16, 3.9727060811656064e+18,
)
# fmt: on


def _polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """By Horner's rule, the highest power first."""
    found = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        found = found * x + coefficient
    return found


def _ratio(x: Tensor, above: Sequence[float], below: Sequence[float]) -> Tensor:
    return _polynomial(x, above) / _polynomial(x, below)


def _real(x: Tensor) -> Tensor:
    """In float32 at least, and outside of autograd: PyTorch has no derivatives either."""
    return x.detach() if x.dtype in (torch.float32, torch.float64) else x.detach().float()


def _as(found: Tensor, x: Tensor) -> Tensor:
    return found.to(x.dtype if x.is_floating_point() else torch.get_default_dtype())


def _j0(x: Tensor) -> Tensor:
    x = x.abs()
    square, angle, inverse = x * x, x - math.pi / 4, 25.0 / (x * x)
    near = (square - 5.78318596294678452118) * (square - 30.4712623436620863991)
    near = near * _polynomial(square, _J0_RP) / _polynomial(square, _J0_RQ)
    near = torch.where(x < 0.00001, 1 - square / 4, near)
    even, odd = _ratio(inverse, _J0_PP, _J0_PQ), _ratio(inverse, _J0_QP, _J0_QQ)
    far = even * angle.cos() - 5.0 / x * odd * angle.sin()
    return torch.where(x <= 5, near, far * math.sqrt(2 / math.pi) / x.sqrt())


def _j1(x: Tensor) -> Tensor:
    size = x.abs()
    square, angle, inverse = size * size, size - 3 * math.pi / 4, 5.0 / size * (5.0 / size)
    near = _ratio(square, _J1_RP, _J1_RQ) * size
    near = near * (square - 14.6819706421238932572) * (square - 49.2184563216946036703)
    even, odd = _ratio(inverse, _J1_PP, _J1_PQ), _ratio(inverse, _J1_QP, _J1_QQ)
    far = even * angle.cos() - 5.0 / size * odd * angle.sin()
    found = torch.where(size <= 5, near, far * math.sqrt(2 / math.pi) / size.sqrt())
    return torch.where(x < 0, -found, found)


def _y0(x: Tensor) -> Tensor:
    square, angle, inverse = x * x, x - math.pi / 4, 25.0 / (x * x)
    near = _ratio(square, _Y0_YP, _Y0_YQ) + 2 / math.pi * x.log() * _j0(x)
    even, odd = _ratio(inverse, _J0_PP, _J0_PQ), _ratio(inverse, _J0_QP, _J0_QQ)
    far = even * angle.sin() + 5.0 / x * odd * angle.cos()
    found = torch.where(x <= 5, near, far * math.sqrt(2 / math.pi) / x.sqrt())
    return torch.where(x == 0, torch.full_like(x, -math.inf), found)


def _y1(x: Tensor) -> Tensor:
    square, angle, inverse = x * x, x - 3 * math.pi / 4, 5.0 / x * (5.0 / x)
    near = x * _ratio(square, _Y1_YP, _Y1_YQ) + 2 / math.pi * (_j1(x) * x.log() - 1 / x)
    even, odd = _ratio(inverse, _J1_PP, _J1_PQ), _ratio(inverse, _J1_QP, _J1_QQ)
    far = even * angle.sin() + 5.0 / x * odd * angle.cos()
    found = torch.where(x <= 5, near, far * math.sqrt(2 / math.pi) / x.sqrt())
    return torch.where(x == 0, torch.full_like(x, -math.inf), found)


def bessel_j0(self: Tensor) -> Tensor:
    """A rational function up to 5, waves from there on."""
    return _as(_j0(_real(self)), self)


def bessel_j1(self: Tensor) -> Tensor:
    """A rational function up to 5, waves from there on."""
    return _as(_j1(_real(self)), self)


def bessel_y0(self: Tensor) -> Tensor:
    """A rational function and a logarithm up to 5, waves from there on."""
    return _as(_y0(_real(self)), self)


def bessel_y1(self: Tensor) -> Tensor:
    """A rational function and a logarithm up to 5, waves from there on."""
    return _as(_y1(_real(self)), self)


def spherical_bessel_j0(x: Tensor) -> Tensor:
    """The sine over x, near 0 the first terms of its series."""
    given = _real(x)
    square = given * given
    series = torch.ones_like(square)
    for term in (13, 11, 9, 7, 5, 3):
        series = 1 - square / (term * (term - 1)) * series
    found = torch.where(given.abs() < 0.5, series, given.sin() / given)
    return _as(torch.where(given.abs() == math.inf, torch.zeros_like(given), found), x)


class BesselByRatios(Pointwise):
    """Up to 5 a rational function, with the zeros as factors or with a logarithm, then waves.

    ``y0`` and ``y1`` have ``j0`` and ``j1`` times a logarithm there. Coefficients and joints are
    those of PyTorch's kernels, taken from Cephes; PyTorch has no derivative, so there is none here.
    """

    name = "bessel-by-ratios"
    tolerance = 64.0
    dtypes: ClassVar[tuple[torch.dtype, ...]] = (*FLOATS[:2], torch.int64)
    marks: ClassVar[tuple[float, ...]] = (5.0, 1e-6, 2.4)
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::special_bessel_j0": bessel_j0,
        "aten::special_bessel_j1": bessel_j1,
        "aten::special_bessel_y0": bessel_y0,
        "aten::special_bessel_y1": bessel_y1,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = special_names(functions)
    summary = "Write it with the rational functions of PyTorch's kernel"
    references: ClassVar[tuple[str, ...]] = (MATH,)


class SphericalBesselJ0BySine(Pointwise):
    """``sin(x) / x``, below a half the first seven terms of its series."""

    name = "spherical-bessel-j0-by-sine"
    tolerance = 64.0
    dtypes: ClassVar[tuple[torch.dtype, ...]] = (*FLOATS[:2], torch.int64)
    marks = (0.5, 3.1415927)
    replaces = ("aten::special_spherical_bessel_j0",)
    summary = "Divide the sine by x, and take its series near 0"
    spellings = ("torch.special.spherical_bessel_j0",)
    replace = staticmethod(spherical_bessel_j0)


# fmt: off
_AN = (
    0.346538101525629, 12.007595273964581, 76.27960536152345, 168.08922493463058,
    159.75639135016442, 70.53609068404442, 14.026469116338967, 1.0,
)
_AD = (
    0.5675945326387702, 14.75625625848472, 84.51389701414746, 177.31808814540045,
    164.2346928715297, 71.47784008255756, 14.095913560783403, 1.0,
)
_AFN = (
    -0.1316963234183318, -0.6264565444319123, -0.6931580360369335, -0.2797799815451191,
    -0.04919001326095003, -0.004062659235948854, -0.0001592764962392621, -2.776491081552329e-06,
    -1.6778769848911465e-08,
)
_AFD = (
    13.356042070655324, 32.682503279522464, 26.736704094149957, 9.187074029072596,
    1.4752914677166642, 0.11568717379518804, 0.004402916416152112, 7.547203482874142e-05,
    4.5185009297058035e-07,
)
_AGN = (
    0.01973399320916857, 0.39110302961568827, 1.0657989759959559, 0.9391692298166502,
    0.35146565610554764, 0.06338889196289255, 0.005858041130483885, 0.000282851600836737,
    6.98793669997261e-06, 8.117892395543892e-08, 3.415517847659236e-10,
)
_AGD = (
    9.30892908077442, 19.835292871831214, 15.564662893286462, 5.476860694229755,
    0.9542936116189619, 0.08645808263523921, 0.004126565238242226, 0.00010125908511650914,
    1.1716673321441352e-06, 4.9183457006293e-09,
)
# fmt: on


def _airy_ratio(x: Tensor, above: Sequence[float], below: Sequence[float]) -> Tensor:
    parts = []
    for table in (above, below):
        found = torch.full_like(x, table[0])
        for coefficient in table[1:]:
            found = found * x + coefficient
        parts.append(found)
    return parts[0] / parts[1]


def airy_ai(x: Tensor) -> Tensor:
    """Waves below -2.09, a power series up to 2.09, a decay beyond."""
    real = x.detach() if x.dtype in (torch.float32, torch.float64) else x.detach().float()
    far = real.abs() == math.inf
    given = torch.where(far, torch.zeros_like(real), real)
    found = torch.where(given < 2.09, _near(given), _decay(given))
    found = torch.where(given < -2.09, _waves(given), found)
    found = torch.where(given > 103.892, torch.zeros_like(given), found)
    found = torch.where(far, torch.full_like(found, math.nan), found)
    return found.to(x.dtype if x.is_floating_point() else torch.get_default_dtype())


def _waves(x: Tensor) -> Tensor:
    root = (-x).sqrt()
    angle = -2 * x * root / 3
    z = 1 / angle
    even, odd = 1 + z * z * _airy_ratio(z * z, _AFN, _AFD), z * _airy_ratio(z * z, _AGN, _AGD)
    angle = angle + math.pi / 4
    return 0.564189583547756286948 / root.sqrt() * (angle.sin() * even - angle.cos() * odd)


def _decay(x: Tensor) -> Tensor:
    angle = 2 * x * x.sqrt() / 3
    above = 0.564189583547756286948 * _airy_ratio(1 / angle, _AN, _AD)
    return above / (2 * x.sqrt().sqrt() * angle.exp())


def _near(x: Tensor) -> Tensor:
    """Both series, as many terms as any x up to 2.09 needs."""
    cube = x * x * x
    first, second, one, other = torch.ones_like(x), x, torch.ones_like(x), x
    for k in range(2, 2 + 3 * 15, 3):
        one, other = one * cube / (k * (k + 1)), other * cube / ((k + 1) * (k + 2))
        first, second = first + one, second + other
    return 0.355028053887817239260 * first - 0.258819403792806798405 * second


class AiryAiByRatios(Pointwise):
    """Waves below -2.09, the power series between, and a decay from 2.09 on.

    Coefficients and joints are those of PyTorch's kernel, taken from Cephes; the series takes 15
    terms, which is enough up to its end. PyTorch has no derivative, so there is none here.
    Where waves are close, far below 0, both lose digits with the angle.
    """

    name = "airy-ai-by-ratios"
    tolerance = 1024.0
    scales = (1.0, 10.0, 0.01, 1e-20)
    dtypes: ClassVar[tuple[torch.dtype, ...]] = (*FLOATS[:2], torch.int64)
    marks: ClassVar[tuple[float, ...]] = (2.09, -2.09, 8.33, 104.0)
    replaces: ClassVar[tuple[str, ...]] = ("aten::special_airy_ai",)
    summary = "Write it with the rational functions of PyTorch's kernel"
    spellings: ClassVar[tuple[str, ...]] = ("torch.special.airy_ai",)
    references: ClassVar[tuple[str, ...]] = (MATH,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(airy_ai)
