"""``var`` and ``std``, with and without the mean, and normalizations."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.draw import FLOATS, Draw


def _moments(
    x: Tensor,
    dim: Sequence[int] | None,
    correction: float | None,
    keepdim: bool,
    root: bool = False,
) -> tuple[Tensor, Tensor]:
    """Give the variance, or its root, and the mean, in float32 at least."""
    dims = list(dim) if dim else list(range(x.dim()))
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    count = math.prod(x.size(d) for d in dims) if x.dim() else 1
    mean = wide.mean(dims, keepdim=True)
    apart = wide - mean.detach()  # which adds nothing to the gradient, but NaN beside inf
    free = max(count - (1 if correction is None else correction), 0)
    # PyTorch's kernel takes squares of float32 in float64, where small and large ones are numbers
    narrow = root and count and wide.dtype != torch.float64
    scale = _scale(apart, dims) if narrow else None
    apart = apart if scale is None else apart / scale
    var = (apart * apart).sum(dims, keepdim=True) / free
    if count:
        first = wide
        for d in dims if x.dim() else ():
            first = first.narrow(d, 0, 1)
        unequal = (wide != first).to(wide.dtype).sum(dims, keepdim=True)
        if free:  # not the rounding of their mean, where all are equal
            equal = unequal + (first - first).detach() == 0  # and finite
            var = torch.where(equal, torch.zeros_like(var), var)
    var = _root(var) if root else var
    var = var if scale is None else var * scale
    return _reduced(var, dims, keepdim), _reduced(mean, dims, keepdim)


def _scale(apart: Tensor, dims: list[int]) -> Tensor:
    """Give the largest deviation."""
    largest = apart.detach().abs().amax(dims, keepdim=True)
    usual = (largest > 0) & (largest < math.inf)
    return torch.where(usual, largest, torch.ones_like(largest))


def _reduced(x: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    if keepdim or not x.dim():
        return x
    for d in sorted((d % x.dim() for d in dims), reverse=True):
        x = x.squeeze(d)
    return x


def _root(var: Tensor) -> Tensor:
    """Take the square root; its gradient is 0 at 0."""
    zero = var == 0
    root = torch.where(zero, torch.ones_like(var), var).sqrt()
    return torch.where(zero, torch.zeros_like(var), root)  # squares may have underflowed to it


def var(
    self: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Mean of the squared deviations from the mean."""
    return _moments(self, dim, correction, keepdim)[0].to(self.dtype)


def var_mean(
    self: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    """Mean of the squared deviations from the mean, and the mean."""
    spread, mean = _moments(self, dim, correction, keepdim)
    return spread.to(self.dtype), mean.to(self.dtype)


def std(
    self: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Root of the mean of the squared deviations from the mean."""
    return _moments(self, dim, correction, keepdim, root=True)[0].to(self.dtype)


def std_mean(
    self: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    """Root of the mean of the squared deviations from the mean, and the mean."""
    spread, mean = _moments(self, dim, correction, keepdim, root=True)
    return spread.to(self.dtype), mean.to(self.dtype)


def _asked(
    x: Tensor, dim: Any, unbiased: bool, keepdim: bool, correction: float | None, root: bool = False
) -> tuple[Tensor, Tensor]:
    """What users ask for: the correction as a flag or as a number, one dimension or several."""
    if isinstance(dim, bool):  # the flag, of all dimensions
        dim, unbiased = None, dim
    free = correction if correction is not None else float(unbiased)
    return _moments(x, [dim] if isinstance(dim, int) else dim, free, keepdim, root)


def var_of(
    input: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: float | None = None,
) -> Tensor:  # fmt: skip
    """Mean of the squared deviations from the mean."""
    return _asked(input, dim, unbiased, keepdim, correction)[0].to(input.dtype)


def std_of(
    input: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: float | None = None,
) -> Tensor:  # fmt: skip
    """Root of the mean of the squared deviations from the mean."""
    return _asked(input, dim, unbiased, keepdim, correction, root=True)[0].to(input.dtype)


def var_mean_of(
    input: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Mean of the squared deviations from the mean, and the mean."""
    spread, mean = _asked(input, dim, unbiased, keepdim, correction)
    return spread.to(input.dtype), mean.to(input.dtype)


def std_mean_of(
    input: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Root of the mean of the squared deviations from the mean, and the mean."""
    spread, mean = _asked(input, dim, unbiased, keepdim, correction, root=True)
    return spread.to(input.dtype), mean.to(input.dtype)


def _beside_numbers(call: Call, measured: Tensor) -> Tensor:
    """Measure what numbers of both signs, or equal ones, leave little of in units of those."""
    numbers = call.given("self").detach()
    sizes = numbers[numbers.isfinite()].abs()
    largest = sizes.max().reshape(1) if sizes.numel() else measured.new_zeros(1)
    return torch.cat([measured.flatten(), largest.to(measured.dtype)])


class VarByDeviations(Rule):
    """The deviations from the mean are squared and averaged.

    Two passes over the input, as the kernel makes them, so that nothing cancels where the mean is
    large; half precision is widened to float32. Values that are all equal have a variance of
    exactly 0. Gradients are within the tolerance of the largest number of the input.
    """

    name = "var-by-deviations"
    label: ClassVar[Label] = Label.TOLERANCE
    tolerance = 64.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::var.correction",)
    summary = "Average the squared deviations from the mean"
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/MooreThreads/torch_musa/issues/72",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.var": var_of,
        "Tensor.var": var_of,
    }
    replace: ClassVar[Callable[..., Any]] = staticmethod(var)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Take gradients for as near as they are to numbers of the input's size."""
        results, gradients = outcome
        if "std" in self.name or gradients is None:
            return outcome
        return results, [_beside_numbers(call, gradient) for gradient in gradients]

    def refuses(self, call: Call) -> str:
        """Decline complex numbers, and to divide by nothing."""
        x = call.args[0]
        if not x.is_floating_point():
            return "the values are not real floating-point"
        dims = call.given("dim") or range(x.dim())
        correction = call.given("correction")
        count = math.prod(x.size(d) for d in dims)
        if x.numel() and count <= (1 if correction is None else correction):
            return Sentence("{count} values have no spread after correction", count=count)
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Over one dimension or all, with every kind of correction."""
        x = draw.tensor(dtypes=FLOATS, edges="mean" not in op)
        dims = None if draw.flag() or not x.dim() else [draw.dim(x)]
        correction = draw.choose((None, 0, 1, 2))
        return (x, dims), {"correction": correction, "keepdim": draw.flag()}


class VarMeanByDeviations(VarByDeviations):
    """The deviations from the mean are squared and averaged; the mean is given as well.

    Of infinite values it gives the infinite mean, where PyTorch's own may say NaN. The mean is
    within the tolerance of the largest number of the input: of both signs, little may be left.
    """

    name = "var-mean-by-deviations"
    replaces = ("aten::var_mean.correction",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.var_mean": var_mean_of}
    replace = staticmethod(var_mean)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Take the mean for as near as it is to numbers of the input's size."""
        (spread, mean), gradients = super().canonical(call, outcome)
        return [spread, _beside_numbers(call, mean)], gradients


class StdByDeviations(VarByDeviations):
    """The deviations from the mean are squared and averaged; of that, the square root.

    Where all values are equal the gradient is 0, as PyTorch defines it.
    """

    name = "std-by-deviations"
    replaces = ("aten::std.correction",)
    summary = "Take the root of the average squared deviation from the mean"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.std": std_of,
        "Tensor.std": std_of,
    }
    replace = staticmethod(std)


class StdMeanByDeviations(VarByDeviations):
    """The root of the averaged squares of the deviations from the mean, and the mean.

    Of infinite values it gives the infinite mean, where PyTorch's own may say NaN. The mean is
    within the tolerance of the largest number of the input: of both signs, little may be left.
    """

    name = "std-mean-by-deviations"
    replaces = ("aten::std_mean.correction",)
    summary = "Take the root of the average squared deviation from the mean"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.std_mean": std_mean_of}
    replace = staticmethod(std_mean)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Take the mean for as near as it is to numbers of the input's size."""
        (spread, mean), gradients = outcome
        return [spread, _beside_numbers(call, mean)], gradients


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
