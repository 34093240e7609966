"""Frozen values as JSON and back, by their own type annotations: between processes and on disk.

A struct becomes ``{"ClassName": [field, …]}``, a tuple or set a list, an enum its value, a
sentence ``{"Sentence": [template, {argument: text, …}]}`` where a text is wanted. The last fields
may be left out where they have defaults: what was kept before they were added is still read.
Reading checks every type; nothing is ever executed.
"""

import sys
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from inspect import get_annotations
from types import GenericAlias, NoneType, UnionType
from typing import Any, ForwardRef, TypeGuard, TypeVar, Union, get_args, get_origin

from msgspec import Struct

from opcheck.lang.sentence import Sentence, place_names, verbatim

T = TypeVar("T")
Json = dict[str, Any] | list[Any] | str | int | float | bool | None
_Decoder = Callable[[Any], Any]
_SCALARS = (str, int, float, bool, NoneType)
_DEEPEST, _LONGEST = 8, 100_000
"""Limits of a sentence that is read: a small one of many levels could come to any length."""


class MalformedError(ValueError):
    """Data that is not the value it should be; says at which field."""


def to_json(value: Any) -> Json:
    """Give ``value`` as what ``json.dumps`` takes."""
    # mypy doubts that a class is hashable
    return _encoder(type(value))(value)  # type: ignore[no-any-return, arg-type]


def from_json(cls: type[T], data: Json) -> T:
    """Read back what :func:`to_json` made of a ``cls``; MalformedError where it is not one."""
    # mypy doubts that a class is hashable
    return _struct(cls)(data)  # type: ignore[no-any-return, arg-type]


def sentence_from_json(data: Any) -> Sentence:
    """Read a sentence back; a text that came without its parts is somebody else's words."""
    return verbatim(_scalar(str)(data))


@cache
def _encoder(cls: type) -> _Decoder:
    if issubclass(cls, Enum):
        return lambda value: value.value
    if cls in _SCALARS:
        return lambda value: value
    if issubclass(cls, Sentence):
        return _sentence_json
    if issubclass(cls, tuple | list):
        return lambda value: [
            item if type(item) in _SCALARS else to_json(item) for item in value
        ]  # fmt: skip
    if issubclass(cls, frozenset | set):
        return lambda value: [to_json(item) for item in sorted(value)]
    if issubclass(cls, Mapping):
        return lambda value: {key: to_json(item) for key, item in value.items()}
    if issubclass(cls, Struct):
        name, names = cls.__name__, cls.__struct_fields__
        return lambda value: {name: [to_json(getattr(value, field)) for field in names]}
    raise TypeError(f"no JSON form for {cls.__name__}")


def _sentence_json(sentence: Sentence) -> Json:
    arguments: dict[str, Any] = {name: to_json(text) for name, text in sentence.arguments.items()}
    return {Sentence.__name__: [sentence.template, arguments]}


@cache
def _struct(cls: type[Struct]) -> _Decoder:
    space = vars(sys.modules[cls.__module__])
    forms = {k: form for base in cls.__mro__[::-1] for k, form in get_annotations(base).items()}
    parts = [(name, _decoder(forms[name], space)) for name in cls.__struct_fields__]
    fewest = len(parts) - len(cls.__struct_defaults__)

    def decode(data: Any) -> Any:
        values = data.get(cls.__name__) if type(data) is dict else None
        if type(values) is not list or not fewest <= len(values) <= len(parts):
            raise _wrong(f"{cls.__name__} with {len(parts)} fields", data)
        made: list[Any] = []
        try:
            for (_, part), value in zip(parts, values, strict=False):
                made.append(part(value))  # its length names the field that failed
        except MalformedError as error:
            raise MalformedError(f"{cls.__name__}.{parts[len(made)][0]}: {error}") from None
        return cls(*made)

    return decode


def _decoder(form: Any, space: Mapping[str, Any]) -> _Decoder:
    """Make the decoder of one annotation; ``space`` holds what quoted annotations name."""
    if isinstance(form, str | ForwardRef):
        return _named(form if isinstance(form, str) else form.__forward_arg__, space)
    origin, args = get_origin(form), get_args(form)
    if origin in (Union, UnionType):
        return _union(args, space)
    if origin is tuple:
        return _tuple(args, space)
    if origin is frozenset:
        return _frozenset(_decoder(args[0], space))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_decoder(args[1], space))
    if _is_struct(form):
        return lambda data: _struct(form)(data)
    if isinstance(form, type) and issubclass(form, Enum):
        return _enum(form)
    if form is Sentence:
        return sentence_from_json
    if form is None or form in _SCALARS:
        return _scalar(NoneType if form is None else form)
    raise TypeError(f"no JSON form for {form!r}")


def _named(name: str, space: Mapping[str, Any]) -> _Decoder:
    """Look a quoted annotation up when it is first needed: a union may contain itself."""
    found: list[_Decoder] = []

    def decode(data: Any) -> Any:
        if not found:
            found.append(_decoder(space[name], space))
        return found[0](data)

    return decode


def _union(forms: tuple[Any, ...], space: Mapping[str, Any]) -> _Decoder:
    """Choose by the JSON type, and among structs by the name."""
    classes = {_name(f): _decoder(f, space) for f in forms if _is_struct(f)}
    others = {_json_type(f): _decoder(f, space) for f in forms if not _is_struct(f)}
    if float in others:
        others.setdefault(int, others[float])

    def decode(data: Any) -> Any:
        chosen = others.get(str if _is_sentence(data) else type(data))
        if chosen is None and type(data) is dict and len(data) == 1:
            chosen = classes.get(next(iter(data)))
        if chosen is None:
            raise _wrong(" or ".join([*classes, *(t.__name__ for t in others)]), data)
        return chosen(data)

    return decode


def _is_struct(form: Any) -> TypeGuard[type[Struct]]:
    return isinstance(form, type) and issubclass(form, Struct)


def _name(cls: Any) -> str:
    return str(cls.__name__)


def _json_type(form: Any) -> type:
    if form is None:
        return NoneType
    if isinstance(form, GenericAlias) or get_origin(form) is not None:
        origin = get_origin(form)
        return dict if isinstance(origin, type) and issubclass(origin, Mapping) else list
    if isinstance(form, type) and issubclass(form, Enum):
        return str
    return form  # type: ignore[no-any-return]  # a scalar type


def _tuple(forms: tuple[Any, ...], space: Mapping[str, Any]) -> _Decoder:
    if len(forms) == 2 and forms[1] is Ellipsis:
        return _sequence(_decoder(forms[0], space), forms[0])
    parts = [_decoder(form, space) for form in forms]

    def decode(data: Any) -> Any:
        if type(data) is not list or len(data) != len(parts):
            raise _wrong(f"a list of {len(parts)}", data)
        return tuple([part(item) for part, item in zip(parts, data, strict=True)])

    return decode


def _sequence(item: _Decoder, form: Any) -> _Decoder:
    def decode(data: Any) -> Any:
        if type(data) is not list:
            raise _wrong("a list", data)
        if form in (int, str) and all(type(value) is form for value in data):
            return tuple(data)  # the long ones, without a call an item
        return tuple([item(value) for value in data])

    return decode


def _frozenset(item: _Decoder) -> _Decoder:
    def decode(data: Any) -> Any:
        if type(data) is not list:
            raise _wrong("a list", data)
        return frozenset([item(value) for value in data])

    return decode


def _mapping(item: _Decoder) -> _Decoder:
    def decode(data: Any) -> Any:
        if type(data) is not dict:
            raise _wrong("an object", data)
        return {key: item(value) for key, value in data.items()}

    return decode


def _enum(cls: type[Enum]) -> _Decoder:
    members: dict[Any, Enum] = {member.value: member for member in cls}

    def decode(data: Any) -> Any:
        if type(data) not in (str, int) or data not in members:
            raise _wrong(f"one of {', '.join(map(str, members))}", data)
        return members[data]

    return decode


def _scalar(cls: type) -> _Decoder:
    def decode(data: Any) -> Any:
        if type(data) is cls:
            return data
        if cls is float and type(data) is int:
            return float(data)
        if cls is str and _is_sentence(data):
            return _sentence(data, _DEEPEST)
        raise _wrong(cls.__name__, data)

    return decode


def _is_sentence(data: Any) -> bool:
    return type(data) is dict and list(data) == [Sentence.__name__]


def _sentence(data: Any, deepest: int) -> str:
    """Read a sentence, or a text that stands in one."""
    if type(data) is str:
        return data
    parts = data[Sentence.__name__] if _is_sentence(data) and deepest else None
    match parts:
        case [str(template), dict(arguments)]:
            read = {name: _sentence(value, deepest - 1) for name, value in arguments.items()}
        case _:
            raise _wrong("a sentence", data)
    length = len(template) + sum(template.count(f"{{{n}}}") * len(v) for n, v in read.items())
    if length > _LONGEST or not place_names(template) >= read.keys():
        raise _wrong("a sentence", data)
    return Sentence(template, **read)


def _wrong(wanted: str, data: Any) -> MalformedError:
    text = repr(data)
    return MalformedError(f"want {wanted}, got {text if len(text) < 60 else text[:57] + '...'}")
