"""Bitwise operators on truth values, by the logical ones."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import REFERENCES, Arguments, Rule, broadcast
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw


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


class AndOfTruthByLogicalAnd(_OfTruth):
    """Of truth values, ``a & b`` is ``logical_and(a, b)``.

    Where a device has no kernel for bits, masks are still put together.
    """

    name = "and-of-truth-by-logical-and"
    replaces = ("aten::bitwise_and.Tensor",)
    summary = "Call logical_and"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.bitwise_and": and_of_any,
        "Tensor.bitwise_and": and_of_any,
    }
    replace = staticmethod(bitwise_and)


class OrOfTruthByLogicalOr(_OfTruth):
    """Of truth values, ``a | b`` is ``logical_or(a, b)``."""

    name = "or-of-truth-by-logical-or"
    replaces = ("aten::bitwise_or.Tensor",)
    summary = "Call logical_or"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.bitwise_or": or_of_any,
        "Tensor.bitwise_or": or_of_any,
    }
    replace = staticmethod(bitwise_or)


class XorOfTruthByLogicalXor(_OfTruth):
    """Of truth values, ``a ^ b`` is ``logical_xor(a, b)``."""

    name = "xor-of-truth-by-logical-xor"
    replaces = ("aten::bitwise_xor.Tensor",)
    summary = "Call logical_xor"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.bitwise_xor": xor_of_any,
        "Tensor.bitwise_xor": xor_of_any,
    }
    replace = staticmethod(bitwise_xor)


class NotOfTruthByLogicalNot(_OfTruth):
    """Of truth values, ``~a`` is ``logical_not(a)``."""

    name = "not-of-truth-by-logical-not"
    replaces = ("aten::bitwise_not",)
    summary = "Call logical_not"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.bitwise_not": not_of_any,
        "Tensor.bitwise_not": not_of_any,
    }
    replace = staticmethod(bitwise_not)
