"""What a database file must look like - small composable checks that say where and what."""

import re
from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct, field

from opcheck.lang.sentence import Sentence

Path = tuple[str | int, ...]

LONG = 10_000
"""No text of a form has so many characters: over more, matching could take hours."""
_SHOWN = 80
"""Characters of a text that a message shows."""


class ShapeError(Exception):
    """A value that is not what its file kind wants."""

    def __init__(self, path: Path, expected: Sentence) -> None:
        super().__init__(expected)
        self.path = path
        self.expected = expected


class Shape(Protocol):
    """One check; :meth:`check` raises :class:`ShapeError`."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value``, found at ``path``, does not fit."""


class Text(Struct, frozen=True):
    """A string, of a fixed set if ``one_of`` is given, or of a form if ``pattern`` is."""

    one_of: frozenset[str] = frozenset()
    pattern: str = ""
    form: str = ""
    """What ``pattern`` asks for, in words."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no text, not one of the set or not of the form."""
        if not isinstance(value, str):
            raise ShapeError(
                path,
                Sentence(
                    "expected text (in quotes, if a number), found {arg_found}",
                    arg_found=_kind(value, path),
                ),
            )
        if self.one_of and value not in self.one_of:
            known = ", ".join(sorted(self.one_of))
            raise ShapeError(
                path,
                Sentence(
                    "expected one of {list}, found {arg_found}",
                    list=known,
                    arg_found=_kind(value, path),
                ),
            )
        if self.pattern and not (len(value) < LONG and re.fullmatch(self.pattern, value)):
            raise ShapeError(
                path,
                Sentence(
                    "expected {said_form}, found {arg_found}",
                    said_form=self.form,
                    arg_found=_kind(value, path),
                ),
            )


_TEXT = Text()


class Flag(Struct, frozen=True):
    """``true`` or ``false``."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no truth value."""
        if not isinstance(value, bool):
            raise ShapeError(
                path,
                Sentence("expected true or false, found {arg_found}", arg_found=_kind(value, path)),
            )


class Number(Struct, frozen=True):
    """A whole number."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no whole number."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise ShapeError(
                path,
                Sentence(
                    "expected a whole number, found {arg_found}", arg_found=_kind(value, path)
                ),
            )


class ListOf(Struct, frozen=True):
    """A list whose items all have one shape."""

    item: Shape
    least: int = 0
    """How many items there must be."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no list, or an item does not fit."""
        if not isinstance(value, list):
            raise ShapeError(
                path, Sentence("expected a list, found {arg_found}", arg_found=_kind(value, path))
            )
        if len(value) < self.least:
            raise ShapeError(
                path,
                Sentence(
                    "expected a list of {count} or more, found {count_found}",
                    count=self.least,
                    count_found=len(value),
                ),
            )
        if self.item == _TEXT and all(isinstance(item, str) for item in value):
            return  # half of all values are in such lists
        for index, item in enumerate(value):
            self.item.check(item, (*path, index))


class MapOf(Struct, frozen=True):
    """A mapping from texts to one shape."""

    value: Shape
    key: Shape = Text()

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no mapping, or a key or value does not fit."""
        if not isinstance(value, dict):
            raise ShapeError(
                path,
                Sentence("expected a mapping, found {arg_found}", arg_found=_kind(value, path)),
            )
        for key, item in value.items():
            if not isinstance(key, str):
                raise ShapeError(
                    path,
                    Sentence(
                        "expected text keys (in quotes, if numbers), found {text}", text=repr(key)
                    ),
                )
            below = (*path, key)
            self.key.check(key, below)
            self.value.check(item, below)


class Record(Struct, frozen=True, eq=False):
    """A mapping with known keys."""

    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)

    def of(self, key: str) -> Shape | None:
        """The shape of what stands under a key; None where there is no such key."""
        return self.required.get(key) or self.optional.get(key)

    def check(self, value: object, path: Path) -> None:
        """Raise where a key is missing or unknown, or a value does not fit."""
        if not isinstance(value, dict):
            raise ShapeError(
                path,
                Sentence("expected a mapping, found {arg_found}", arg_found=_kind(value, path)),
            )
        if not self.required.keys() <= value.keys():
            missing = next(key for key in self.required if key not in value)
            raise ShapeError(
                path, Sentence("expected the key {text}, which is missing", text=repr(missing))
            )
        for key, item in value.items():
            shape = self.required.get(key) or self.optional.get(key)
            if shape is None:
                known = ", ".join(sorted({*self.required, *self.optional}))
                raise ShapeError(
                    (*path, key),
                    Sentence(
                        "expected no key {text} here (known: {list})", text=repr(key), list=known
                    ),
                )
            shape.check(item, (*path, key))


class OneOrMore(Struct, frozen=True):
    """A value of one shape, or a list of such values."""

    item: Shape

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value``, or an item of it, does not fit."""
        if isinstance(value, list):
            ListOf(self.item).check(value, path)
        else:
            self.item.check(value, path)


def _kind(value: object, path: Path) -> str:
    """What a value is; of a whole file that is one value nothing is shown: it may be a key."""
    match value:
        case str() if not path:
            return "a text"
        case int() | float() if not path and not isinstance(value, bool):
            return "a number"
        case None:
            return "nothing"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case int() if abs(value) >= 2**63:
            return "a number beyond all measure"  # of thousands of digits, it has no text
        case str() if len(value) > _SHOWN:
            return f"{value[:_SHOWN]!r}…"
        case _:
            return repr(value)
