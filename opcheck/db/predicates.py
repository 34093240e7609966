"""Predicates as the files write them: ``{subject: rank, argument: self, maximum: 6}``.

Each names its kind (``subject``), an argument, what the kind has beside them (``dim``), and one
bound.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache
from inspect import get_annotations
from typing import Any

from msgspec import Struct

from opcheck.db.schema.checks import ListOf, Number, Path, Record, Shape, ShapeError, Text
from opcheck.lang.sentence import Sentence
from opcheck.model.list_bounds import NotEqual, NotFactor, NotMultiple
from opcheck.model.predicate_kinds import kinds
from opcheck.model.predicates import (
    Bound,
    Fewer,
    More,
    NoneOf,
    NotDivisible,
    OneOf,
    Outside,
    Predicate,
    Remainder,
    Unlike,
)

_TEXTS = ListOf(Text())
_BOUNDS: Mapping[str, tuple[Shape, Callable[[Any], Bound]]] = {
    "one_of": (_TEXTS, lambda listed: OneOf(frozenset(listed))),
    "none_of": (_TEXTS, lambda listed: NoneOf(frozenset(listed))),
    "multiple_of": (Text(), NotMultiple),
    "factor_of": (Text(), NotFactor),
    "equal_to": (Text(), NotEqual),
    "divisible_by": (Number(), NotDivisible),
    "leaves": (
        Record({"divisor": Number(), "remainder": Number()}),
        lambda said: Remainder(said["divisor"], said["remainder"]),
    ),
    "same_as": (Text(), Unlike),
    "fewer_than": (Text(), Fewer),
    "more_than": (Text(), More),
}
"""Key of the files -> the shape of its value, and the bound that it states."""
_ENDS = ("minimum", "maximum")
"""The keys of one bound more, of which there may be both."""
_SHAPES: Mapping[object, Shape] = {str: Text(), int: Number()}


class PredicateShape(Struct, frozen=True):
    """The shape of a predicate: a known kind, and one bound."""

    @staticmethod
    @cache
    def of(kind: str) -> Record:
        """The shape of predicates of one kind; of an unknown one, what all of them have."""
        known = kinds()
        own = _own(known[kind]) if kind in known else {}
        return Record(
            {"subject": Text(frozenset(known)), "argument": Text()},
            {
                **{field: _SHAPES[form] for field, form in own.items()},
                **{key: shape for key, (shape, _) in _BOUNDS.items()},
                **dict.fromkeys(_ENDS, Number()),
            },
        )

    def check(self, value: object, path: Path) -> None:
        """Raise where a key is missing or unknown, or there is not one bound."""
        kind = value.get("subject") if isinstance(value, dict) else None
        self.of(kind if isinstance(kind, str) else "").check(value, path)
        assert isinstance(value, dict)
        stated = bounds(value)
        if len(stated) != 1:
            listed = ", ".join([*_BOUNDS, *_ENDS])
            raise ShapeError(
                path,
                Sentence(
                    "expected one bound of {list}, found {count}", list=listed, count=len(stated)
                ),
            )


def bounds(keys: Container[str]) -> Sequence[str]:
    """The keys that state a bound each, of those that a predicate has."""
    return [key for key in _BOUNDS if key in keys] + [key for key in _ENDS if key in keys][:1]


@cache
def _own(kind: type[Predicate]) -> Mapping[str, object]:
    """What a kind has beside an argument and a bound, with its type."""
    known = {*Predicate.__struct_fields__}
    return {name: form for name, form in get_annotations(kind).items() if name not in known}


def read_predicate(said: Mapping[str, Any]) -> Predicate:
    """A predicate as the files write it, which has its shape."""
    kind = kinds()[said["subject"]]
    own = {name: said[name] for name in _own(kind) if name in said}
    return kind(said["argument"], _bound(said), **own)


def _bound(said: Mapping[str, Any]) -> Bound:
    for key, (_, made) in _BOUNDS.items():
        if key in said:
            return made(said[key])
    return Outside(*(said.get(end) for end in _ENDS))
