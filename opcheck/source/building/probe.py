"""Ask a model for shapes while its inputs are being chosen."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from opcheck.held import left_as_found
from opcheck.source.building.seeded import seeded
from opcheck.source.building.values import valued
from opcheck.source.building.weightless import weightless


def probe(function: Callable[..., Any], *args: Any, weights: bool, **kwargs: Any) -> Any:
    """Call ``function`` without gradients, and without computing where that is possible.

    What the call leaves in caches would be of another device than the run that comes after it, and
    is taken out. A model with ``weights`` computes: what it gives must have values too.
    """
    with left_as_found(holds_tensors, *_parts(function)):
        if not weights:
            with weightless(), torch.no_grad():
                return function(*args, **kwargs)
        args, kwargs = valued((args, kwargs))
        with seeded(), torch.no_grad():
            return function(*args, **kwargs)


def _parts(function: Callable[..., Any]) -> tuple[nn.Module, ...]:
    """The modules that a call may keep something in; none of a model that it gives its sizes."""
    owner = function if isinstance(function, nn.Module) else getattr(function, "__self__", None)
    if not isinstance(owner, nn.Module) or isinstance(owner, torch.jit.ScriptModule):
        return ()
    lazy = any(is_lazy(parameter) for parameter in owner.parameters())
    return () if lazy else tuple(owner.modules())


def holds_tensors(value: Any) -> bool:
    """Whether a value is a tensor, or has one in it."""
    if isinstance(value, (tuple, list, frozenset)):
        return any(map(holds_tensors, value))
    if isinstance(value, dict):
        return any(map(holds_tensors, value.values()))
    return isinstance(value, torch.Tensor)
