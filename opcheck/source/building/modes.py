"""Which layers of a model are in training mode, and compute otherwise then."""

import inspect

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

_BUILT_BY_USER = frozenset({"python", "pickle", "torchscript", "live"})
"""Kinds whose model comes as the user's own code left it."""


def in_training(module: nn.Module, kind: str) -> tuple[str, ...]:
    """Each such layer with its kind, sorted; none of a model that a library builds by name."""
    if kind not in _BUILT_BY_USER:
        return ()
    found = (
        f"{path or '(the model)'} ({type(part).__name__})"
        for path, part in module.named_modules()
        if _differs(part) and part.training  # a frozen script has none
    )
    return tuple(sorted(found))


def mode_note(module: nn.Module, kind: str) -> tuple[str, ...]:
    """What to say of a model that comes in training mode, and is run in evaluation mode.

    Nothing of one that computes the same in both.
    """
    found = in_training(module, kind)
    if kind in _BUILT_BY_USER:
        asks = (
            f"{path or '(the model)'} ({type(part).__name__})"
            for path, part in module.named_modules()
            if getattr(part, "training", False) and _asks(type(part))  # a frozen script has none
        )
        found = tuple(dict.fromkeys((*found, *asks)))
    if not found:
        return ()
    first, count = found[0], len(found)
    which = first if count == 1 else f"{first} and {count - 1} more"
    return (f"given in training mode, run in evaluation mode: {which} may compute otherwise",)


def _asks(cls: type[nn.Module]) -> bool:
    """Whether the forward of a class that is not PyTorch's own reads the mode."""
    code = getattr(inspect.getattr_static(cls, "forward", None), "__code__", None)
    own = not cls.__module__.startswith("torch.")
    return own and code is not None and "training" in code.co_names


def _differs(part: nn.Module) -> bool:
    match part:
        case _DropoutNd():
            return part.p > 0
        case _BatchNorm():
            return part.track_running_stats
        case nn.RNNBase() | nn.MultiheadAttention():
            return part.dropout > 0
        case _:
            return False
