"""Truth values by other truth values, or as numbers where kernels take those alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import REFERENCES, SOURCES, Arguments, Rule, broadcast
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import ANY, Draw


def _as_given(self: Tensor, truth: Tensor) -> Tensor:
    """PyTorch gives uint8 for uint8, bool for everything else."""
    return truth.to(torch.uint8) if self.dtype == torch.uint8 else truth


def all_of(self: Tensor) -> Tensor:
    """Look for a zero."""
    return _as_given(self, ~(self == 0).any())


def all_of_dim(self: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """Look for a zero along the dimension."""
    return _as_given(self, ~(self == 0).any(dim, keepdim))


def all_of_dims(
    self: Tensor, dim: Sequence[int] | int | None = None, keepdim: bool = False
) -> Tensor:
    """Look for a zero along one dimension after the other."""
    count = max(self.dim(), 1)
    given = range(count) if dim is None else [dim] if isinstance(dim, int) else dim
    places = {d % count for d in given}
    zeros = self == 0
    for place in sorted(places, reverse=True):
        zeros = zeros.any(place, keepdim)
    return _as_given(self, ~zeros)


def is_all_true(self: Tensor) -> Tensor:
    """Call all, which is older."""
    return self.all()


def is_any_true(self: Tensor) -> Tensor:
    """Call any, which is older."""
    return self.any()


class AllByAny(Rule):
    """All are true where none is zero."""

    name = "all-by-any"
    replaces = ("aten::all",)
    summary = "Ask whether any is zero"
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_refs/__init__.py",)
    spellings = ("torch.all", "Tensor.all")
    replace = staticmethod(all_of)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any dtype."""
        return (draw.tensor(dtypes=ANY),), {}


class IsTrueByAllOrAny(Rule):
    """``all`` or ``any``, as PyTorch writes it; releases before 2.0 have those alone."""

    name = "is-true-by-all-or-any"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::_is_all_true": is_all_true,
        "aten::_is_any_true": is_any_true,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    summary = "Call all or any"
    references = (f"{SOURCES}/aten/src/ATen/native/ReduceOps.cpp",)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Truth values."""
        return (draw.tensor(dtypes=(torch.bool,)),), {}


class AllOfDimByAny(Rule):
    """All are true where none is zero along the dimension."""

    name = "all-of-dim-by-any"
    replaces = ("aten::all.dim",)
    summary = "Ask whether any is zero"
    references = AllByAny.references
    spellings = ("torch.all", "Tensor.all")
    replace = staticmethod(all_of_dim)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any dtype and dimension."""
        x = draw.tensor(dtypes=ANY)
        return (x, draw.dim(x), draw.flag()), {}


class AllOfDimsByAny(Rule):
    """All are true where none is zero, along one dimension after the other."""

    name = "all-of-dims-by-any"
    replaces = ("aten::all.dims",)
    summary = "Ask whether any is zero, dimension by dimension"
    references = AllByAny.references
    spellings = ("torch.all", "Tensor.all")
    replace = staticmethod(all_of_dims)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Some dimensions, or all."""
        x = draw.tensor(draw.shape(1, 4), dtypes=ANY)
        dims = [d for d in range(x.dim()) if draw.flag()]
        return (x, draw.choose((None, [d - x.dim() for d in dims], dims)), draw.flag()), {}


_PROMOTION = "https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc"


def mul(self: Tensor, other: Tensor) -> Tensor:
    """Both are true."""
    return self & other


def div(self: Tensor, other: Any) -> Tensor:
    """Divide in the dtype that the quotient has, also by a number of Python's."""
    dtype = torch.result_type(self, other)
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = torch.get_default_dtype()
    return self.to(dtype) / (other.to(dtype) if isinstance(other, Tensor) else other)


def product(input: Tensor, other: Any) -> Tensor:
    """Both are true, where both are truth values."""
    if all(isinstance(x, Tensor) and x.dtype is torch.bool for x in (input, other)):
        return mul(input, other)
    return torch.mul(input, other)


def _is_truth(value: Any) -> bool:
    """Whether an argument is a tensor of truth values; a number of Python's may stand for one."""
    return isinstance(value, Tensor) and value.dtype is torch.bool


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
        return "" if all(map(_is_truth, both)) else "they are no truth values"

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
        return "" if any(map(_is_truth, either)) else "they are numbers already"

    def example(self, op: str, draw: Draw) -> Arguments:
        """A truth value with anything, on either side."""
        shape = draw.shape()
        truth = draw.tensor(shape, (torch.bool,))
        if not draw.integer(0, 3):
            return (truth, draw.choose((2, 0.5, True))), {}
        pair = [truth, draw.tensor(broadcast(draw, shape), ANY)]
        if draw.flag():
            pair.reverse()
        return tuple(pair), {}


def bitwise_and(self: Tensor, other: Tensor) -> Tensor:
    """Both are true."""
    return torch.logical_and(self, other)


def bitwise_or(self: Tensor, other: Tensor) -> Tensor:
    """Either is true."""
    return torch.logical_or(self, other)


def bitwise_xor(self: Tensor, other: Tensor) -> Tensor:
    """One of them is true, and the other is not."""
    return torch.logical_xor(self, other)


def bitwise_not(self: Tensor) -> Tensor:
    """It is not true."""
    return torch.logical_not(self)


def _are_truths(*given: Any) -> bool:
    return all(isinstance(x, Tensor) and x.dtype is torch.bool for x in given)


def and_of_any(input: Any, other: Any) -> Tensor:
    """``bitwise_and`` as users call it, of numbers as well."""
    function = torch.logical_and if _are_truths(input, other) else torch.bitwise_and
    return function(input, other)


def or_of_any(input: Any, other: Any) -> Tensor:
    """``bitwise_or`` as users call it, of numbers as well."""
    function = torch.logical_or if _are_truths(input, other) else torch.bitwise_or
    return function(input, other)


def xor_of_any(input: Any, other: Any) -> Tensor:
    """``bitwise_xor`` as users call it, of numbers as well."""
    function = torch.logical_xor if _are_truths(input, other) else torch.bitwise_xor
    return function(input, other)


def not_of_any(input: Tensor) -> Tensor:
    """``bitwise_not`` as users call it, of numbers as well."""
    return torch.logical_not(input) if _are_truths(input) else torch.bitwise_not(input)


class _OfTruth(Rule):
    """A bitwise operator, where all that it is given are truth values."""

    references = (REFERENCES,)

    def refuses(self, call: Call) -> str:
        """Decline numbers."""
        given = (*call.args, *call.kwargs.values())
        truths = all(x.dtype is torch.bool for x in given if isinstance(x, Tensor))
        return "" if truths else "they are no truth values"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one shape, or one of them broadcast."""
        shape = draw.shape()
        shapes = [shape] if op == "aten::bitwise_not" else [shape, broadcast(draw, shape)]
        return tuple(draw.tensor(each, (torch.bool,)) for each in shapes), {}


class BitsOfTruthByLogic(_OfTruth):
    """Of truth values, ``a & b`` is ``logical_and(a, b)``, and so are ``|``, ``^`` and ``~``.

    Where a device has no kernel for bits, masks are still put together.
    """

    name = "bits-of-truth-by-logic"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::bitwise_and.Tensor": bitwise_and,
        "aten::bitwise_or.Tensor": bitwise_or,
        "aten::bitwise_xor.Tensor": bitwise_xor,
        "aten::bitwise_not": bitwise_not,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.bitwise_and": and_of_any,
        "Tensor.bitwise_and": and_of_any,
        "torch.bitwise_or": or_of_any,
        "Tensor.bitwise_or": or_of_any,
        "torch.bitwise_xor": xor_of_any,
        "Tensor.bitwise_xor": xor_of_any,
        "torch.bitwise_not": not_of_any,
        "Tensor.bitwise_not": not_of_any,
    }
    summary = "Call logical_and, logical_or, logical_xor or logical_not"
