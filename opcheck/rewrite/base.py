"""What a rewrite rule is, also one for functions of single numbers, and which rules there are."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import torch
from torch import Tensor

import opcheck.rewrite.rules
from opcheck.model.plan import Label, Tier
from opcheck.registry import discover
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.draw import FLOATS, Draw

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Positional arguments and named ones."""


class Rule(ABC):
    """Other code for one or more overloads; a file below ``opcheck/rewrite/rules`` is all it takes.

    The docstring of the class is the rule's page: what is replaced, by what, and why that is
    equal. ``replace`` is a function of the same module that needs nothing but torch and other
    functions of that module: its text is what users get to see, to paste and to register.
    """

    name: ClassVar[str]
    """``isin-by-comparing``: what the operator becomes, in a few words."""
    tier: ClassVar[Tier] = Tier.SWAP
    label: ClassVar[Label] = Label.EXACT
    """At best: what is measured may make it worse."""
    tolerance: ClassVar[float] = 0.0
    """Where the label is tolerance: the largest difference relative to the largest result, in
    units of the dtype's ``eps``."""
    cancels: ClassVar[bool] = False
    """Whether PyTorch's formula of the gradient is a difference of numbers up to about 1: where
    less than 1 is left of them, as many digits are left as that had."""
    replaces: ClassVar[tuple[str, ...]]
    """Overloads in schema spelling that give a new result; their in-place and ``out=`` forms
    follow by themselves."""
    random: ClassVar[bool] = False
    """Whether its results are drawn anew by every call: it is compared with the operator by the
    distribution of many results, never one by one. Its label is approximate."""
    dynamic: ClassVar[bool] = False
    """Whether the size of its result depends on values, as that of the operator does."""
    summary: ClassVar[str]
    """What to write, as an order: ``Compare with every element``."""
    gives_up: ClassVar[str] = ""
    """What is lost by it, where the label is approximate or the tier is structural."""
    spellings: ClassVar[tuple[str, ...]] = ()
    """How users write calls that ``replace`` can stand for, argument by argument: ``torch.isin``,
    ``Tensor.roll``, ``torch.nn.functional.unfold``."""
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    """Further ways how users write it -> a function of the same module that takes the arguments
    of that spelling, by the same names and with the same defaults."""
    references: ClassVar[tuple[str, ...]] = ()
    """Where the rewrite is known from: threads, PyTorch's sources."""
    replace: ClassVar[Callable[..., Any]]
    """Computes the same; its arguments are named as in the schema of ``replaces``."""
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    """In the place of ``replace``: overload -> its own function of the same module, where one idea
    serves overloads that take other arguments."""

    @classmethod
    def function(cls, op: str) -> Callable[..., Any]:
        """What stands for one of ``replaces``."""
        return cls.functions.get(op) or cls.replace

    def refuses(self, call: Call) -> str:
        """Say in one sentence why this call cannot be replaced; "" where it can.

        Tensors in ``call`` have shapes, strides and dtypes, but may have no values.
        """
        return ""

    def valid(self, call: Call) -> Call:
        """Make of a call on random values one that the operator has an answer for.

        Sorted where it asks for sorted ones, a positive definite matrix, a probability.
        """
        return call

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Take from an outcome what the operator promises, where that is less than all of it.

        What remains is compared: where an operator may name any of several equal values, which
        one it named does not matter.
        """
        return outcome

    def unique(self, call: Call, results: Sequence[Tensor]) -> Sequence[Tensor]:
        """Make of results what does not depend on a choice that the operator leaves open.

        Gradients are taken of this: where each of two vectors may have either sign, their product
        has one. It must be differentiable.
        """
        return results

    @abstractmethod
    def example(self, op: str, draw: Draw) -> Arguments:
        """Draw arguments for one of ``replaces``, from all that it takes: the edges as well."""


def dims_of(op: str) -> int:
    """How many dimensions an overload is named for: 2 of ``aten::avg_pool2d.out``."""
    return next(int(letter) for letter in op if letter.isdigit())


def special_names(functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """How users write functions of ``torch.special``, by the names of their overloads."""
    begins = "aten::special_"
    return {f"torch.special.{op.removeprefix(begins)}": f for op, f in functions.items()}


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule that opcheck brings, by name."""
    found = discover(opcheck.rewrite.rules, Rule, folders=True)  # type: ignore[type-abstract]  # only subclasses come
    return tuple(kind() for kind in found)


SOURCES = "https://github.com/pytorch/pytorch/blob/main"
MATH = f"{SOURCES}/aten/src/ATen/native/Math.h"
"""The polynomials by which PyTorch computes special functions on the CPU."""
REFERENCES = f"{SOURCES}/torch/_refs/__init__.py"

_EDGES = (0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, -1.0, 0.5, 1e-40, -1e-40, 3e38)
_SCALES = (1.0, 10.0, 0.01, 100.0, 1e4, 1e-20)


class Pointwise(Rule):
    """A function of one tensor, or of ``count`` that are broadcast against each other."""

    label = Label.TOLERANCE
    count: ClassVar[int] = 1
    dtypes: ClassVar[tuple[torch.dtype, ...]] = FLOATS
    marks: ClassVar[tuple[float, ...]] = ()
    """Numbers to try beside zeros, infinities, NaN and the smallest: poles and joints."""
    scales: ClassVar[tuple[float, ...]] = _SCALES
    """Typical sizes of the numbers to try."""
    references: ClassVar[tuple[str, ...]] = (MATH,)

    def refuses(self, call: Call) -> str:
        """Decline complex numbers."""
        given = (*call.args, *call.kwargs.values())
        if any(isinstance(x, Tensor) and x.is_complex() for x in given):
            return "the numbers are complex"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Numbers of every size, with the edges."""
        shape, dtype = draw.shape(0, 3), draw.choose(self.dtypes)
        shapes = [shape, *(broadcast(draw, shape) for _ in range(self.count - 1))]
        return tuple(
            spread(draw, s, (dtype,), self.marks, self.scales) for s in shapes
        ), {}  # fmt: skip


def broadcast(draw: Draw, shape: Sequence[int]) -> list[int]:
    """Sizes that go with ``shape``: the same, or fewer of them, or 1 instead of one."""
    sizes = list(shape[draw.integer(0, len(shape)) :]) if draw.flag() else list(shape)
    if sizes and draw.flag():
        sizes[draw.integer(0, len(sizes) - 1)] = 1
    return sizes


def spread(
    draw: Draw,
    shape: Sequence[int] | None,
    dtypes: Sequence[torch.dtype],
    marks: Sequence[float] = (),
    scales: Sequence[float] = _SCALES,
) -> Tensor:
    """A tensor of numbers of one size, with a few edges and ``marks`` among them."""
    x = draw.tensor(shape, dtypes)
    if not x.is_floating_point() or not x.numel():
        return x
    scale = draw.choose(scales)
    x = x if scale == 1.0 else (x.double() * scale).to(x.dtype)
    for _ in range(draw.integer(0, 3)):
        at = torch.arange(x.numel()).reshape(x.shape) == draw.integer(0, x.numel() - 1)
        mark = torch.tensor(draw.choose((*marks, *_EDGES)), dtype=torch.float64).to(x.dtype)
        x = torch.where(at, mark, x)
    return x
