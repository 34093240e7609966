"""``fully_shard`` in the user's code: kept until the model is on the traced device.

It shards for a device that this machine may not have. Private names used here, checked on torch
2.13.0: the module ``torch.distributed.fsdp._fully_shard._fully_shard``, from which all others take
the function, and its attribute ``state``.
"""

import sys
from collections.abc import Callable
from functools import wraps
from itertools import count
from types import ModuleType
from typing import Any

from opcheck.model.sharding import SHARDED, Sharding
from opcheck.source.building.after_import import after_import

_NAME = "fully_shard"
_MODULE = "torch.distributed.fsdp._fully_shard._fully_shard"
_OTHERS = ("torch.distributed.fsdp", "torch.distributed.fsdp._fully_shard")
"""Where it is found as well, where they are imported already."""
_numbers = count()


def prepare() -> None:
    """Have ``fully_shard`` be kept from now on, whether or not it is imported already."""
    after_import(_MODULE, _replace)


def _replace(module: ModuleType) -> None:
    if hasattr(getattr(module, _NAME), "at_once"):
        return
    setattr(module, _NAME, _kept(getattr(module, _NAME)))
    for other in filter(None, map(sys.modules.get, _OTHERS)):
        if hasattr(other, _NAME):
            setattr(other, _NAME, getattr(module, _NAME))


def _kept(original: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which only notes what it is asked for; its ``at_once`` does it."""

    @wraps(original)
    def fully_shard(module: Any, **options: Any) -> Any:
        modules = list(module) if isinstance(module, (list, tuple)) else [module]
        left = {id(parameter) for parameter in options.pop("ignored_params", None) or ()}
        named = modules[0].named_parameters()
        ignored = frozenset(name for name, parameter in named if id(parameter) in left)
        sharding = Sharding(next(_numbers), options, ignored)
        for part in modules:
            vars(part)[SHARDED] = sharding
        return module

    fully_shard.at_once = original  # type: ignore[attr-defined]  # read where it is done
    return fully_shard
