"""Mappings whose values are made when first asked for: a scan looks at a few dozen of thousands."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Generic, TypeVar

Said = TypeVar("Said")
Made = TypeVar("Made")


class LazyMapping(Mapping[str, Made], Generic[Said, Made]):
    """What a file says by name, turned into values one at a time."""

    def __init__(self, said: Mapping[str, Said], make: Callable[[str, Said], Made]) -> None:
        self._said = said
        self._make = make
        self._made: dict[str, Made] = {}

    def __getitem__(self, name: str) -> Made:
        if name not in self._made:
            self._made[name] = self._make(name, self._said[name])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._said

    def __iter__(self) -> Iterator[str]:
        return iter(self._said)

    def __len__(self) -> int:
        return len(self._said)


class LateMapping(Mapping[str, Made]):
    """A mapping that is read as a whole when first asked for."""

    def __init__(self, read: Callable[[], Mapping[str, Made]]) -> None:
        self._read = read

    @cached_property
    def _whole(self) -> Mapping[str, Made]:
        return self._read()

    def __getitem__(self, name: str) -> Made:
        return self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)
