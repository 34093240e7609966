"""Changes to modules that may be imported later: made at once, or as soon as they are."""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Change = Callable[[ModuleType], None]
_waiting: dict[str, list[Change]] = {}
_REPLACED = "_opcheck_replaced"


def after_import(name: str, change: Change) -> None:
    """Change a module: now if it is imported, else as soon as it is.

    Args:
        name: of the module.
        change: is called with it; the same function waits once.
    """
    module = sys.modules.get(name)
    if module is not None:
        change(module)
        return
    changes = _waiting.setdefault(name, [])
    if change not in changes:
        changes.append(change)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def replace_once(owner: Any, name: str, made: Callable[[Any], Any]) -> None:
    """Have what ``made`` makes of a function of a module or class be there in its place.

    Nothing is done where there is none, or where that was done before.
    """
    original = vars(owner).get(name)
    if original is None or hasattr(original, _REPLACED):
        return
    function = made(original)
    setattr(function, _REPLACED, True)
    setattr(owner, name, function)


class _Loader(Loader):
    """Loads a module as ever, then has it changed."""

    def __init__(self, original: Loader) -> None:
        self._original = original

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._original.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._original.exec_module(module)
        for change in _waiting.pop(module.__name__, ()):
            change(module)


class _Finder(MetaPathFinder):
    """Finds the modules that are waited for, as every other finder does."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Give the module's spec with a loader that has it changed."""
        if fullname not in _waiting:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec
