"""``silu`` by the exponential, where a device has no logistic function."""

import math

import torch
from torch import Tensor

from opcheck.rewrite.base import Pointwise


def _wide(x: Tensor) -> Tensor:
    """In float32 at least."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def silu(self: Tensor) -> Tensor:
    """The quotient; far below zero twice the root of the exponential, until that overflows above.

    Neither values nor gradients do.
    """
    x = _wide(self)
    above = x >= -math.log(torch.finfo(x.dtype).max)
    root = (x.clamp(max=0) / 2).exp() * above.to(x.dtype)
    quotient = x / (1 + (-x).clamp(max=40).exp())
    return torch.where(x < -40, x * root * root, quotient).to(self.dtype)


class SiluByExponential(Pointwise):
    """By its definition, ``x / (1 + exp(-x))``; where the exponential is large, ``x * exp(x)``."""

    name = "silu-by-exponential"
    tolerance = 16.0
    replaces = ("aten::silu",)
    summary = "Divide by one and the exponential of the negative"
    marks = (-40.0, -41.0, -88.0, -100.0, 88.0)
    replace = staticmethod(silu)
