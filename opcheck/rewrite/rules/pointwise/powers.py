"""Powers of a number that is no tensor."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw


def pow_of_scalar(self: float, exponent: Tensor) -> Tensor:
    """Fill a tensor with the base."""
    dtype = torch.result_type(exponent, self)
    return torch.pow(torch.full_like(exponent, self, dtype=dtype), exponent.to(dtype))


def pow_by_exp(self: float, exponent: Tensor) -> Tensor:
    """Take the exponential of the exponent times the base's logarithm."""
    return torch.exp(exponent * math.log(self))


def power_by_filling(input: Any, exponent: Any) -> Tensor:
    """Fill a tensor with the base where it is a number."""
    if isinstance(input, Tensor):
        return torch.pow(input, exponent)
    return pow_of_scalar(input, exponent)


def power_by_exp(input: Any, exponent: Any) -> Tensor:
    """Take the exponential of the exponent times the base's logarithm, for a base above 0."""
    if isinstance(input, Tensor) or not input > 0 or not exponent.dtype.is_floating_point:
        return torch.pow(input, exponent)
    return pow_by_exp(input, exponent)


class PowOfScalarByFilling(Rule):
    """The base becomes a tensor, and the power one of two tensors.

    The host's kernel computes vectors and single numbers by other functions, and so is off from
    itself by a unit in the last place.
    """

    name = "pow-of-scalar-by-filling"
    label = Label.TOLERANCE
    tolerance = 4.0
    replaces = ("aten::pow.Scalar",)
    summary = "Fill a tensor with the base"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.pow": power_by_filling}
    replace = staticmethod(pow_of_scalar)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Bases of either kind; the gradient in half precision is rounded at another time."""
        dtypes = (torch.float32, torch.float64)
        return (draw.choose((2, 10000.0, 0.5, 1.0, 0, 3)), draw.tensor(dtypes=dtypes)), {}


class PowOfScalarByExp(Rule):
    """``a ** x`` is ``exp(x * log(a))`` for a base above 0, as position embeddings have it."""

    name = "pow-of-scalar-by-exp"
    label = Label.TOLERANCE
    tolerance = 512.0
    replaces = ("aten::pow.Scalar",)
    summary = "Take the exponential of the exponent times the base's logarithm"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.pow": power_by_exp}
    replace = staticmethod(pow_by_exp)

    def refuses(self, call: Call) -> str:
        """A base that has no logarithm."""
        base, exponent = call.given("self"), call.given("exponent")
        if isinstance(base, complex) or base <= 0:
            return Sentence("the base is {figure}, which has no logarithm", figure=base)
        if not exponent.dtype.is_floating_point:
            return Sentence(
                "the exponent is {figure}, and powers of integers are integers",
                figure=exponent.dtype,
            )
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Exponents as large as frequencies have them."""
        dtypes = (torch.float32, torch.float64)
        return (draw.choose((2, 10000.0, 0.5, 1.5)), draw.tensor(dtypes=dtypes, edges=False)), {}
