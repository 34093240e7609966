"""The models of ``tests/zoo`` as a file to scan: ``benchmarks/zoo_models.py:language_bert``."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from tests.zoo import ZOO

_NAMES = {name.replace("-", "_"): name for name in ZOO}


def source(model: str) -> str:
    """How opcheck is told of a model of the zoo."""
    return f"{__file__}:{model.replace('-', '_')}"


def __getattr__(name: str) -> Callable[[], tuple[nn.Module, Any]]:
    if name not in _NAMES:
        raise AttributeError(name)
    return partial(_made, _NAMES[name])


def _made(name: str) -> tuple[nn.Module, Any]:
    model, args, kwargs = ZOO[name]()
    if args and kwargs:
        raise ValueError(f"{name} takes positional and named inputs: one of them would be lost")
    return model, kwargs or args
