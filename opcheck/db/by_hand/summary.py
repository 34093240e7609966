"""What the additions of a vendor say, put together once and kept in the index."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from opcheck.db.by_hand.libraries import FOLDER
from opcheck.db.by_hand.overlays import ADVISORIES, Addition, Said
from opcheck.db.files import parts
from opcheck.db.files.document import Document
from opcheck.db.files.folder import digests
from opcheck.db.files.index import load_compiled, save_compiled
from opcheck.db.files.stored import Named, Packer, Part, named, numbers, plain, unpacked
from opcheck.db.files.stored import listed as lines
from opcheck.db.library_releases import LibraryReleases
from opcheck.errors import DatabaseError

Place = tuple[int, int]
"""The number of an addition, and which of its conditions."""


class Summary(Struct):
    """Of the additions of one vendor, in the order in which they hold, what is asked first."""

    digests: Sequence[str]
    wheres: Sequence[tuple[Said, Sequence[int]]]
    """What additions are limited to, and the numbers of those that are limited so."""
    chips: Sequence[Sequence[str]]
    """Every list of chips that something is limited to."""
    adding: Sequence[int]
    """Those that say something of kernels."""
    withdrawing: Sequence[int]
    by_chip: Mapping[int, Sequence[str]]
    """Of some the overloads of which they do not say the same on every chip."""
    libraries: Mapping[int, LibraryReleases]
    """Those that tell releases of a library apart."""


_SUMMARY = msgspec.json.Decoder(Summary)
_PLACES = msgspec.json.Decoder(list[Place])
_ADDITION = msgspec.json.Decoder(Addition)


class Listed:
    """Additions with their summary."""

    def __init__(self, summary: Summary, additions: Sequence[Addition]) -> None:
        self.summary = summary
        self._additions = additions

    def __getitem__(self, number: int) -> Addition:
        return self._additions[number]

    def __len__(self) -> int:
        return len(self.summary.digests)

    def naming(self, op: str) -> Sequence[Place]:
        """Where conditions name an overload, in order."""
        return self._places.get(op, ())

    @cached_property
    def _places(self) -> Mapping[str, Sequence[Place]]:
        return _places(self._additions)

    def places(self) -> Iterator[Place]:
        """Where every condition is, in order."""
        for number in range(len(self)):
            yield from ((number, place) for place in range(len(self[number].conditions)))


class _Stored(Listed):
    """Those that the index has, decoded one at a time."""

    def __init__(self, found: Mapping[str, Sequence[Part]]) -> None:
        (summary,), (self._values, begin), (by_op,) = (found[key] for key in _KEYS)
        super().__init__(_SUMMARY.decode(summary.content), ())
        self._begin = numbers(begin.content)
        self._by_op = Named(by_op)
        self._held: dict[int, Addition] = {}

    def __getitem__(self, number: int) -> Addition:
        if number not in self._held:
            line = self._values.line_at(self._begin[number])
            self._held[number] = _ADDITION.decode(line)
        return self._held[number]

    def naming(self, op: str) -> Sequence[Place]:
        """Where conditions name an overload, in order."""
        found = self._by_op.get(op)
        return () if found is None else _PLACES.decode(found)


_KEYS = ("summary", "additions", "places")


def listed(additions: Sequence[Addition]) -> Listed:
    """Additions of one vendor, in the order in which they hold."""
    return Listed(_summary(additions), additions)


class Summaries:
    """What the additions of each vendor of a database say; from the index if no file changed."""

    def __init__(
        self,
        root: Path,
        cache: Path | None,
        table: Document | None,
        read: Callable[[str], Iterable[Addition]],
    ) -> None:
        """``table``: what deterministic mode refuses; ``read``: gives a vendor's, and others'."""
        self._cache = cache
        self._read = read
        self._before = _Files(root, cache, table)
        self._after = _Files(root, cache, table)
        """The same as they are once they have been read."""

    def of(self, vendor: str) -> Listed:
        """Those of one vendor, in the order in which they hold."""
        if self._cache is None:
            return listed(self._made(vendor))
        key = self._before.key(vendor)
        found = load(self._cache, vendor, key) if key else None
        if found is None:
            made = self._made(vendor)
            found = listed(made)
            if key and key == self._after.key(vendor):
                save(self._cache, vendor, key, made)
        return found

    def _made(self, vendor: str) -> Sequence[Addition]:
        return [one for one in self._read(vendor) if one.vendor == vendor]


class _Files:
    """The files of a database that additions are made of."""

    def __init__(self, root: Path, cache: Path | None, table: Document | None) -> None:
        self._advisories = root / ADVISORIES
        self._libraries = root / FOLDER
        self._cache = cache
        self._table = table.digest if table else ""

    def key(self, vendor: str) -> str | None:
        """A digest of all that concern a vendor; None where one cannot be read."""
        try:
            told = [*self._of_several, digests(self._advisories / vendor, self._cache)]
        except DatabaseError:
            return None  # told by who reads what is in it
        return sha256(msgspec.json.encode(told)).hexdigest()

    @cached_property
    def _of_several(self) -> Sequence[object]:
        folders = (self._advisories, self._libraries)
        return [self._table, *(digests(folder, self._cache) for folder in folders)]


def load(cache: Path | None, vendor: str, key: str) -> Listed | None:
    """What the index has of a vendor's additions, made of files with this key; None: nothing."""
    stored = load_compiled(cache, _name(vendor), key)
    try:
        return None if stored is None else _Stored(unpacked(stored))
    except (ValueError, KeyError):
        return None


def save(cache: Path, vendor: str, key: str, found: Sequence[Addition]) -> None:
    """Have the index hold a vendor's additions, unless they say what it cannot hold."""
    packer = Packer()
    summary = msgspec.json.encode(_summary(found))
    try:
        values, begin = lines([plain(_builtin(one)) for one in found])
    except ValueError:
        return
    by_op = named({op: plain(places) for op, places in _places(found).items()})
    for name, texts in zip(_KEYS, ((summary,), (values, plain(begin)), (by_op,)), strict=True):
        packer.add(name, *texts)
    save_compiled(cache, _name(vendor), key, packer.packed())


def _name(vendor: str) -> str:
    return f"{vendor}.added"


def _builtin(addition: Addition) -> dict[str, Any]:
    """An addition with its parts decoded, and made where they are made when asked for."""
    return {
        "vendor": addition.vendor,
        "origin": addition.origin,
        "reason": addition.reason,
        "digest": addition.digest,
        "method": addition.method,
        "sources": {name: dict(source) for name, source in addition.sources.items()},
        "where": addition.where,
        "operators": addition.operators,
        "conditions": [dict(said) for said in addition.conditions],
        "withdrawn": [*addition.withdrawn],
        **({"library": _as_list(addition.library)} if addition.library else {}),
    }


def _as_list(library: LibraryReleases) -> Any:
    return msgspec.json.decode(msgspec.json.encode(library))  # tuples are lists then


def _summary(additions: Sequence[Addition]) -> Summary:
    wheres: dict[str, tuple[Said, list[int]]] = {}
    for number, one in enumerate(additions):
        wheres.setdefault(repr(one.where), (one.where, []))[1].append(number)
    limited = {tuple(said["chips"]): None for one in additions for said in _limited(one)}
    by_chip = {number: _of_chips(one) for number, one in enumerate(additions)}
    return Summary(
        digests=[one.digest for one in additions],
        wheres=[*wheres.values()],
        chips=[*limited],
        adding=[number for number, one in enumerate(additions) if one.operators],
        withdrawing=[number for number, one in enumerate(additions) if one.withdrawn],
        by_chip={number: ops for number, ops in by_chip.items() if ops},
        libraries={n: one.library for n, one in enumerate(additions) if one.library is not None},
    )


def _limited(addition: Addition) -> Iterator[Said]:
    """The addition, and what of it is limited, where that is to chips."""
    conditions = addition.conditions
    stated = () if isinstance(conditions, parts.Lines) else conditions  # those hold where it does
    entries = chain.from_iterable(addition.operators.values())
    for said in chain((addition.where,), entries, stated, addition.withdrawn):
        if "chips" in said:
            yield said


def _of_chips(addition: Addition) -> Sequence[str]:
    named = addition.operators.items()
    return [op for op, listed in named if any("chips" in said for said in listed)]


def _places(additions: Sequence[Addition]) -> Mapping[str, Sequence[Place]]:
    found: dict[str, list[Place]] = {}
    for number, addition in enumerate(additions):
        for place, ops in enumerate(_named(addition)):
            for op in ops:
                found.setdefault(op, []).append((number, place))
    return found


def _named(addition: Addition) -> Iterator[Sequence[str]]:
    """The overloads that each condition names."""
    conditions = addition.conditions
    if isinstance(conditions, parts.Lines):
        yield from (one.ops for one in conditions.later())
    else:
        yield from (line["ops"] for line in conditions)
