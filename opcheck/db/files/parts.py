"""The parts of a file's content - entries by name, lines by overload - decoded one at a time."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, overload

import msgspec

from opcheck.db.files.stored import (
    Named,
    Packer,
    Part,
    begins,
    listed,
    named,
    numbers,
    plain,
    unpacked,
)
from opcheck.db.schema.checks import ListOf, MapOf, OneOrMore, Record, Shape

Said = Mapping[str, Any]
_ANYTHING = msgspec.json.Decoder[Any]()
_OBJECT = msgspec.json.Decoder(dict[str, Any])
_WHOLE = ""
"""The name of the part that has all which is decoded at once."""
_WHERE = ("chips", "torch", "keys")
"""What of an entry tells where it holds."""
Limit = tuple[Sequence[Said], Sequence[str]]
"""What of each variant tells where it holds, and the names of entries that are limited so."""
_COUNTS = msgspec.json.Decoder(dict[str, int])
_LIMITS = msgspec.json.Decoder(list[tuple[list[dict[str, Any]], list[str]]])


class Entries(Mapping[str, Any]):
    """A mapping of a file, each value of which is decoded when it is first asked for."""

    def __init__(self, values: Part, libraries: Part, limited: Part) -> None:
        self._named = Named(values)
        self._libraries = libraries
        self._limited = limited
        self._held: dict[str, Any] = {}

    @cached_property
    def limits(self) -> Sequence[Limit]:
        """Of entries that may not hold everywhere; the others need no look."""
        return _LIMITS.decode(self._limited.content)

    def __getitem__(self, name: str) -> Any:
        if name not in self._held:
            value = self._named.get(name)
            if value is None:
                raise KeyError(name)
            self._held[name] = _ANYTHING.decode(value)
        return self._held[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._held or self._named.get(name) is not None)

    @cached_property
    def libraries(self) -> Mapping[str, int]:
        """How many names there are of each library: of ``aten`` and of others."""
        return _COUNTS.decode(self._libraries.content)

    def __iter__(self) -> Iterator[str]:
        return iter(self._named.all)

    def __len__(self) -> int:
        return sum(self.libraries.values())


class Changed(Mapping[str, Any]):
    """Entries of a file, some of which are set or taken away without a change of the file's own."""

    def __init__(self, entries: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
        """``changes``: None for what is taken away."""
        self._entries = entries
        self._changes = changes

    @cached_property
    def limits(self) -> Sequence[Limit]:
        """As of :class:`Entries`."""
        of_file = limits(self._entries)
        left = [
            (one, [name for name in names if name not in self._changes]) for one, names in of_file
        ]
        return [*left, *_limits(self._changes)]

    def __getitem__(self, name: str) -> Any:
        if name not in self._changes:
            return self._entries[name]
        value = self._changes[name]
        if value is None:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        if name in self._changes:
            return self._changes[name] is not None  # type: ignore[index]  # a name by now
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in self._entries if self._changes.get(name, "") is not None)
        yield from (name for name in self._changes if self._is_new(name))

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        gone = sum(said is None and name in self._entries for name, said in self._changes.items())
        return len(self._entries) - gone + sum(map(self._is_new, self._changes))

    def _is_new(self, name: str) -> bool:
        if self._changes[name] is None:
            return False
        entries = self._entries
        of_library = not isinstance(entries, Entries) or _library(name) in entries.libraries
        return not of_library or name not in entries


def _library(name: str) -> str:
    return name.partition("::")[0]


def limits(said: Mapping[str, Any]) -> Sequence[Limit]:
    """Where what may not hold everywhere does, whichever way its file was read."""
    return said.limits if isinstance(said, Entries | Changed) else _limits(said)


def _limits(said: Mapping[str, Any]) -> Sequence[Limit]:
    found: dict[str, tuple[Sequence[Said], list[str]]] = {}
    for name, value in said.items():
        if not _is_limited(value):
            continue
        variants = value if isinstance(value, list) else [value]
        wheres = [{key: one[key] for key in _WHERE if key in one} for one in variants]
        found.setdefault(repr(wheres), (wheres, []))[1].append(name)
    return [*found.values()]


def _is_limited(value: Any) -> bool:
    """Whether it is several variants, or one that tells where it holds."""
    if isinstance(value, dict):
        return not value.keys().isdisjoint(_WHERE)
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


class Later(msgspec.Struct, frozen=True):
    """An item of :class:`Lines` that is made when it is first asked for."""

    ops: Sequence[str]
    make: Callable[[], Said]


class Lines(Sequence[Said]):
    """The items of a list that each name overloads (``ops``)."""

    def __init__(self, said: Sequence[Any], before: "Lines | None" = None) -> None:
        self._said = said
        self._before = before
        """Lines that precede these, and are shared with others."""

    @cached_property
    def _items(self) -> list[Any]:
        return list(self._said)

    def of(self, op: str) -> Iterator[Said]:
        """The lines that name an overload, in order."""
        if self._before is not None:
            yield from self._before.of(op)
        yield from map(self._item, self._places.get(op, ()))

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
                yield Later(item["ops"], partial(self._item, place))

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

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """Overload -> which of the items name it."""
        return _places(one.ops if isinstance(one, Later) else one["ops"] for one in self._items)

    def _item(self, place: int) -> Said:
        item = self._items[place]
        if isinstance(item, Later):
            item = self._items[place] = item.make()
        return item  # type: ignore[no-any-return]  # as the file has it


class StoredLines(Lines):
    """Those of a file that the index has, decoded when first asked for."""

    def __init__(self, values: Part, count: Part, places: Part) -> None:
        super().__init__(())
        self._values = values
        self._count = count
        self._named = Named(places)
        self._held: dict[int, Said] = {}
        """By where they begin."""

    @cached_property
    def _items(self) -> list[Any]:
        return [self._at(place) for place in begins(self._values)]

    def of(self, op: str) -> Iterator[Said]:
        """The lines that name an overload, in order."""
        found = self._named.get(op)
        return map(self._at, () if found is None else numbers(found))

    def __len__(self) -> int:
        return int(_ANYTHING.decode(self._count.content))

    def _at(self, place: int) -> Said:
        if place not in self._held:
            self._held[place] = _ANYTHING.decode(self._values.line_at(place))
        return self._held[place]


def lines(said: Sequence[Said]) -> Lines:
    """What a list says by overload, whichever way its file was read."""
    return said if isinstance(said, Lines) else Lines(list(said))


def compiled(data: Mapping[str, Any], shape: Record) -> bytes:
    """What :func:`decoded` reads.

    Raises:
        ValueError: the index cannot hold it.
    """
    packer, whole = Packer(), dict[str, Any]()
    for key, said in data.items():
        if _of_lines(shape.of(key)):
            pack_lines(packer, key, said)
        elif _of_entries(shape.of(key)):
            values = named({name: plain(value) for name, value in said.items()})
            count = plain(Counter(map(_library, said)))
            packer.add(key, values, count, msgspec.json.encode(_limits(said)))
        else:
            whole[key] = said
    packer.add(_WHOLE, plain(whole))
    return packer.packed()


def pack_lines(packer: Packer, key: str, said: Sequence[Said]) -> None:
    """Add what :class:`StoredLines` reads.

    Raises:
        ValueError: the index cannot hold it.
    """
    values, begin = listed(map(plain, said))
    places = _places(line["ops"] for line in said).items()
    by_op = named({op: plain([begin[number] for number in numbers]) for op, numbers in places})
    packer.add(key, values, plain(len(said)), by_op)


def decoded(text: bytes | memoryview, shape: Record) -> dict[str, Any]:
    """What :func:`compiled` was given; entries and lines are decoded later, one at a time.

    Raises:
        ValueError: the text is damaged.
    """
    found = unpacked(text)
    (whole,) = found.pop(_WHOLE)
    parts = {key: _part(stored, shape.of(key)) for key, stored in found.items()}
    return {**_OBJECT.decode(whole.content), **parts}


def everything(text: bytes | memoryview) -> Any:
    """What :func:`plain` was given, decoded at once.

    Raises:
        ValueError: the text is damaged.
    """
    return _ANYTHING.decode(text)


def _part(found: Sequence[Part], shape: Shape | None) -> Any:
    return Entries(*found) if _of_entries(shape) else StoredLines(*found)


def _of_entries(shape: Shape | None) -> bool:
    return isinstance(shape, MapOf) and isinstance(shape.value, Record | ListOf | OneOrMore)


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
