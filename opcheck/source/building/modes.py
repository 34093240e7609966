"""Which layers of a model are in training mode, and compute otherwise then."""

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
