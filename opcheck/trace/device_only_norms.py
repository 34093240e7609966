"""What the kernels compute that only devices have for batch norm among processes."""

import torch
from torch import Tensor


def stats(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Mean and inverse deviation of each channel."""
    dims = [d for d in range(x.dim()) if d != 1]
    variance, mean = torch.var_mean(x.float(), dims, correction=0)
    return mean, (variance + eps).rsqrt()


def elemt(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, eps: float
) -> Tensor:
    """Normalise with statistics of all processes."""
    shape = [1, -1] + [1] * (x.dim() - 2)
    scaled = (x - mean.reshape(shape)) * invstd.reshape(shape)
    scaled = scaled if weight is None else scaled * weight.reshape(shape)
    return (scaled if bias is None else scaled + bias.reshape(shape)).to(x.dtype)


def gather_stats(
    x: Tensor, mean: Tensor, invstd: Tensor, running_mean: Tensor | None,
    running_var: Tensor | None, momentum: float, eps: float, counts: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Mean and inverse deviation over all processes, whose own are the rows of ``mean``."""
    share = (counts / counts.sum()).unsqueeze(1)
    total = (mean * share).sum(0)
    variance = ((invstd.pow(-2) - eps + mean.square()) * share).sum(0) - total.square()
    for running, now in ((running_mean, total), (running_var, variance)):
        if running is not None:
            running.lerp_(now.to(running.dtype), momentum)
    return total, (variance + eps).rsqrt()


def backward_reduce(
    grad: Tensor, x: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None,
    input_wanted: bool, weight_wanted: bool, bias_wanted: bool,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """Sums over each channel, and the gradients of weight and bias that follow from them."""
    dims = [d for d in range(x.dim()) if d != 1]
    shape = [1, -1] + [1] * (x.dim() - 2)
    sum_dy = grad.float().sum(dims)
    sum_dy_xmu = (grad.float() * (x - mean.reshape(shape))).sum(dims)
    to_weight = (sum_dy_xmu * invstd).to(grad.dtype) if weight_wanted else None
    to_bias = sum_dy.to(grad.dtype) if bias_wanted else None
    return sum_dy, sum_dy_xmu, to_weight, to_bias


def backward_elemt(
    grad: Tensor, x: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None, sum_dy: Tensor,
    sum_dy_xmu: Tensor, count: Tensor,
) -> Tensor:  # fmt: skip
    """The gradient of the input, from sums over all processes."""
    shape = [1, -1] + [1] * (x.dim() - 2)
    scale = invstd if weight is None else invstd * weight
    total = count.sum()
    bent = (x - mean.reshape(shape)) * (invstd.square() * sum_dy_xmu / total).reshape(shape)
    return ((grad - (sum_dy / total).reshape(shape) - bent) * scale.reshape(shape)).to(x.dtype)
