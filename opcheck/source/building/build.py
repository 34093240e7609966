"""Build a model, without its weights where that is possible."""

import copy
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_map_only  # private; checked with torch 2.13

from opcheck.errors import OpcheckError
from opcheck.source.building.blame import brief, failed
from opcheck.source.building.weightless import is_large, weightless

T = TypeVar("T")

_NEEDS_VALUES = ("meta", "data-dependent", "no data")
"""Words of errors that only a tensor without values can cause."""


def build(what: str, factory: Callable[[], T], hint: str = "") -> tuple[T, tuple[str, ...]]:
    """Call ``factory`` without making weights, or for real if it needs their values.

    Gives what it returned and the notes; ``what`` names the factory in errors, and ``hint`` is
    for one that has no better.
    """
    try:
        with weightless():
            return factory(), ()
    except OpcheckError:
        raise
    except (Exception, SystemExit) as error:
        if not any(word in str(error).lower() for word in _NEEDS_VALUES):
            raise failed(what, error, hint) from error
        note = f"{what} needs the values of its weights ({brief(error)}): built with them"
    try:
        torch.manual_seed(0)
        return factory(), (note,)
    except (Exception, SystemExit) as error:
        raise failed(what, error, hint) from error


def shed(module: nn.Module) -> None:
    """Replace what is large in ``module`` by tensors without values, sharing kept."""
    memo: dict[int, torch.Tensor] = {}
    for part in module.modules():
        for store in (part._parameters, part._buffers):
            for name, tensor in store.items():
                if tensor is not None:
                    store[name] = _light(tensor, memo)  # type: ignore[assignment]  # same kind


def shed_values(value: T) -> T:
    """Give ``value``, any nesting of containers, with what is large in it on meta."""
    memo: dict[int, torch.Tensor] = {}
    lighter: T = tree_map_only(torch.Tensor, lambda tensor: _light(tensor, memo), value)
    return lighter


def light_copy(module: nn.Module) -> nn.Module:
    """Copy ``module`` without copying what is large in it; the original is left as it is."""
    memo: dict[int, torch.Tensor] = {}
    for tensor in (*module.parameters(), *module.buffers()):
        if _is_heavy(tensor):
            memo[id(tensor)] = _light(tensor, {})
    return copy.deepcopy(module, memo)


def _is_heavy(tensor: torch.Tensor) -> bool:
    return not is_lazy(tensor) and not tensor.is_meta and is_large(tensor.numel(), tensor.dtype)


def _light(tensor: torch.Tensor, memo: dict[int, torch.Tensor]) -> torch.Tensor:
    if not _is_heavy(tensor):
        return tensor
    if id(tensor) not in memo:
        bare = torch.empty_like(tensor, device="meta")
        is_parameter = isinstance(tensor, nn.Parameter)
        memo[id(tensor)] = nn.Parameter(bare, tensor.requires_grad) if is_parameter else bare
    return memo[id(tensor)]
