"""Numbers from the whole range of a dtype, and draws of calls that are made of them."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from opcheck.rewrite.draw import RandomDraw

BITS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}
_POWERS = {
    torch.float16: (-10, 7), torch.bfloat16: (-120, 60),
    torch.float32: (-120, 60), torch.float64: (-1000, 500),
}  # fmt: skip
"""Powers of two whose squares are numbers still, above; below also those whose squares are 0.

What is added up and divided is promised of normal numbers: of smaller ones few digits are there."""


def numbers(dtype: torch.dtype, count: int, seed: int) -> Tensor:
    """Numbers of a dtype: all of those of 16 bits or less, of wider ones some of every size.

    Extremes come first, with either sign; then bits drawn at random, numbers near 0 and up to 200,
    and the neighbours of each quarter up to 200, where functions have zeros, poles and joints. Of
    NaN there is one kind: nothing computes one that signals.
    """
    if dtype is torch.bool:
        return torch.tensor([False, True])
    if not dtype.is_floating_point:
        return _integers(dtype, count, seed)
    bits = BITS[dtype]
    if dtype.itemsize == 2:
        info = torch.iinfo(bits)
        return _one_nan(torch.arange(info.min, info.max + 1).to(bits).view(dtype))
    random = torch.Generator().manual_seed(seed)
    limits = torch.finfo(dtype)
    ends = (0.0, math.inf, limits.max, limits.smallest_normal, limits.smallest_normal * limits.eps)
    both = torch.tensor([*ends, *(-end for end in ends), math.nan], dtype=dtype)
    flat = torch.rand(count, generator=random, dtype=torch.float64) - 0.5
    quarters = (torch.arange(-800, 801).double() / 4).to(dtype).view(bits)
    beside = (quarters.unsqueeze(-1) + torch.arange(-3, 4).to(bits)).flatten().view(dtype)
    parts = (both, any_bits(dtype, [count], seed), (flat * 8).to(dtype), (flat * 400).to(dtype))
    return torch.cat([*parts, beside])


def any_bits(dtype: torch.dtype, shape: Sequence[int], seed: int) -> Tensor:
    """Numbers of any bits, so that each exponent comes as often."""
    bits, random = BITS.get(dtype, dtype), torch.Generator().manual_seed(seed)
    info = torch.iinfo(bits)
    drawn = torch.randint(info.min, info.max, list(shape), generator=random, dtype=torch.int64)
    return _one_nan(drawn.to(bits).view(dtype))


def _one_nan(x: Tensor) -> Tensor:
    return torch.where(x.isnan(), torch.full_like(x, math.nan), x) if x.is_floating_point() else x


def _integers(dtype: torch.dtype, count: int, seed: int) -> Tensor:
    info = torch.iinfo(dtype)
    if info.bits == 8:
        return torch.arange(info.min, info.max + 1).to(dtype)
    ends = torch.tensor([info.min, info.min + 1, info.max - 1, info.max], dtype=dtype)
    small = torch.arange(-200, 201).to(dtype)
    return torch.cat([ends, small, any_bits(dtype, [count], seed)])


class WideDraw(RandomDraw):
    """Choices from a seed, where values may be any: of every size, and of any bits."""

    def __init__(self, seed: int, any_bits: bool) -> None:
        """Take a seed, and whether a tensor may hold numbers of all sizes at once.

        Of what adds numbers up, not all may be infinite or lost beside one: each tensor then has a
        size of its own.
        """
        super().__init__(seed)
        self._any_bits = any_bits

    def _values(self, sizes: Sequence[int], dtype: torch.dtype, edges: bool) -> Tensor:
        made = super()._values(list(sizes), dtype, edges)
        seed, how = self.integer(0, 2**30), self.integer(0, 2)
        if not edges or how == 0 or dtype.is_complex or dtype is torch.bool:
            return made
        if how == 1 and self._any_bits:
            return any_bits(dtype, made.shape, seed)
        if dtype not in _POWERS:
            return made
        power = self.integer(*_POWERS[dtype])
        return (made.double() * 2.0 ** (power // 2) * 2.0 ** (power - power // 2)).to(dtype)
