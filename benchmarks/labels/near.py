"""Where numbers are as near to those of an operator as a label promises."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tests.rewrite.elements import same, spaced

Function = Callable[..., Tensor]


def near(
    function: Function,
    given: Sequence[Tensor],
    found: Tensor,
    units: float,
    *,
    zeros: bool = True,
    floor: float = 0.0,
) -> Tensor:
    """Where ``found`` is what ``function`` gives, or within ``units`` of it.

    A unit is ``eps`` of the wanted number, and what the function itself changes by while an
    argument goes to one of its two neighbours on either side: next to a zero, and where it is
    steep, nothing can be nearer.

    Args:
        function: of the dtype of ``found``, or of a wider one.
        given: what it is given.
        found: what is judged.
        units: how many; 0 for the same bits.
        zeros: whether zeros of other signs differ.
        floor: numbers are as this one at least, where they are measured.
    """
    wanted = function(*given)
    right = same(wanted.to(found.dtype), found)
    if not found.is_floating_point():
        return right
    exact, there = wanted.to(found.dtype).double(), found.double()
    right |= (exact == there) & (torch.ones_like(right) if not zeros or units else False)
    if not units:
        return right
    limits = torch.finfo(found.dtype)
    wide = wanted.double()
    allowed = units * limits.eps * wide.abs().clamp(min=max(floor, limits.smallest_normal))
    for steps in (1, 2):  # where it swings, one neighbour may be near by chance
        for index in range(len(given)):
            for towards in (math.inf, -math.inf):
                beside = _beside(given, index, towards, found.dtype, steps)
                change = (function(*beside).double() - wide).abs()
                allowed = allowed + units * torch.where(change.isfinite(), change, 0.0)
        right |= (wide - there).abs() <= allowed
        if bool(right.all()):
            break
    return right


def _beside(
    given: Sequence[Tensor], index: int, towards: float, dtype: torch.dtype, steps: int
) -> list[Tensor]:
    """The same arguments, one of them moved to a neighbour in ``dtype``."""
    moved = list(given)
    beside = moved[index].to(dtype)
    for _ in range(steps):
        beside = torch.nextafter(beside, torch.full_like(beside, towards))
    moved[index] = beside.to(given[index].dtype) if given[index].is_floating_point() else beside
    return moved


def one_by_one(function: Function) -> Function:
    """A function of the same tensors, whose kernel takes them one by one."""
    return lambda *tensors: function(*map(spaced, tensors))


def as_the_operator(
    function: Function, given: Sequence[Tensor], found: Tensor, units: float, floor: float = 0.0
) -> Tensor:
    """Where ``found`` is near to the operator: in vectors, one by one, or computed in float64.

    The host's kernels differ by themselves in the first two, and what half precision or float32
    lost of the operator's own result is no promise. The same bits are asked of the first two.
    """
    fine = near(function, given, found, units, floor=floor)
    if not bool(fine.all()):
        fine |= near(one_by_one(function), given, found, units, floor=floor)
    if units and not bool(fine.all()) and all(x.is_floating_point() for x in given):
        wide = [tensor.double() for tensor in given]
        fine |= near(function, wide, found, units, floor=floor)
    return fine
