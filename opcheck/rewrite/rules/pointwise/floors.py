"""``floor`` and ``ceil`` by way of integers."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import REFERENCES, Pointwise
from opcheck.rewrite.draw import FLOATS


def floor(self: Tensor) -> Tensor:
    """Cut it off, and take 1 away where that went up."""
    x = self.detach()
    if not x.is_floating_point():
        return x.clone()
    none, far = torch.zeros_like(x), 2.0**52
    small = torch.where(x < far, x, none)
    small = torch.where(small > -far, small, none)
    cut = small.to(torch.int64).to(x.dtype)
    down = torch.where(cut > small, cut - 1, cut)
    down = torch.where(down == small, small, down)  # keeps the sign of 0
    return torch.where(small == x, down, x)


def ceil(self: Tensor) -> Tensor:
    """Turn it round, round down, and turn that round."""
    x = self.detach()
    return -floor(-x) if x.is_floating_point() else x.clone()


class FloorByIntegers(Pointwise):
    """The number as an integer, which is cut off towards 0, less 1 where that is above it.

    What is no number, infinite, or has no digits behind the point stays as it is.
    """

    name = "floor-by-integers"
    label = Label.EXACT
    dtypes: ClassVar[tuple[torch.dtype, ...]] = FLOATS
    replaces: ClassVar[tuple[str, ...]] = ("aten::floor",)
    summary = "Cut off by way of an integer, and take 1 away where that went up"
    spellings: ClassVar[tuple[str, ...]] = ("torch.floor", "Tensor.floor")
    references: ClassVar[tuple[str, ...]] = (REFERENCES,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(floor)


class CeilByIntegers(FloorByIntegers):
    """``-floor(-x)``, rounded down by way of an integer."""

    name = "ceil-by-integers"
    replaces = ("aten::ceil",)
    summary = "Cut off by way of an integer, and add 1 where that went down"
    spellings = ("torch.ceil", "Tensor.ceil")
    replace = staticmethod(ceil)
