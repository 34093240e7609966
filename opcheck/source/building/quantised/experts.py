"""Experts whose weights a model keeps together: where they are, and whole ones."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn


def experts_of(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The modules that transformers takes for the experts of a layer, with their paths."""
    return ((path, one) for path, one in model.named_modules() if path.endswith(".experts"))


def has_experts(model: nn.Module) -> bool:
    """Whether a model keeps the weights of its experts together, which are packed otherwise."""
    return any(experts_of(model))


class WholeExperts:
    """Experts as they were before they were packed; they have weights while they are called."""

    def __init__(self, experts: Any) -> None:
        self._experts = experts
        self._shapes = {name: tuple(value.shape) for name, value in experts.named_parameters()}
        experts._parameters.clear()

    def __call__(self, x: Tensor, *routes: Tensor) -> Tensor:
        """What they compute of the rows of ``x``, with weights of its dtype."""
        for name, shape in self._shapes.items():
            setattr(self._experts, name, x.new_empty(shape))
        out: Tensor = self._experts.forward(x, *routes)
        for name in self._shapes:
            delattr(self._experts, name)
        return out
