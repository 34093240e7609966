"""What additions say of a release, added to its file; made once for all targets of a vendor."""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.db.by_hand.overlays import Addition, Said, holds
from opcheck.db.conditions import RANK
from opcheck.db.contradictions import of_document
from opcheck.db.files.document import Document
from opcheck.db.files.parts import Later, Lines, lines
from opcheck.db.library_releases import LibraryReleases
from opcheck.model.matrix import DOUBTED, NO_DTYPE, OVERRULED
from opcheck.model.target import Target

_WHERE = {"chips", "releases", "torch", "version"}
_Variants = Sequence[tuple[Said, Said]]


class _Condition(Struct):
    """One that an addition states; made when it is first asked for, for all targets at once."""

    number: int
    """Of the addition, by which it cites its sources."""
    ops: Sequence[str]
    where: Said
    """What it is limited to itself."""
    make: Callable[[], Said]
    made: Said | None = None

    def said(self) -> Said:
        """As a line of a release's file has it."""
        if self.made is None:
            self.made = {**_cited(_anywhere(self.make()), self.number), "stands": True}
        return self.made


class Additions(Sequence[Addition]):
    """Those of one vendor, in the order in which they hold: the last one wins."""

    def __init__(self, vendor: str, listed: Iterable[Addition]) -> None:
        self._listed = [one for one in listed if one.vendor == vendor]
        self._operators: dict[tuple[str, ...], MutableMapping[str, Said]] = {}
        """Those of releases with what is registered beside them, which chips may have alike."""
        self._to: dict[tuple[object, ...], Document] = {}
        """What :meth:`to` made, for the other chips of which all of them say the same."""

    def __getitem__(self, number: Any) -> Any:
        return self._listed[number]

    def __len__(self) -> int:
        return len(self._listed)

    def to(self, release: Document, target: Target) -> Document:
        """The release's file as it is with what they say of a target."""
        alike = tuple(target.chip in chips for chips in self._named_chips)
        key = (release.digest, target.sdk, target.torch, target.libraries, alike)
        if key not in self._to:
            self._to[key] = self._added(release, target)
        return self._to[key]

    @cached_property
    def _named_chips(self) -> Sequence[Sequence[str]]:
        """Every list of chips that something is limited to."""
        found = {tuple(said["chips"]): None for one in self._listed for said in _limited(one)}
        return tuple(found)

    def _added(self, release: Document, target: Target) -> Document:
        concerned = self._concerned(target)
        if not concerned:
            return release
        data = dict(release.data)
        data["sources"] = _Sources(data["sources"], concerned)
        kinds = {number: self._kind(number, target) for number in concerned}
        data["operators"] = self._registered(release, kinds, target)
        more = dict[int, Addition]()
        for number, addition in concerned.items():
            withdrawn = addition.withdrawn and [
                said for said in addition.withdrawn if holds(said, target)
            ]
            if withdrawn:
                data["conditions"], more = self._joined(data, more, target), {}
            for said in withdrawn:
                _withdraw(data, said)
            more[number] = addition
        data["conditions"] = self._joined(data, more, target)
        told = (release.digest, *kinds.values())
        return replace(release, data=data, digest=sha256("".join(told).encode()).hexdigest())

    def _concerned(self, target: Target) -> dict[int, Addition]:
        """Those that say anything of a target, by number."""
        held = [numbers for where, numbers in self._wheres if holds(where, target)]
        return {number: self._listed[number] for number in sorted(chain.from_iterable(held))}

    @cached_property
    def _wheres(self) -> Sequence[tuple[Said, Sequence[int]]]:
        """What additions are limited to, and the numbers of those that are limited so."""
        found: dict[str, tuple[Said, list[int]]] = {}
        for number, one in enumerate(self._listed):
            found.setdefault(repr(one.where), (one.where, []))[1].append(number)
        return [*found.values()]

    def _registered(
        self, release: Document, kinds: Mapping[int, str], target: Target
    ) -> MutableMapping[str, Said]:
        """The release's operators, and those of additions of which each says this on a target."""
        adding = [number for number in kinds if self._listed[number].operators]
        if not adding:
            return release.data["operators"]  # type: ignore[no-any-return]  # as the file has it
        key = (release.digest, target.torch, *(kinds[number] for number in adding))
        if key not in self._operators:
            found = self._operators[key] = release.data["operators"].copy()
            for number in adding:
                self._register(found, number, target)
        return self._operators[key]

    def libraries(self, target: Target) -> Mapping[str, tuple[str, str]]:
        """The releases of libraries that a target is taken to have, by namespace."""
        named = dict(target.libraries)
        return {
            library.namespace: (library.package, library.of(target))
            for library in self._libraries
            if library.package not in named
        }

    @cached_property
    def _libraries(self) -> Sequence[LibraryReleases]:
        """Those whose releases are told apart, once each."""
        found = (addition.library for addition in self._listed)
        return [*{one.namespace: one for one in found if one is not None}.values()]

    def _joined(
        self, data: Mapping[str, Any], more: Mapping[int, Addition], target: Target
    ) -> Lines:
        return _Joined(self, more, target, lines(data.get("conditions", ())))

    def _register(self, operators: MutableMapping[str, Said], number: int, target: Target) -> None:
        everywhere, limited = self._entries[number]
        operators.update(everywhere)
        for op, variants in limited.items():
            for said, entry in variants:
                if self._listed[number].holds(said, target):
                    if said.get("registered", True):
                        operators[op] = entry
                    else:
                        operators.pop(op, None)
                    break

    def _kind(self, number: int, target: Target) -> str:
        """Sets apart what an addition says of targets that it does not say the same of."""
        addition = self._listed[number]
        if addition.library is None and not self._by_chip[number]:
            return addition.digest + " "
        held = [op for op in self._by_chip[number] if addition.entry(op, target) is not None]
        version = "" if addition.library is None else addition.library.of(target)
        return " ".join((addition.digest, version, *held))

    @cached_property
    def _by_chip(self) -> Sequence[Sequence[str]]:
        """Of each addition the overloads of which it does not say the same on every chip."""
        return [
            [op for op, listed in one.operators.items() if any("chips" in said for said in listed)]
            for one in self._listed
        ]

    @cached_property
    def _entries(self) -> Sequence[tuple[Mapping[str, Said], Mapping[str, _Variants]]]:
        """Of each addition what it says of kernels, as a file has it.

        First the kernels that are registered wherever the addition holds, then the variants, as
        they are said and as a file has them, of those that may not be.
        """
        return [_entries(addition, number) for number, addition in enumerate(self._listed)]

    @cached_property
    def conditions(self) -> Sequence[_Condition]:
        """All that they state, in order."""
        return [one for n, addition in enumerate(self._listed) for one in _stated(addition, n)]

    @cached_property
    def by_operator(self) -> Mapping[str, Sequence[_Condition]]:
        """The same by the overloads that they name."""
        found: dict[str, list[_Condition]] = {}
        for one in self.conditions:
            for op in one.ops:
                found.setdefault(op, []).append(one)
        return found


def _limited(addition: Addition) -> Iterator[Said]:
    """The addition, and what of it is limited, where that is to chips."""
    conditions = addition.conditions
    stated = () if isinstance(conditions, Lines) else conditions  # those hold where it does
    entries = chain.from_iterable(addition.operators.values())
    for said in chain((addition.where,), entries, stated, addition.withdrawn):
        if "chips" in said:
            yield said


def _entries(addition: Addition, number: int) -> tuple[Mapping[str, Said], Mapping[str, _Variants]]:
    everywhere: dict[str, Said] = {}
    limited: dict[str, _Variants] = {}
    for op, variants in addition.operators.items():
        entries = [(said, _cited(_anywhere(said), number)) for said in variants]
        first, entry = entries[0]
        if first.keys() & _WHERE or not first.get("registered", True):
            limited[op] = entries
        else:
            everywhere[op] = entry
    return everywhere, limited


class _Joined(Lines):
    """The conditions of a file, and after them those of additions that hold for a target."""

    def __init__(
        self, of: Additions, more: Mapping[int, Addition], target: Target, before: Lines
    ) -> None:
        super().__init__([], before)
        self._additions, self._more, self._target = of, more, target

    @cached_property
    def _items(self) -> list[Any]:
        held = filter(self._holds, self._additions.conditions)
        return [Later(one.ops, one.said) for one in held]

    def of(self, op: str) -> Iterator[Said]:
        """The lines that name an overload, in order."""
        assert self._before is not None
        yield from self._before.of(op)
        for one in filter(self._holds, self._additions.by_operator.get(op, ())):
            yield one.said()

    def _holds(self, one: _Condition) -> bool:
        addition = self._more.get(one.number)
        return addition is not None and (not one.where or addition.holds(one.where, self._target))


def _stated(addition: Addition, number: int) -> Iterator[_Condition]:
    said = addition.conditions
    if isinstance(said, Lines):
        for one in said.later():
            yield _Condition(number, one.ops, {}, one.make)
    else:
        for line in said:
            yield _Condition(number, line["ops"], line, partial(dict, line))


class _Sources(Mapping[str, Said]):
    """A release's own sources, and those of additions: ``2/name`` is one of number two."""

    def __init__(self, own: Mapping[str, Said], additions: Mapping[int, Addition]) -> None:
        self._own = own
        self._additions = additions

    def __getitem__(self, name: str) -> Said:
        if name in self._own:
            return self._own[name]
        number, _, rest = name.partition("/")
        addition = self._additions.get(int(number)) if number.isdigit() else None
        if addition is None:
            raise KeyError(name)
        return {**addition.sources[rest], "origin": addition.origin}

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        for number, addition in self._additions.items():
            yield from (f"{number}/{name}" for name in addition.sources)

    def __len__(self) -> int:
        return len(self._own) + sum(len(one.sources) for one in self._additions.values())


def _withdraw(data: dict[str, Any], said: Said) -> None:
    data["conditions"] = lines(list(_without(data["conditions"], said)))
    if said["code"] in (NO_DTYPE, DOUBTED, OVERRULED):
        data["documented"] = list(_without(data.get("documented", ()), said))
    if said["code"] in (NO_DTYPE, DOUBTED, RANK):
        data["refusals"] = list(_without(data.get("refusals", ()), said))


def _anywhere(said: Said) -> Said:
    """What was said without where it holds, once that is settled."""
    return {key: value for key, value in said.items() if key not in _WHERE}


def _cited(said: Said, number: int) -> Said:
    at = said["at"]
    found = f"{number}/{at}" if isinstance(at, str) else [f"{number}/{text}" for text in at]
    return {**said, "at": found}


def _without(conditions: Iterable[Said], withdrawn: Said) -> Iterator[Said]:
    """The conditions without those of one code on some overloads."""
    for said in conditions:
        left = [op for op in said["ops"] if op not in withdrawn["ops"]]
        doubted = withdrawn["code"] in (DOUBTED, OVERRULED) and of_document(said)
        if not doubted and _code(said) != withdrawn["code"]:
            yield said
        elif left:
            yield {**said, "ops": left}


def _code(said: Said) -> str:
    code: str = said.get("code", RANK if "most" in said else NO_DTYPE)
    return code
