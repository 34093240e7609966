"""Sets of inputs that the user's own function gives, one call of the model each."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.source.building.build import build, make
from opcheck.source.building.example import Inputs, normalise
from opcheck.source.user_module import look_up, require_names, run_once

MOST = 64
"""Sets that one scan may have; a function that never ends is stopped there."""
_HINT = (
    "write def make_inputs(): ... that yields, or returns a list of, what the model is called "
    "with: a tensor, a tuple of arguments, a dict of named ones, or (tuple, dict)"
)


def sets_of(what: str, made: Any) -> tuple[Inputs, ...]:
    """The sets of inputs in a list or an iterator; what is neither is one set.

    Raises:
        SourceError: there is none, there are too many, or one is no input.
    """
    if not isinstance(made, list | Iterator):
        return (normalise(what, made),)
    sets = list(islice(iter(made), MOST + 1))
    if not sets:
        raise SourceError(f"{what} gives no inputs", _HINT)
    if len(sets) > MOST:
        raise SourceError(f"{what} gives more than {MOST} sets of inputs", "give those that differ")
    return tuple(normalise(f"{what}, set {place}", one) for place, one in enumerate(sets, 1))


def sets_named(text: str, *, values: bool) -> tuple[Inputs, ...]:
    """What the function that ``FILE.py:NAME`` stands for gives; large tensors without ``values``.

    Raises:
        SourceError: there is no such file or name, it fails, or what it gives are no inputs.
    """
    require_names(text)
    path, _, name = text.rpartition(":")
    found = look_up(make(path, lambda: run_once(Path(path))), Path(path), name)
    what = f"{name}() of {path}"
    if not callable(found):
        raise SourceError(f"{text} is {type(found).__name__}, want a function", _HINT)
    if values:
        return make(what, lambda: sets_of(what, found()), _HINT)
    sets, _ = build(what, lambda: sets_of(what, found()), _HINT)
    return sets
