"""Finding plugins: every public subclass of a room's base, one file each."""

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def discover(package: ModuleType, base: type[T], *, folders: bool = False) -> tuple[type[T], ...]:
    """Import every module of ``package`` and give the subclasses of ``base`` defined in it.

    Sorted by the plugin's ``name``. With ``folders``, modules in folders below it count as well.
    """
    listed = pkgutil.walk_packages if folders else pkgutil.iter_modules
    found: dict[str, type[T]] = {}
    for info in listed(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, base)
                and value is not base
                and value.__module__ == module.__name__
                and not value.__name__.startswith("_")
            ):
                name: str = value.name  # type: ignore[attr-defined]  # the base declares it
                found[name] = value
    return tuple(found[name] for name in sorted(found))
