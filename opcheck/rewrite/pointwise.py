"""Rules for functions of single numbers: what they are drawn on, and what all of them refuse."""

import math
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

SOURCES = "https://github.com/pytorch/pytorch/blob/main"
MATH = f"{SOURCES}/aten/src/ATen/native/Math.h"
"""The polynomials by which PyTorch computes special functions on the CPU."""
REFERENCES = f"{SOURCES}/torch/_refs/__init__.py"

_EDGES = (0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, -1.0, 0.5, 1e-40, -1e-40, 3e38)
_SCALES = (1.0, 10.0, 0.01, 100.0, 1e4, 1e-20)


class Pointwise(Rule):
    """A function of one tensor, or of ``count`` that are broadcast against each other."""

    label = Label.TOLERANCE
    count: ClassVar[int] = 1
    dtypes: ClassVar[tuple[torch.dtype, ...]] = FLOATS
    marks: ClassVar[tuple[float, ...]] = ()
    """Numbers to try beside zeros, infinities, NaN and the smallest: poles and joints."""
    scales: ClassVar[tuple[float, ...]] = _SCALES
    """Typical sizes of the numbers to try."""
    references: ClassVar[tuple[str, ...]] = (MATH,)

    def refuses(self, call: Call) -> str:
        """Decline complex numbers."""
        given = (*call.args, *call.kwargs.values())
        if any(isinstance(x, Tensor) and x.is_complex() for x in given):
            return "the numbers are complex"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Numbers of every size, with the edges."""
        shape, dtype = draw.shape(0, 3), draw.choose(self.dtypes)
        shapes = [shape, *(broadcast(draw, shape) for _ in range(self.count - 1))]
        return tuple(
            spread(draw, s, (dtype,), self.marks, self.scales) for s in shapes
        ), {}  # fmt: skip


def broadcast(draw: Draw, shape: Sequence[int]) -> list[int]:
    """Sizes that go with ``shape``: the same, or fewer of them, or 1 instead of one."""
    sizes = list(shape[draw.integer(0, len(shape)) :]) if draw.flag() else list(shape)
    if sizes and draw.flag():
        sizes[draw.integer(0, len(sizes) - 1)] = 1
    return sizes


def spread(
    draw: Draw,
    shape: Sequence[int] | None,
    dtypes: Sequence[torch.dtype],
    marks: Sequence[float] = (),
    scales: Sequence[float] = _SCALES,
) -> Tensor:
    """A tensor of numbers of one size, with a few edges and ``marks`` among them."""
    x = draw.tensor(shape, dtypes)
    if not x.is_floating_point() or not x.numel():
        return x
    scale = draw.choose(scales)
    x = x if scale == 1.0 else (x.double() * scale).to(x.dtype)
    for _ in range(draw.integer(0, 3)):
        at = torch.arange(x.numel()).reshape(x.shape) == draw.integer(0, x.numel() - 1)
        mark = torch.tensor(draw.choose((*marks, *_EDGES)), dtype=torch.float64).to(x.dtype)
        x = torch.where(at, mark, x)
    return x
