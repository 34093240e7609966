"""What additions say of a release, added to its file; made once for all targets of a vendor."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from hashlib import sha256
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.db.by_hand.overlays import Addition, Said, holds
from opcheck.db.by_hand.summary import Listed, Place
from opcheck.db.conditions import RANK
from opcheck.db.contradictions import of_document
from opcheck.db.files.document import Document
from opcheck.db.files.parts import Changed, Later, Lines, lines
from opcheck.model.matrix import DOUBTED, NO_DTYPE, OVERRULED
from opcheck.model.target import Target

_WHERE = {"chips", "releases", "torch", "version"}
_Variants = Sequence[tuple[Said, Said]]
Entries = tuple[Mapping[str, Said], Mapping[str, _Variants]]


class Condition(Struct, dict=True):
    """One that an addition states."""

    number: int
    """Of the addition, by which it cites its sources."""
    stated: Said

    @cached_property
    def said(self) -> Said:
        """As a line of a release's file has it."""
        return {**_cited(_anywhere(self.stated), self.number), "stands": True}


class Additions:
    """Those of one vendor, in the order in which they hold: the last one wins."""

    def __init__(self, listed: Listed) -> None:
        self._listed = listed
        self._said = listed.summary
        self._operators: dict[tuple[str, ...], Mapping[str, Said]] = {}
        """Those of releases with what is registered beside them, which chips may have alike."""
        self._to: dict[tuple[object, ...], Document] = {}
        """What :meth:`to` made, for the other chips of which all of them say the same."""
        self._conditions: dict[Place, Condition] = {}
        self._entries: dict[int, Entries] = {}

    def __getitem__(self, number: int) -> Addition:
        return self._listed[number]

    def to(self, release: Document, target: Target) -> Document:
        """The release's file as it is with what they say of a target."""
        alike = tuple(target.chip in chips for chips in self._said.chips)
        key = (release.digest, target.sdk, target.torch, target.libraries, alike)
        if key not in self._to:
            self._to[key] = self._added(release, target)
        return self._to[key]

    def _added(self, release: Document, target: Target) -> Document:
        concerned = self._concerned(target)
        if not concerned:
            return release
        data = dict(release.data)
        data["sources"] = _Sources(data["sources"], self, concerned)
        kinds = self._kinds(concerned, target)
        data["operators"] = self._registered(release, kinds, target)
        more = set[int]()
        withdrawing = self._said.withdrawing
        for number in concerned:
            withdrawn = number in withdrawing and [
                said for said in self[number].withdrawn if holds(said, target)
            ]
            if withdrawn:
                data["conditions"], more = self._joined(data, more, target), set()
                for said in withdrawn:
                    _withdraw(data, said)
            more.add(number)
        data["conditions"] = self._joined(data, more, target)
        told = (release.digest, *kinds.values())
        return replace(release, data=data, digest=sha256("".join(told).encode()).hexdigest())

    def _concerned(self, target: Target) -> Sequence[int]:
        """The numbers of those that say anything of a target."""
        held = [numbers for where, numbers in self._said.wheres if holds(where, target)]
        return sorted(chain.from_iterable(held))

    def _registered(
        self, release: Document, kinds: Mapping[int, str], target: Target
    ) -> Mapping[str, Said]:
        """The release's operators, and those of additions of which each says this on a target."""
        adding = [number for number in self._said.adding if number in kinds]
        if not adding:
            return release.data["operators"]  # type: ignore[no-any-return]  # as the file has it
        key = (release.digest, target.torch, *(kinds[number] for number in adding))
        if key not in self._operators:
            changes: dict[str, Said | None] = {}
            for number in adding:
                self._register(changes, number, target)
            self._operators[key] = Changed(release.data["operators"], changes)
        return self._operators[key]

    def libraries(self, target: Target) -> Mapping[str, tuple[str, str]]:
        """The releases of libraries that a target is taken to have, by namespace."""
        named = dict(target.libraries)
        listed = {one.namespace: one for one in self._said.libraries.values()}
        return {
            library.namespace: (library.package, library.of(target))
            for library in listed.values()
            if library.package not in named
        }

    def _joined(self, data: Mapping[str, Any], more: Set[int], target: Target) -> Lines:
        return _Joined(self, more, target, lines(data.get("conditions", ())))

    def _register(self, changes: dict[str, Said | None], number: int, target: Target) -> None:
        if number not in self._entries:
            self._entries[number] = _entries(self[number], number)
        everywhere, limited = self._entries[number]
        changes.update(everywhere)
        for op, variants in limited.items():
            for said, entry in variants:
                if self[number].holds(said, target):
                    changes[op] = entry if said.get("registered", True) else None
                    break

    def _kinds(self, numbers: Iterable[int], target: Target) -> Mapping[int, str]:
        """Sets apart what additions say of targets that they do not say the same of."""
        digests, differ = self._said.digests, self._differ
        return {
            number: self._kind(number, target) if number in differ else digests[number] + " "
            for number in numbers
        }

    @cached_property
    def _differ(self) -> Set[int]:
        """Those that do not say the same of every chip, or of every release of a library."""
        return self._said.by_chip.keys() | self._said.libraries.keys()

    def _kind(self, number: int, target: Target) -> str:
        by_chip, library = self._said.by_chip.get(number, ()), self._said.libraries.get(number)
        held = [op for op in by_chip if self[number].entry(op, target) is not None]
        version = "" if library is None else library.of(target)
        return " ".join((self._said.digests[number], version, *held))

    def conditions(self) -> Iterator[Condition]:
        """All that they state, in order."""
        return map(self._condition, self._listed.places())

    def naming(self, op: str) -> Iterator[Condition]:
        """Those that name an overload, in order."""
        return map(self._condition, self._listed.naming(op))

    def _condition(self, place: Place) -> Condition:
        """One of them, made when it is first asked for, for all targets at once."""
        if place not in self._conditions:
            number, line = place
            self._conditions[place] = Condition(number, self[number].conditions[line])
        return self._conditions[place]


def _entries(addition: Addition, number: int) -> Entries:
    """What an addition says of kernels, as a file has it.

    First the kernels that are registered wherever the addition holds, then the variants, as they
    are said and as a file has them, of those that may not be.
    """
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

    def __init__(self, of: Additions, more: Set[int], target: Target, before: Lines) -> None:
        super().__init__([], before)
        self._additions, self._more, self._target = of, more, target

    @cached_property
    def _items(self) -> list[Any]:
        held = filter(self._holds, self._additions.conditions())
        return [Later(one.stated["ops"], partial(getattr, one, "said")) for one in held]

    def of(self, op: str) -> Iterator[Said]:
        """The lines that name an overload, in order."""
        assert self._before is not None
        yield from self._before.of(op)
        for one in filter(self._holds, self._additions.naming(op)):
            yield one.said

    def _holds(self, one: Condition) -> bool:
        addition = self._additions[one.number]
        return one.number in self._more and addition.holds(one.stated, self._target)


class _Sources(Mapping[str, Said]):
    """A release's own sources, and those of additions: ``2/name`` is one of number two."""

    def __init__(self, own: Mapping[str, Said], of: Additions, numbers: Sequence[int]) -> None:
        self._own = own
        self._additions = of
        self._numbers = numbers

    def __getitem__(self, name: str) -> Said:
        if name in self._own:
            return self._own[name]
        number, _, rest = name.partition("/")
        if not number.isdigit() or int(number) not in self._numbers:
            raise KeyError(name)
        addition = self._additions[int(number)]
        return {**addition.sources[rest], "origin": addition.origin}

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        for number in self._numbers:
            yield from (f"{number}/{name}" for name in self._additions[number].sources)

    def __len__(self) -> int:
        return sum(1 for _ in self)


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
