"""Experts whose weights a model keeps together: where they are, and whole ones.

Most models of transformers 5.23 keep them so, in modules that are no linear layers. Methods that
pack linear layers alone leave them as they are, and none of their packed weights is loaded: those
that GPTQModel wrote (``experts.0.gate_proj.qweight``) have no place in the model.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.lang.sentence import Sentence

STAY = Sentence(
    "experts whose weights the model keeps together stay floats: transformers 5.23 packs linear "
    "layers alone, and loads no packed weights of such experts"
)
_AT_RANDOM = Sentence(
    "the checkpoint has packed weights of experts, which transformers 5.23 does not load: it "
    "begins these experts at random, in floats"
)
_OF_EXPERT = re.compile(r"^(.*\.experts\.\d+\..*)\.(\w+)$")
_PART = "experts"
_MATRIX = 2
LLAMA_4 = "Llama4TextExperts"
"""The class of experts that some methods do not leave as they are."""


def experts_of(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The modules that transformers takes for the experts of a layer, with their paths."""
    return ((path, one) for path, one in model.named_modules() if path.endswith(".experts"))


def together(model: nn.Module, packs: Callable[[nn.Module], bool] = lambda _: False) -> bool:
    """Whether a model keeps weights of experts in modules that are no linear layers.

    Those that a method ``packs`` do not count.
    """
    return any(
        _PART in path.split(".")
        and not (isinstance(module, nn.Linear) or packs(module))
        and any(weight is not None and weight.dim() >= _MATRIX for weight in held)
        for path, module in model.named_modules()
        if (held := module._parameters.values())
    )


def at_random(names: Collection[str]) -> Sentence | None:
    """Why experts that a model keeps together compute nothing that is meant; None where they do.

    ``names`` are those of the checkpoint's tensors: a layer of an expert's that has some, and no
    ``weight`` of its own, is packed.
    """
    layers = {found[1] for name in names if (found := _OF_EXPERT.match(name))}
    alone = any(f"{layer}.weight" not in names for layer in layers)
    return _AT_RANDOM if alone else None


class ListedExperts(nn.ModuleList):
    """Experts of Llama 4 one by one, as transformers makes them for bitsandbytes' weights.

    ``SequentialLlama4TextExperts`` of transformers 5.23, quantizers/base.py line 376, which
    compressed-tensors has, too.
    """

    def __init__(self, experts: Any, config: Any) -> None:
        each: Any = getattr(sys.modules[type(experts).__module__], "Llama4TextMLP")  # noqa: B009  # a module's
        dtype = experts.down_proj.dtype
        super().__init__(each(config).to(dtype) for _ in range(experts.num_experts))

    def forward(self, x: Tensor) -> Tensor:
        """What each expert computes of its rows of ``x``."""
        rows = x.reshape(len(self), -1, x.shape[-1])
        out = torch.zeros_like(rows)
        for index, expert in enumerate(self):
            out[index] = expert(rows[index])
        return out


def listed(model: Any) -> None:
    """Put experts of Llama 4 into the model one by one."""
    found = [(p, m) for p, m in model.named_modules() if type(m).__name__ == LLAMA_4]
    for path, module in found:
        made = ListedExperts(module, model.config.get_text_config())
        made.train(module.training)
        model.set_submodule(path, made)


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
