"""The parts of a file's content - entries by name, lines by overload - decoded one at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property, partial
from typing import Any, overload

import msgspec
from msgspec import Raw

from opcheck.db.schema.checks import ListOf, MapOf, OneOrMore, Record, Shape

Said = Mapping[str, Any]
_ANYTHING = msgspec.json.Decoder[Any]()
_PARTS = msgspec.json.Decoder(dict[str, Raw])
_ITEMS = msgspec.json.Decoder(list[Raw])


class _Where(msgspec.Struct):
    """What of an entry tells where it holds."""

    chips: tuple[str, ...] = ()
    torch: str = ""
    keys: tuple[str, ...] = ()


_PLACES = msgspec.json.Decoder(dict[str, _Where | list[_Where]])
_NUMBERS = msgspec.json.Decoder(list[int])


class _Compiled(msgspec.Struct):
    """Lines as the index keeps them."""

    lines: Raw
    places: Raw
    """Overload -> which of the lines name it."""


_COMPILED = msgspec.json.Decoder(_Compiled)


class Entries(MutableMapping[str, Any]):
    """A mapping of a file, each value of which is decoded when it is first asked for."""

    def __init__(self, said: Raw | dict[str, Any], limited: Iterable[str] | None = None) -> None:
        self._said = said
        self._limited = limited

    @cached_property
    def _held(self) -> dict[str, Any]:
        return _PARTS.decode(self._said) if isinstance(self._said, Raw) else self._said

    @cached_property
    def limited(self) -> set[str]:
        """Names of entries that may not hold everywhere; those of the others need no look."""
        if self._limited is None and isinstance(self._said, Raw):
            anywhere = _Where()
            return {name for name, w in _PLACES.decode(self._said).items() if w != anywhere}
        return set(self._held if self._limited is None else self._limited)

    def __getitem__(self, name: str) -> Any:
        value = self._held[name]
        if isinstance(value, Raw):
            value = self._held[name] = _ANYTHING.decode(value)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        self.limited.add(name)
        self._held[name] = value

    def __delitem__(self, name: str) -> None:
        del self._held[name]

    def update(self, more: Mapping[str, Any]) -> None:  # type: ignore[override]  # of a mapping
        """Set all of these at once."""
        self.limited.update(more)
        self._held.update(more)

    def __contains__(self, name: object) -> bool:
        return name in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def copy(self) -> "Entries":
        """The same entries, to be changed."""
        return Entries(self._held.copy(), self.limited)


class Later(msgspec.Struct, frozen=True):
    """An item of :class:`Lines` that is made when it is first asked for."""

    ops: Sequence[str]
    make: Callable[[], Said]


class Lines(Sequence[Said]):
    """The items of a list that each name overloads (``ops``), decoded when first asked for."""

    def __init__(
        self,
        said: Raw | list[Any],
        before: "Lines | None" = None,
        places: Raw | None = None,
    ) -> None:
        self._said = said
        self._before = before
        """Lines that precede these, and are shared with others."""
        self._stored = places

    @cached_property
    def _items(self) -> list[Any]:
        return _ITEMS.decode(self._said) if isinstance(self._said, Raw) else self._said

    def of(self, op: str) -> Iterator[Said]:
        """The lines that name an overload, in order."""
        if self._before is not None:
            yield from self._before.of(op)
        yield from map(self._item, self._named(op))

    @overload
    def __getitem__(self, place: int) -> Said: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Said]: ...
    def __getitem__(self, place: int | slice) -> Said | Sequence[Said]:
        return list(self)[place]

    def later(self) -> Iterator[Later]:
        """Each item, to be made when it is asked for; not those that precede these."""
        for place, item in enumerate(self._items):
            if isinstance(item, Later):
                yield item
            else:
                yield Later(self._item(place)["ops"], partial(self._item, place))

    def __iter__(self) -> Iterator[Said]:
        if self._before is not None:
            yield from self._before
        yield from map(self._item, range(len(self._items)))

    def __len__(self) -> int:
        return len(self._items) + (0 if self._before is None else len(self._before))

    def __add__(self, more: Iterable[Said]) -> "Lines":
        return Lines(list(more), self)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Lines | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def _named(self, op: str) -> Sequence[int]:
        """Which of the items name an overload."""
        found = self._places.get(op, ())
        return _NUMBERS.decode(found) if isinstance(found, Raw) else found

    @cached_property
    def _places(self) -> Mapping[str, Raw | Sequence[int]]:
        """Overload -> which of the items name it, as the index keeps that where there is one."""
        if self._stored is not None:
            return _PARTS.decode(self._stored)
        return _places(one.ops if isinstance(one, Later) else one["ops"] for one in self._items)

    def _item(self, place: int) -> Said:
        item = self._items[place]
        if isinstance(item, Raw):
            item = self._items[place] = _ANYTHING.decode(item)
        elif isinstance(item, Later):
            item = self._items[place] = item.make()
        return item  # type: ignore[no-any-return]  # as the file has it


def lines(said: Sequence[Said]) -> Lines:
    """What a list says by overload, whichever way its file was read."""
    return said if isinstance(said, Lines) else Lines(list(said))


def encoded(data: Any) -> bytes:
    """The content of a file as the index keeps it.

    Raises:
        ValueError: the index cannot hold it.
    """
    try:
        text = msgspec.json.encode(data)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    if b"null" in text and _ANYTHING.decode(text) != data:
        raise ValueError("JSON has no such number")  # infinity, for which null is written
    return text


def compiled(data: Mapping[str, Any], shape: Record) -> bytes:
    """What :func:`decoded` reads: as :func:`encoded`, and where lines name which overload.

    Raises:
        ValueError: the index cannot hold it.
    """
    made = dict(data)
    for key in made:
        if _of_lines(shape.of(key)):
            places = _places(line["ops"] for line in data[key])
            made[key] = {"lines": data[key], "places": places}
    return encoded(made)


def decoded(text: bytes | memoryview, shape: Record) -> dict[str, Any]:
    """What :func:`compiled` was given; entries and lines are decoded later, one at a time.

    Raises:
        ValueError: the text is damaged.
    """
    return {key: _part(value, shape.of(key)) for key, value in _PARTS.decode(text).items()}


def everything(text: bytes | memoryview) -> Any:
    """What :func:`encoded` was given, decoded at once.

    Raises:
        ValueError: the text is damaged.
    """
    return _ANYTHING.decode(text)


def _part(value: Raw, shape: Shape | None) -> Any:
    if isinstance(shape, MapOf) and isinstance(shape.value, Record | ListOf | OneOrMore):
        return Entries(value)
    if _of_lines(shape):
        found = _COMPILED.decode(value)
        return Lines(found.lines, places=found.places)
    return _ANYTHING.decode(value)


def _of_lines(shape: Shape | None) -> bool:
    """Whether it is a list of what names overloads."""
    match shape:
        case ListOf(Record() as item):
            return item.of("ops") is not None
    return False


def _places(named: Iterable[Sequence[str]]) -> dict[str, list[int]]:
    """Overload -> which of the lines name it."""
    found: dict[str, list[int]] = {}
    for place, ops in enumerate(named):
        for op in ops:
            found.setdefault(op, []).append(place)
    return found
