"""Imported by a process that is copied: has what commands import, and nothing of workers."""

import importlib
import pkgutil

import opcheck

_WORKERS = ("child", "emulate", "runtime", "pytest_plugin", "__main__", "importers", "rewrite")


def _wanted(name: str) -> bool:
    return not any(part in _WORKERS for part in name.split("."))


def _load(path: list[str], prefix: str) -> None:
    for module in pkgutil.iter_modules(path, prefix):
        if _wanted(module.name):
            found = importlib.import_module(module.name)
            if module.ispkg:
                _load(list(found.__path__), f"{module.name}.")


_load(list(opcheck.__path__), "opcheck.")
