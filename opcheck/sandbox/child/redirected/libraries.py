"""Libraries that open files themselves, given where these lie; and modules that were written."""

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, NamedTuple

from opcheck.sandbox.child.redirected.calls import Calls, is_path


class _Opens(NamedTuple):
    """A function that is given a path, and opens it where Python does not see it."""

    module: str
    function: str
    position: int
    name: str
    writes: bool = False


_OPENERS = (
    *(_Opens(module, "save", 1, "f", writes=True) for module in ("torch", "torch.jit")),
    _Opens("torch.export", "save", 1, "f", writes=True),
    *(_Opens(module, "load", 0, "f") for module in ("torch", "torch.jit", "torch.export")),
    _Opens("safetensors.torch", "serialize_file", 1, "filename", writes=True),
    *(
        _Opens(module, "safe_open", 0, "filename")
        for module in ("safetensors", "safetensors.torch")
    ),
)


def prepare(calls: Calls) -> None:
    """Have torch and safetensors, whose C++ and Rust open files, be given where they lie."""
    for opens in _OPENERS:
        try:
            module = importlib.import_module(opens.module)
        except ImportError:
            continue
        moved = calls.writing if opens.writes else calls.reading
        function = getattr(module, opens.function)
        setattr(module, opens.function, with_path(function, moved, opens.position, opens.name))


def with_path(
    function: Callable[..., Any], use: Callable[[Any], Any], position: int, name: str
) -> Callable[..., Any]:
    """The same function, given what ``use`` gives for its argument where that is a path."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args]
        if len(given) > position and is_path(given[position]):
            given[position] = use(given[position])
        elif is_path(kwargs.get(name)):
            kwargs[name] = use(kwargs[name])
        return function(*given, **kwargs)

    return call


class Written:
    """Finds modules that the script wrote; those that are there are found before."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As any finder of ``sys.meta_path``."""
        places = [*(sys.path if path is None else path)]
        aside = [place for place in map(self._calls.reading, places) if place not in places]
        return PathFinder.find_spec(name, aside, target) if aside else None
