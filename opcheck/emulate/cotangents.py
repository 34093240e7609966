"""Gradients of whatever in a model's results has one, from the same random numbers everywhere."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from opcheck.emulate.compare import Named, named_tensors
from opcheck.errors import TraceError
from opcheck.model.emulation import gradient_of
from opcheck.model.trace import Phase
from opcheck.trace.step import differentiable


def gradients(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    begins: Callable[[Phase], None],
) -> Named:
    """Gradients of every parameter that is trained and every floating-point input, by name.

    Those that the results do not depend on are zeros.

    Raises:
        TraceError: nothing in the results has a gradient.
    """
    args, kwargs = tree_map(_leaf, (args, dict(kwargs)))
    wanted: Named = {
        gradient_of(name): p for name, p in module.named_parameters() if p.requires_grad
    }
    inputs = {**named_tensors(args, "input"), **named_tensors(kwargs, "input")}
    wanted |= {gradient_of(name): t for name, t in inputs.items() if t.requires_grad}
    with torch.enable_grad():
        begins(Phase.FORWARD)
        results = differentiable(module(*args, **kwargs))
    if not (results and wanted):
        raise TraceError("nothing in the model's results has a gradient")
    begins(Phase.BACKWARD)
    found = torch.autograd.grad(
        results, list(wanted.values()), _cotangents(results),
        allow_unused=True, materialize_grads=True,
    )  # fmt: skip
    return dict(zip(wanted, found, strict=True))


def _leaf(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    leaf = value.detach()
    return leaf.requires_grad_() if leaf.is_floating_point() or leaf.is_complex() else leaf


def _cotangents(results: list[Tensor]) -> list[Tensor]:
    random = torch.Generator().manual_seed(1)
    made = []
    for result in results:
        wide = torch.complex128 if result.is_complex() else torch.float64
        drawn = torch.randn(result.shape, generator=random, dtype=wide)
        made.append(drawn.to(result.dtype).to(result.device))
    return made
