"""Products of float32 by products of float16 that keep its range."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw


def _largest(x: Tensor) -> Tensor:
    """The largest number, 1 where it is nothing to divide by."""
    found = x.detach().abs().amax()
    return torch.where((found > 0) & (found < math.inf), found, torch.ones_like(found))


class _Divided(torch.autograd.Function):
    """A product of float32, whose gradient is divided by its largest number."""

    @staticmethod
    def forward(ctx: Any, product: Tensor, kept: list[Tensor]) -> Tensor:
        """Give what is given."""
        ctx.kept = kept
        return product.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Divide, and keep the largest."""
        ctx.kept[:] = [_largest(grad)]
        return grad / ctx.kept[0], None


class _Multiplied(torch.autograd.Function):
    """An operand, whose gradient is multiplied by what that of the product was divided by."""

    @staticmethod
    def forward(ctx: Any, operand: Tensor, by: Tensor, kept: list[Tensor]) -> Tensor:
        """Divide by the largest number."""
        ctx.kept = kept
        ctx.save_for_backward(by)
        return operand / by

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Multiply."""
        return grad * ctx.kept[0] / ctx.saved_tensors[0], None, None


def matmul_of_float32(self: Tensor, other: Tensor) -> Tensor:
    """Divide operands, and gradients, by the largest of each, cast and multiply them."""
    kept: list[Tensor] = []
    by, by_other = _largest(self), _largest(other)
    left = _Multiplied.apply(self, by, kept)  # type: ignore[no-untyped-call]
    right = _Multiplied.apply(other, by_other, kept)  # type: ignore[no-untyped-call]
    product = torch.ops.aten.matmul.default(left.half(), right.half()).float()
    result: Tensor = _Divided.apply(product, kept)  # type: ignore[no-untyped-call]
    return result * by * by_other


def matmul_in_float16(input: Tensor, other: Tensor) -> Tensor:
    """``matmul`` as users call it, of other dtypes than float32 as well."""
    if not (input.dtype == other.dtype == torch.float32 and input.numel() and other.numel()):
        return torch.matmul(input, other)
    return matmul_of_float32(input, other)


def linear_of_float32(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Divide operands, and gradients, by the largest of each, cast, multiply and add the bias."""
    product = matmul_of_float32(input, weight.t())
    return product if bias is None else product + bias


def linear_in_float16(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``linear`` as users call it, of other dtypes than float32 as well."""
    if not (input.dtype == weight.dtype == torch.float32 and input.numel() and weight.numel()):
        return torch.nn.functional.linear(input, weight, bias)
    return linear_of_float32(input, weight, bias)


class _ProductInFloat16(Rule):
    """A product of two operands of float32."""

    tier = Tier.STRUCTURAL
    label = Label.TOLERANCE
    tolerance = 16.0 * 8192
    gives_up = (
        "All digits of float32 beyond the third, and what is 10,000,000 times less than the largest"
    )
    operands: ClassVar[tuple[str, str]]

    def refuses(self, call: Call) -> str:
        """Float32 alone, and something to multiply."""
        operands: Sequence[Any] = [call.given(name) for name in self.operands]
        if any(x.dtype != torch.float32 for x in operands):
            return "the values are not float32"
        if any(not x.numel() for x in operands):
            return "nothing is multiplied"
        return ""


class MatmulInFloat16(_ProductInFloat16):
    """Operands are divided by their largest number, multiplied in float16, and the result scaled.

    For chips that multiply no float32, as an Ascend 310B. A cast alone makes infinities of what is
    beyond 65,504 and zeros of what is below 6e-8, which gradients are soon; here both are relative
    to the largest of each operand, and of the gradient. Each takes two more passes over it.
    """

    name = "float16-after-scaling"
    replaces = ("aten::matmul",)
    summary = "Divide both by their largest number, and multiply in float16"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.matmul": matmul_in_float16,
        "Tensor.matmul": matmul_in_float16,
    }
    replace = staticmethod(matmul_of_float32)
    operands = ("self", "other")

    def example(self, op: str, draw: Draw) -> Arguments:
        """Matrices, batches and vectors, of numbers that float16 does not have."""
        batch = draw.shape(0, 2)
        left = [16] if draw.flag() else [*batch, 4, 16]
        right = [*(batch if draw.flag() else []), 16, 8]
        return tuple(
            draw.tensor(shape, (torch.float32,), edges=False) * draw.choose((1.0, 1e-9, 1e9))
            for shape in (left, right)
        ), {}


class LinearInFloat16(_ProductInFloat16):
    """As ``float16-after-scaling``, of linear layers; the bias is added in float32."""

    name = "linear-in-float16-after-scaling"
    replaces = ("aten::linear",)
    summary = "Divide both by their largest number, multiply in float16, and add the bias"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.linear": linear_in_float16
    }
    replace = staticmethod(linear_of_float32)
    operands = ("input", "weight")

    def example(self, op: str, draw: Draw) -> Arguments:
        """Layers with and without a bias, of numbers that float16 does not have."""
        shapes = [[*draw.shape(0, 2), 16], [8, 16], *([[8]] if draw.flag() else [])]
        by = draw.choose((1.0, 1e-9, 1e9))
        return tuple(draw.tensor(s, (torch.float32,), edges=False) * by for s in shapes), {}
