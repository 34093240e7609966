"""The options that a manifest may give a model or a script, by name, and what reads each value."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from opcheck.lang.sentence import Sentence
from opcheck.model.script import Data

_LONGEST_COUNT = len("100000000")


class FieldError(ValueError):
    """A value that a field does not take."""

    def __init__(self, problem: Sentence) -> None:
        super().__init__(problem)


def _texts(value: object) -> tuple[str, ...]:
    """A text, or a list of texts; a mapping as ``NAME=VALUE`` texts."""
    if isinstance(value, Mapping):
        value = [f"{name}={_as_text(one)}" for name, one in value.items()]
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence) or not all(isinstance(one, str) for one in value):
        raise FieldError(
            Sentence("expected text or a list of texts, found {value}", value=f"{value!r:.60}")
        )
    return tuple(value)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _flag(value: object) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    found = value if isinstance(value, bool) else words.get(str(value).lower())
    if found is None:
        raise FieldError(Sentence("expected true or false, found {value}", value=f"{value!r:.60}"))
    return found


def _positive(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        number = 0.0
    if isinstance(value, bool) or not 0 < number < inf:
        raise FieldError(
            Sentence("expected a positive number, found {value}", value=f"{value!r:.60}")
        )
    return number


def _count(value: object) -> int:
    text = "" if isinstance(value, bool) else str(value)
    if not text.isdecimal() or len(text) > _LONGEST_COUNT or not int(text):
        raise FieldError(
            Sentence("expected a whole number above zero, found {value}", value=f"{value!r:.60}")
        )
    return int(text)


def _data(value: object) -> Data:
    if value not in tuple(Data):
        raise FieldError(
            Sentence(
                "expected one of {list}, found {arg_found}",
                list=", ".join(Data),
                arg_found=f"{value!r:.60}",
            )
        )
    return Data(str(value))


FIELDS: Mapping[str, Callable[[object], Any]] = {
    "input": _texts,
    "inputs": _texts,
    "decode": _flag,
    "train": _flag,
    "step": _texts,
    "dynamic": _texts,
    "schemas": _texts,
    "timeout": _positive,
    "memory": _positive,
}
"""Field -> what reads its value."""
SCRIPT_FIELDS: Mapping[str, Callable[[object], Any]] = {
    "steps": _count,
    "forwards": _count,
    "ranks": _count,
    "data": _data,
    "values": _flag,
    "as-cuda": _flag,
    "schemas": _texts,
    "timeout": _positive,
    "memory": _positive,
}
"""The same of a script: the options of ``opcheck run``."""
SCRIPT_ONLY = tuple(name for name in SCRIPT_FIELDS if name not in FIELDS)
LISTS = frozenset(("input", "inputs", "step", "dynamic", "schemas"))
"""Fields of which there may be several values."""
