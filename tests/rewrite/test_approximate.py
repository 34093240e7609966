"""Approximate rules for single numbers against what they promise: how far off, and where else."""

import math
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Pointwise, Rule, rules
from opcheck.rewrite.draw import INTEGERS
from opcheck.rewrite.rules.pointwise.integers import GcdByEuclid, LcmByEuclid
from opcheck.rewrite.rules.special_functions.incomplete_gamma import IncompleteGammaBySeries
from opcheck.rewrite.rules.special_functions.polynomials import (
    LARGEST,
    ChebyshevByAngle,
    PolynomialsByRecurrence,
)
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.elements import arguments, beyond, numbers, same

RULES = [
    rule
    for rule in rules()
    if rule.label is Label.APPROXIMATE and isinstance(rule, Pointwise) and not rule.random
]
DEGREES = (-1, 0, 1, 2, 5, 8, 9, 10, 17, 25, 40)
FAR = (100, 1000)
LAGUERRE = "aten::special_laguerre_polynomial_l"
each_float = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def of(kind: type[Rule]) -> pytest.MarkDecorator:
    """Run a test for every overload that approximate rules of a kind replace."""
    mine = [(rule, op) for rule in RULES if isinstance(rule, kind) for op in rule.replaces]
    assert mine
    return pytest.mark.parametrize(("rule", "op"), mine, ids=[op for _, op in mine])


def _original(op: str) -> Callable[..., Tensor]:
    original: Callable[..., Tensor] = overload_named(op)
    return original


def _polynomials(
    rule: Rule, op: str, dtype: torch.dtype, degrees: tuple[int, ...]
) -> Iterator[tuple[int, Tensor, Tensor, Tensor]]:
    """Degrees, numbers, what the operator gives, and what the rule gives where neither overflows.

    For NaN the operator's own result is undefined.
    """
    every = numbers(dtype)
    x = torch.cat(
        [every[every == every], torch.linspace(-1, 1, 501, dtype=torch.float64).to(dtype)]
    )
    for degree in degrees:
        n = torch.full_like(x, degree)
        wanted, found = _original(op)(x, n), rule.function(op)(x, n)
        most = torch.finfo(dtype).max / 1e6
        overflown = (wanted.abs() > most) | (found.abs() > most)
        assert bool((found.isfinite() | overflown | (wanted != wanted)).all())
        there = wanted.isfinite() & found.isfinite() & ~overflown
        yield degree, x[there], wanted[there], found[there]


def _scaled(
    rule: Rule, op: str, dtype: torch.dtype, degrees: tuple[int, ...]
) -> Iterator[tuple[int, float]]:
    """How far off each degree is in ``eps``, of the value or of the largest between -1 and 1."""
    for degree, x, wanted, found in _polynomials(rule, op, dtype, degrees):
        inside = wanted[x.abs() <= 1].abs()
        largest = inside.max() if len(inside) else wanted.new_ones(())
        scale = torch.maximum(wanted.abs(), largest.clamp(min=1)).double()
        off = ((wanted.double() - found.double()).abs() / scale).max()
        yield degree, float(off) / torch.finfo(dtype).eps


def test_every_approximate_rule_is_held() -> None:
    kinds = (ChebyshevByAngle, IncompleteGammaBySeries, GcdByEuclid, PolynomialsByRecurrence)
    assert [rule.name for rule in RULES if not isinstance(rule, kinds)] == []


@of(ChebyshevByAngle)
@each_float
def test_angles_are_off_by_the_square_of_the_degree(
    rule: Rule, op: str, dtype: torch.dtype
) -> None:
    for degree, off in _scaled(rule, op, dtype, (*DEGREES, *FAR)):
        assert off <= 16 * (degree + 2) ** 2, degree


@of(PolynomialsByRecurrence)
@each_float
def test_laguerre_is_off_by_the_square_of_the_degree(
    rule: Rule, op: str, dtype: torch.dtype
) -> None:
    if op != LAGUERRE:
        return  # its digits are kept; held below
    for degree, off in _scaled(rule, op, dtype, DEGREES):
        assert off <= 16 * (degree + 2) ** 2, degree


@of(PolynomialsByRecurrence)
@each_float
def test_a_recurrence_keeps_its_digits(rule: Rule, op: str, dtype: torch.dtype) -> None:
    if op == LAGUERRE:
        return  # it cancels; held above
    for degree, x, _, found in _polynomials(rule, op, dtype, DEGREES):
        n = degree

        def original(y: Tensor, n: int = n) -> Tensor:
            return _original(op)(y, torch.full_like(y, n))

        assert x[beyond(original, [x], found, 16.0)].tolist() == [], degree


@of(PolynomialsByRecurrence)
def test_degrees_above_the_largest_are_nan(rule: Rule, op: str) -> None:
    x = torch.tensor([0.5, 1.0])
    assert bool(rule.function(op)(x, torch.full_like(x, LARGEST + 1)).isnan().all())


@of(IncompleteGammaBySeries)
@each_float
def test_incomplete_gammas_are_off_by_units_of_one(rule: Rule, op: str, dtype: torch.dtype) -> None:
    a, x = (given.abs() for given in arguments(2, dtype))
    grid = torch.logspace(-3, 3, 60, dtype=torch.float64).to(dtype)
    first, other = (given.flatten() for given in torch.meshgrid(grid, grid, indexing="ij"))
    near = [first * (1 + apart) for apart in (-0.3, -0.01, 0.0, 0.01, 0.3)]
    a = torch.cat([a, first, *(first for _ in near)])
    x = torch.cat([x, other, *near])
    wanted, found = _original(op)(a, x), rule.function(op)(a, x)
    off = (wanted.double() - found.double()).abs() <= 1024 * torch.finfo(dtype).eps
    held = off | same(wanted, found)
    held |= (wanted != wanted) & ((found == 0) | (found == 1)) & (a > 1e37)
    assert [(float(a[i]), float(x[i])) for i in (~held).nonzero().flatten()] == []


@of(GcdByEuclid)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisors_are_exact_but_for_the_sign(rule: Rule, op: str, dtype: torch.dtype) -> None:
    """Of the most negative number, whose absolute value is none; PyTorch's lcm of it may crash."""
    a, b = arguments(2, dtype)
    least = torch.iinfo(dtype).min
    edge = (a == least) | (b == least) if least else torch.zeros_like(a, dtype=torch.bool)
    if isinstance(rule, LcmByEuclid):
        a, b, edge = a[~edge], b[~edge], edge[~edge]
    wanted, found = _original(op)(a, b), rule.function(op)(a, b)
    assert bool(((wanted == found) | (edge & (wanted == -found))).all())
    assert math.isfinite(float(found.double().sum()))
