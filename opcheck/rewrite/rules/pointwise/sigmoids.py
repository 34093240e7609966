"""``silu`` by the exponential, where a device has no logistic function."""

import torch
from torch import Tensor

from opcheck.rewrite.base import Pointwise


def _logistic(x: Tensor) -> Tensor:
    """Neither values nor gradients overflow; far below zero it is the exponential itself."""
    below = x.clamp(max=0).exp()
    return torch.where(x < -40, below, 1 / (1 + (-x).clamp(max=40).exp()))


def _wide(x: Tensor) -> Tensor:
    """In float32 at least."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def silu(self: Tensor) -> Tensor:
    """The number times the logistic function of it."""
    x = _wide(self)
    return (x * _logistic(x)).to(self.dtype)


class SiluByExponential(Pointwise):
    """By its definition, ``x / (1 + exp(-x))``; where the exponential is large, ``x * exp(x)``."""

    name = "silu-by-exponential"
    tolerance = 8.0
    replaces = ("aten::silu",)
    summary = "Divide by one and the exponential of the negative"
    marks = (-40.0, -41.0, -88.0, -100.0, 88.0)
    replace = staticmethod(silu)
