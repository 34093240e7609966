"""A model and its inputs in a mode of a forward: other dtypes, or ``torch.autocast`` around it."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map  # public in all but name; checked with torch 2.13

Ready = tuple[nn.Module, tuple[Any, ...], Mapping[str, Any]]
_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


class Autocast(nn.Module):
    """A model under ``torch.autocast`` on the device that its inputs are on."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model gives."""
        found = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
        device = found[0].device if found else next(self.model.parameters()).device
        with torch.autocast(device.type, dtype=torch.float16):
            return self.model(*args, **kwargs)


def in_mode(mode: str, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Ready:
    """The model and its inputs, of which those of floating point have the dtype of the mode.

    A dtype stays what the model has from then on: modes are asked for in the order of ``FORWARD``.
    """
    if mode == "autocast":
        return Autocast(model), args, kwargs
    dtype = _DTYPES.get(mode)
    if dtype is None:
        return model, args, kwargs

    def cast(value: Any) -> Any:
        floating = isinstance(value, torch.Tensor) and value.is_floating_point()
        return value.to(dtype) if floating else value

    return model.to(dtype), tree_map(cast, args), tree_map(cast, dict(kwargs))
