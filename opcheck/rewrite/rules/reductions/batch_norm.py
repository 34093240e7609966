"""Batch norm in training without its kernel."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import SOURCES, Arguments, Rule
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.draw import FLOATS, Draw


def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, training: bool, momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Take the mean away, and divide by the root of the mean square of what is left."""
    half = input.dtype in (torch.float16, torch.bfloat16)
    x = input.float() if half else input
    dims = [0, *range(2, input.dim())]
    shape = [1, -1, *[1] * (input.dim() - 2)]
    mean = x.mean(dims, keepdim=True)
    off = x - mean
    var = (off * off).mean(dims, keepdim=True)
    scale = (var + eps).rsqrt()
    found = off * scale
    if weight is not None:
        found = found * weight.reshape(shape)
    if bias is not None:
        found = found + bias.reshape(shape)
    row, spread = mean.detach().reshape(-1), var.detach().reshape(-1)
    if running_mean is not None:
        running_mean.copy_(running_mean * (1 - momentum) + row.to(running_mean.dtype) * momentum)
    if running_var is not None:
        count = input.numel() / input.size(1)
        fair = (spread * (count / (count - 1))).to(running_var.dtype)
        running_var.copy_(running_var * (1 - momentum) + fair * momentum)
    return found.to(input.dtype), row, scale.detach().reshape(-1)


class BatchNormByMeans(Rule):
    """Each channel loses its mean, and is divided by the root of its mean square.

    For training, where mean and variance are those of the batch. The running statistics are
    written as PyTorch writes them, with the variance that is corrected by one. Half precision is
    widened to float32. Gradients are within the tolerance of the largest of them all.
    """

    name = "batch-norm-by-means"
    label = Label.TOLERANCE
    tolerance = 512.0
    replaces = ("aten::native_batch_norm",)
    summary = "Take means of the batch, of the numbers and of their squares"
    references: ClassVar[tuple[str, ...]] = (f"{SOURCES}/aten/src/ATen/native/Normalization.cpp",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(native_batch_norm)

    def refuses(self, call: Call) -> str:
        """Decline running statistics that are read, and batches of one number a channel."""
        x = call.given("input")
        if not call.given("training"):
            return "it is not in training: the running statistics are read"
        if not x.is_floating_point():
            return "the numbers are no floating-point ones"
        if x.dim() < 2 or x.numel() <= x.size(1):
            return "a channel has one number or none"
        return ""

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Measure gradients by the largest of all: of the input it may be nothing."""
        results, gradients = outcome
        if gradients is None:
            return outcome
        return results, [torch.cat([gradient.flatten() for gradient in gradients])]

    def example(self, op: str, draw: Draw) -> Arguments:
        """With weights, by whose gradients others are measured; what it writes, a test tries."""
        dtype, channels = draw.choose(FLOATS[:2]), draw.integer(1, 3)
        sizes = [draw.integer(3, 5), channels, *(draw.integer(1, 3) for _ in range(2))]
        x = draw.tensor(sizes[: draw.integer(2, 4)], (dtype,), edges=False)
        x = x + torch.arange(x.numel()).reshape(x.shape) * 0.5  # no channel has a variance of 0
        weight = torch.linspace(0.5, 2.0, channels, dtype=dtype)
        bias = torch.linspace(-1.0, 1.0, channels, dtype=dtype) if draw.flag() else None
        return (x, weight, bias, None, None, True, 0.1, 1e-3), {}
