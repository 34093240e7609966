"""What a rewrite rule is, and which there are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from torch import Tensor

import opcheck.rewrite.rules
from opcheck.model.plan import Label, Tier
from opcheck.registry import discover
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw
from opcheck.rewrite.ties import Outcome

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Positional arguments and named ones."""


class Rule(ABC):
    """Other code for one or more overloads; a file in ``opcheck/rewrite/rules`` is all it takes.

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
    replaces: ClassVar[tuple[str, ...]]
    """Overloads in schema spelling that give a new result; their in-place and ``out=`` forms
    follow by themselves."""
    random: ClassVar[bool] = False
    """Whether its results are drawn anew by every call: it is held against the operator by the
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

    def settled(self, call: Call, outcome: Outcome) -> Outcome:
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


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule that opcheck brings, by name."""
    return tuple(kind() for kind in discover(opcheck.rewrite.rules, Rule))  # type: ignore[type-abstract]  # only subclasses come
