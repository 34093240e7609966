"""Normalizations without kernels of their own."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide by the root of the mean square."""
    half = input.dtype in (torch.float16, torch.bfloat16)
    x = input.float() if half else input
    dims = list(range(-len(normalized_shape), 0))
    least = torch.finfo(x.dtype).eps if eps is None else eps
    made = x * ((x * x).mean(dims, keepdim=True) + least).rsqrt()
    if weight is not None:
        made = made * weight
    return made.to(input.dtype)


class RmsNormByMean(Rule):
    """``x * rsqrt(mean(x * x) + eps) * weight``, half precision in float32, as PyTorch does it.

    PyTorch has the operator since 2.4; on a target with an older one, this runs.
    """

    name = "rms-norm-by-mean"
    label = Label.TOLERANCE
    tolerance = 64.0
    replaces = ("aten::rms_norm",)
    summary = "Write x * rsqrt(mean(x * x) + eps) * weight"
    spellings = ("torch.rms_norm", "torch.nn.functional.rms_norm")
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/layer_norm.cpp",
    )
    replace = staticmethod(rms_norm)

    def refuses(self, call: Call) -> str:
        """Decline everything but real floating-point numbers."""
        return "" if call.args[0].is_floating_point() else "the values are not real floating-point"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Over one dimension or two, with and without weight and eps."""
        dtype, count = draw.choose(FLOATS), draw.integer(1, 2)
        x = draw.tensor(draw.shape(count + 1, 4, smallest=2), (dtype,), edges=False)
        shape = list(x.shape[-count:])
        weight = draw.tensor(shape, (dtype,), edges=False) if draw.flag() else None
        return (x, shape, weight, draw.choose((None, 1e-3))), {}


def batch_norm_legit(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor,
    running_var: Tensor, training: bool, momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Call the operator that this one took over from."""
    return torch.native_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )


def batch_norm_with_update(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor,
    running_var: Tensor, momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Call the operator that this one took over from, in training."""
    results = torch.native_batch_norm(
        input, weight, bias, running_mean, running_var, True, momentum, eps
    )
    return (*results, torch.empty(0, dtype=torch.uint8, device=input.device))


class BatchNormLegitByNative(Rule):
    """``native_batch_norm`` with the same arguments: it writes the same running statistics.

    Its schema does not say that it writes them, which is all that sets the two apart.
    """

    name = "batch-norm-legit-by-native"
    replaces: ClassVar[tuple[str, ...]] = ("aten::_native_batch_norm_legit",)
    summary = "Call native_batch_norm"
    replace: ClassVar[Callable[..., Any]] = staticmethod(batch_norm_legit)

    def example(self, op: str, draw: Draw) -> Arguments:
        """In training, with weights; out of it PyTorch's shapes differ from those of its kernel."""
        dtype, channels = draw.choose(FLOATS[:2]), draw.integer(1, 3)
        x = draw.tensor([draw.integer(2, 3), channels, draw.integer(1, 3)], (dtype,), edges=False)
        weight, bias, mean = (torch.linspace(0.5, 2.0, channels, dtype=dtype) for _ in range(3))
        training = () if "update" in op else (True,)
        return (x, weight, bias, mean, mean + 1, *training, 0.1, 1e-3), {}


class BatchNormWithUpdateByNative(BatchNormLegitByNative):
    """``native_batch_norm`` in training, and nothing in reserve for the gradient."""

    name = "batch-norm-with-update-by-native"
    replaces = ("aten::_batch_norm_with_update",)
    replace = staticmethod(batch_norm_with_update)
