"""Shapes as types of msgspec, which tell at once whether a value fits, and not why it does not."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache, reduce
from operator import or_
from types import GenericAlias
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import NODEFAULT, Meta, Struct

from opcheck.db.predicates import PredicateShape, bounds
from opcheck.db.schema.checks import (
    LONG,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOrMore,
    Record,
    Shape,
    Text,
)
from opcheck.model.predicate_kinds import kinds


def fits(value: object, shape: Shape) -> bool:
    """Whether a value is sure to have a shape; where not, the shape's own check decides."""
    try:
        msgspec.convert(value, _form(cast("Hashable", shape)))
    except (ValueError, TypeError):
        return False
    return True


@cache
def _form(shape: Hashable) -> Any:
    """A type that no value fits which the shape's own check refuses.

    Raises:
        TypeError: there is none.
    """
    of: Callable[[Any], Any] = _form
    match shape:
        case Text(one_of=one_of) if one_of:
            return Literal[tuple(sorted(map(str.__str__, one_of)))]  # members of enums are no plain
        case Text(pattern=pattern) if pattern:
            return Annotated[str, Meta(pattern=rf"\A(?:{pattern})\Z", max_length=LONG - 1)]
        case Text():
            return str
        case Flag():
            return bool
        case Number():
            return int
        case ListOf(item, least):
            return Annotated[GenericAlias(list, of(item)), Meta(min_length=least)]
        case MapOf(value, key):
            return GenericAlias(dict, (of(key), of(value)))
        case OneOrMore(item):
            return of(item) | GenericAlias(list, of(item))
        case Record(required, optional):
            return _record(required, optional)
        case PredicateShape():
            return reduce(or_, (_predicate(shape, kind) for kind in kinds()))
    raise TypeError(shape)


def _record(
    required: Mapping[str, Shape], optional: Mapping[str, Shape], **options: Any
) -> type[Struct]:
    """A type with these keys and no others; its fields are numbered, as a key may be any text."""
    names = _numbered((*required, *optional))
    shapes: Any = {**required, **optional}
    fields = [
        (name, _form(shapes[key]), NODEFAULT if key in required else None)
        for name, key in names.items()
    ]
    return msgspec.defstruct(
        "Form", fields, rename=names, forbid_unknown_fields=True, gc=False, **options
    )


def _numbered(keys: Iterable[str]) -> dict[str, str]:
    return {f"_{number}": key for number, key in enumerate(keys)}


def _predicate(shape: PredicateShape, kind: str) -> type[Struct]:
    """Of predicates of a kind, which state one bound."""
    record = shape.of(kind)
    required = {key: form for key, form in record.required.items() if key != "subject"}
    names = _numbered((*required, *record.optional))

    def counted(found: object) -> None:
        stated = {key for name, key in names.items() if getattr(found, name) is not None}
        if len(bounds(stated)) != 1:
            raise ValueError(stated)

    own = {"__post_init__": counted}
    return _record(required, record.optional, tag_field="subject", tag=kind, namespace=own)
