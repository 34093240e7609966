"""How many digits ``lgamma-by-polynomials`` keeps next to 0 and next to the zeros of lgamma."""

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.rules.special_functions.gamma import LgammaByPolynomials

UNITS = 4.0
"""Of the last place; the label has room for logarithms of other hosts."""
each_dtype = pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16]
)


def _next_to(place: float, dtype: torch.dtype) -> Tensor:
    """Numbers on both sides: the very next ones, and up to 0.1 off."""
    apart = torch.logspace(-18, -1, 400, dtype=torch.float64)
    near = [torch.tensor([place], dtype=dtype)]
    for towards in (-9.0, 9.0):
        beside = near[0]
        for _ in range(50):
            beside = torch.nextafter(beside, torch.full_like(beside, towards))
            near.append(beside)
    return torch.cat([*near, (place - apart).to(dtype), (place + apart).to(dtype)])


def _off(x: Tensor) -> tuple[Tensor, Tensor]:
    """What PyTorch gives, and how far the rule is off from that, in ``eps``."""
    wanted, found = torch.lgamma(x).double(), LgammaByPolynomials.replace(x).double()
    away = torch.where(wanted == found, 0.0, (wanted - found).abs())
    return wanted.abs(), away / torch.finfo(x.dtype).eps


@each_dtype
@pytest.mark.parametrize("place", [1.0, 2.0])
def test_the_error_is_relative_next_to_zeros_above_0(place: float, dtype: torch.dtype) -> None:
    size, off = _off(_next_to(place, dtype))
    assert bool((off <= UNITS * size).all())


@each_dtype
def test_the_error_is_relative_next_to_0(dtype: torch.dtype) -> None:
    """It is ``-log|x|`` less Euler's constant times x: that much was missing below 1e-10."""
    apart = torch.logspace(-300, -1, 2000, dtype=torch.float64)
    size, off = _off(torch.cat([apart, -apart]).to(dtype))
    assert bool((off <= UNITS * size).all())


@each_dtype
@pytest.mark.parametrize("place", [-2.4570247382208, -2.7476826467274, -3.14358088835])
def test_the_error_is_absolute_next_to_zeros_below_0(place: float, dtype: torch.dtype) -> None:
    size, off = _off(_next_to(place, dtype))
    assert bool((off <= UNITS * size.clamp(min=1.0)).all())
