"""What a rewrite rule is, and which there are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

import opcheck.rewrite.rules
from opcheck.model.plan import Label, Tier
from opcheck.registry import discover
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

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
    summary: ClassVar[str]
    """What to write, as an order: ``Compare with every element``."""
    gives_up: ClassVar[str] = ""
    """What is lost by it, where the label is approximate or the tier is structural."""
    spellings: ClassVar[tuple[str, ...]] = ()
    """How users write calls that ``replace`` can stand for, argument by argument: ``torch.isin``,
    ``Tensor.roll``, ``torch.nn.functional.unfold``."""
    references: ClassVar[tuple[str, ...]] = ()
    """Where the rewrite is known from: threads, PyTorch's sources."""
    replace: ClassVar[Callable[..., Any]]
    """Computes the same; its arguments are named as in the schema of ``replaces``."""

    def refuses(self, call: Call) -> str:
        """Say in one sentence why this call cannot be replaced; "" where it can.

        Tensors in ``call`` have shapes, strides and dtypes, but may have no values.
        """
        return ""

    @abstractmethod
    def example(self, op: str, draw: Draw) -> Arguments:
        """Draw arguments for one of ``replaces``, from all that it takes: the edges as well."""


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule that opcheck brings, by name."""
    return tuple(kind() for kind in discover(opcheck.rewrite.rules, Rule))  # type: ignore[type-abstract]  # only subclasses come
