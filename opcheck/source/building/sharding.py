"""``fully_shard`` in the user's code: kept until the model is on the traced device.

It shards for a device that this machine may not have. Private names used here, checked on torch
2.13.0: the module ``torch.distributed.fsdp._fully_shard._fully_shard``, from which all others take
the function, and its attribute ``state``.
"""

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import count
from types import ModuleType
from typing import Any

from opcheck.model.sharding import SHARDED, Sharding

_NAME = "fully_shard"
_MODULE = "torch.distributed.fsdp._fully_shard._fully_shard"
_OTHERS = ("torch.distributed.fsdp", "torch.distributed.fsdp._fully_shard")
"""Where it is found as well, where they are imported already."""
_numbers = count()


def prepare() -> None:
    """Have ``fully_shard`` be kept from now on, whether or not it is imported already."""
    module = sys.modules.get(_MODULE)
    if module is None:
        if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Finder())
        return
    if not hasattr(getattr(module, _NAME), "at_once"):
        _replace(module)
        for other in filter(None, map(sys.modules.get, _OTHERS)):
            setattr(other, _NAME, getattr(module, _NAME))


def _replace(module: ModuleType) -> None:
    setattr(module, _NAME, _kept(getattr(module, _NAME)))


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


class _Loader(Loader):
    """Loads the module as ever, then replaces the function in it."""

    def __init__(self, original: Loader) -> None:
        self.original = original

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.original.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.original.exec_module(module)
        _replace(module)


class _Finder(MetaPathFinder):
    """Finds that one module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Give the module's spec with a loader that replaces the function."""
        if fullname != _MODULE:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec
