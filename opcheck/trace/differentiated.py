"""A function recorded with the gradients of some of its arguments, but for those made of nothing.

What surrounds it in a model is no part of it: neither the gradients that reach its results nor what
adds up those of one tensor that is used elsewhere, too.
"""

from typing import Any

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.model.trace import Phase
from opcheck.trace.attempt import Play
from opcheck.trace.engine import Engine
from opcheck.trace.step import differentiable
from opcheck.trace.training import Registrations, follow


class Differentiated(Struct, frozen=True):
    """A forward and its backward, for targets with these registrations."""

    registrations: Registrations

    def play(self, model: nn.Module, given: Any) -> Play:
        """Differentiate by the inputs of which ``given`` require a gradient."""

        def play(
            module: nn.Module, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> object:
            follow((args, kwargs), given)
            leaves = [t for t in tree_leaves((args, kwargs)) if _wanted(t)]
            with engine.quiet():
                args, kwargs = tree_map(_passed, (args, kwargs))
            engine.begin(Phase.FORWARD)
            results = differentiable(module(*args, **kwargs))
            with engine.quiet():
                seeds = [torch.ones_like(result) for result in results]
            engine.begin(Phase.BACKWARD)
            if results and leaves:
                torch.autograd.grad(results, leaves, seeds, allow_unused=True)
            return None

        return play


def _wanted(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _passed(value: Any) -> Any:
    """An input as a model's call gets it: no leaf, so that it may be written to."""
    return _Passed.apply(value) if _wanted(value) else value  # type: ignore[no-untyped-call]  # torch


class _Passed(torch.autograd.Function):
    """A copy whose gradient is handed on as it is."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return gradients[0]
