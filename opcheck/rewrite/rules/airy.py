"""The Airy function by the rational functions that PyTorch's kernel uses."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.draw import FLOATS
from opcheck.rewrite.pointwise import MATH, Pointwise

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


def _ratio(x: Tensor, above: Sequence[float], below: Sequence[float]) -> Tensor:
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
    even, odd = 1 + z * z * _ratio(z * z, _AFN, _AFD), z * _ratio(z * z, _AGN, _AGD)
    angle = angle + math.pi / 4
    return 0.564189583547756286948 / root.sqrt() * (angle.sin() * even - angle.cos() * odd)


def _decay(x: Tensor) -> Tensor:
    angle = 2 * x * x.sqrt() / 3
    above = 0.564189583547756286948 * _ratio(1 / angle, _AN, _AD)
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
