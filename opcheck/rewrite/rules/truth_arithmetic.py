"""Arithmetic of truth values, for kernels that take numbers alone."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import ANY, Draw
from opcheck.rewrite.pointwise import broadcast

_PROMOTION = "https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc"


def mul(self: Tensor, other: Tensor) -> Tensor:
    """Both are true."""
    return self & other


def div(self: Tensor, other: Tensor) -> Tensor:
    """Divide in the dtype that the quotient has."""
    dtype = torch.result_type(self, other)
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = torch.get_default_dtype()
    return self.to(dtype) / other.to(dtype)


def product(input: Tensor, other: Any) -> Tensor:
    """Both are true, where both are truth values."""
    if all(isinstance(x, Tensor) and x.dtype is torch.bool for x in (input, other)):
        return mul(input, other)
    return torch.mul(input, other)


class MulOfTruthByAnd(Rule):
    """The product of two truth values is true where both are: ``a & b``."""

    name = "mul-of-truth-by-and"
    replaces = ("aten::mul.Tensor",)
    summary = "Ask where both are true"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.mul": product, "Tensor.mul": product
    }  # fmt: skip
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cpu/BinaryOpsKernel.cpp",
    )
    replace = staticmethod(mul)

    def refuses(self, call: Call) -> str:
        """Decline numbers."""
        both = (call.given("self"), call.given("other"))
        return "" if all(x.dtype is torch.bool for x in both) else "they are no truth values"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one shape, or one of them broadcast."""
        shape = draw.shape()
        other = draw.tensor(broadcast(draw, shape), (torch.bool,))
        return (draw.tensor(shape, (torch.bool,)), other), {}


class DivOfTruthByNumbers(Rule):
    """Truth values are divided, or divided by, as the numbers 0 and 1 in the quotient's dtype."""

    name = "div-of-truth-by-numbers"
    replaces = ("aten::div.Tensor",)
    summary = "Make numbers of truth values first"
    references = (_PROMOTION,)
    replace = staticmethod(div)

    def refuses(self, call: Call) -> str:
        """Decline what has no truth value among its arguments."""
        either = (call.given("self"), call.given("other"))
        return "" if any(x.dtype is torch.bool for x in either) else "they are numbers already"

    def example(self, op: str, draw: Draw) -> Arguments:
        """A truth value with anything, on either side."""
        shape = draw.shape()
        pair = [draw.tensor(shape, (torch.bool,)), draw.tensor(broadcast(draw, shape), ANY)]
        if draw.flag():
            pair.reverse()
        return tuple(pair), {}
