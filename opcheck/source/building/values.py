"""Inputs with values: plausible ones, the same on every run, where there are none."""

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only  # private; checked with torch 2.13

from opcheck.source.building.example import Inputs, values_of
from opcheck.source.building.fill import normal
from opcheck.source.building.signature import Signature


def valued(inputs: Inputs, signature: Signature | None = None, ids: int = 2) -> Inputs:
    """Give the same inputs, each tensor on the CPU: numbers below ``ids`` where it had no values.

    Floats are drawn from the normal distribution; ``signature`` names positional inputs.
    """
    args, kwargs = inputs
    generator = torch.Generator().manual_seed(0)

    def made(name: str, value: Any) -> Any:
        return tree_map_only(Tensor, lambda tensor: _valued(name, tensor, ids, generator), value)

    name_at = signature.name_at if signature else lambda _place: ""
    return (
        tuple(made(name_at(place), value) for place, value in enumerate(args)),
        {name: made(name, value) for name, value in kwargs.items()},
    )


def _valued(name: str, tensor: Tensor, ids: int, generator: torch.Generator) -> Tensor:
    if not tensor.is_meta:
        return tensor.cpu()
    shape, dtype = tuple(tensor.shape), tensor.dtype
    number = dtype.is_floating_point or dtype.is_complex
    drawn = number and "mask" not in name
    values = normal(shape, dtype, generator) if drawn else values_of(name, shape, dtype, ids)
    return torch.empty_strided(shape, tensor.stride(), dtype=dtype, device="cpu").copy_(values)
