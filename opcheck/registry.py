"""Finding plugins: every public subclass of a room's base, one file each."""

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def discover(package: ModuleType, base: type[T]) -> tuple[type[T], ...]:
    """Import every module of ``package`` and give the subclasses of ``base`` defined in it.

    Sorted by the plugin's ``name``.
    """
    found: dict[str, type[T]] = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
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
