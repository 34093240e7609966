"""How far a rule for single numbers is off, number by number, over all that a dtype can hold.

Random samples are numbers near 0, and a difference against a tensor's largest value hides what is
small. Here each number is looked at by itself: zeros of either sign, the smallest numbers there
are, powers of ten up and down, NaN, infinities, the ends of integers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

REDUCED = frozenset({"aten::binary_cross_entropy", "aten::kl_div"})
"""Losses that reduce what they compute."""
LOWEST = {"aten::special_zeta": -1000.0, "aten::polygamma": -1000.0}
"""What PyTorch adds up in a loop that never ends where 1 more is the same number."""
_MANTISSAS = (1.0, 2.5, 5.0)
_PAIRS = 4000
"""How many are drawn of the pairs that two arguments have."""


def numbers(dtype: torch.dtype) -> Tensor:
    """Numbers of a dtype from all over its range."""
    if dtype is torch.bool:
        return torch.tensor([False, True])
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        found = {0, 1, 2, 3, 7, info.min, info.min + 1, info.max - 1, info.max}
        found |= {10**power for power in range(19)}
        found |= {-number for number in found}
        return torch.tensor(sorted(n for n in found if info.min <= n <= info.max), dtype=dtype)
    limits = torch.finfo(dtype)
    least = limits.smallest_normal * limits.eps
    found_: list[float] = [0.0, limits.smallest_normal, least, limits.max, math.inf]
    found_ += [limits.eps, 1 - limits.eps, 1 + limits.eps]
    powers = range(math.floor(math.log10(least)), math.floor(math.log10(limits.max)) + 1)
    found_ += [mantissa * float(f"1e{power}") for power in powers for mantissa in _MANTISSAS]
    found_ += [number / 8 for number in range(257)]
    both = torch.tensor([*found_, *(-number for number in found_), math.nan], dtype=torch.float64)
    return both.to(dtype)


def arguments(count: int, dtype: torch.dtype) -> list[Tensor]:
    """Numbers for a function of ``count`` of them: all, or pairs of them drawn at random."""
    every = numbers(dtype)
    if count == 1:
        return [every]
    random = torch.Generator().manual_seed(0)
    return [every[torch.randint(0, len(every), (_PAIRS,), generator=random)] for _ in range(count)]


def spaced(tensor: Tensor) -> Tensor:
    """The same numbers, not side by side: kernels take them one by one, and not in vectors."""
    return torch.stack((tensor, tensor), -1)[..., 0]


def filled(drawn: Sequence[Any], tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    """Drawn arguments with other tensors in the places of theirs."""
    left = iter(tensors)
    return tuple(next(left) if isinstance(value, Tensor) else value for value in drawn)


def called(
    function: Callable[..., Any],
    drawn: Sequence[Any],
    named: Mapping[str, Any],
    *tensors: Tensor,
) -> Tensor:
    """All numbers that a function gives for drawn arguments with these tensors in them."""
    return flat(function(*filled(drawn, tensors), **named))


def flat(result: Any) -> Tensor:
    """The numbers of all tensors of a result."""
    return torch.cat([part.flatten() for part in tree_leaves(result) if isinstance(part, Tensor)])


def same(wanted: Tensor, found: Tensor) -> Tensor:
    """Where two results are the same number, the sign of zero included; NaN is NaN."""
    equal = wanted == found
    if wanted.is_floating_point():
        equal &= wanted.signbit() == found.signbit()
        equal |= wanted.isnan() & found.isnan()
    return equal


def beyond(
    function: Callable[..., Tensor],
    given: Sequence[Tensor],
    found: Tensor,
    tolerance: float,
) -> Tensor:
    """Where ``found`` is further off than it may be from what ``function`` gives.

    A result may be off by ``tolerance`` units in its own last place, or by as much as the function
    itself changes while its arguments do by that: near a zero of the function, and where it swings
    within one unit of its argument, no code for it can be closer. Where the result is no finite
    number the other must be none either.
    """
    wanted = function(*given)
    right = same(wanted, found)
    if not wanted.is_floating_point() or not tolerance:
        return ~right
    limits = torch.finfo(wanted.dtype)
    exact, there = wanted.double(), found.double()
    allowed = tolerance * limits.eps * exact.abs().clamp(min=limits.smallest_normal)
    for index, argument in enumerate(given):
        taken = argument if argument.is_floating_point() else argument.to(wanted.dtype)
        for towards in (math.inf, -math.inf):
            beside = list(given)
            beside[index] = torch.nextafter(taken, torch.full_like(taken, towards))
            change = (function(*beside).double() - exact).abs()
            allowed = allowed + tolerance * torch.where(change.isfinite(), change, 0.0)
    near = (exact - there).abs() <= allowed
    return ~(right | near | ((exact == 0) & (there == 0)))
