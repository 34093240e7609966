"""What readers of database files share - citations, and mappings made when first asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cached_property
from typing import Any, Generic, TypeVar

from opcheck.db.files.parts import limits
from opcheck.model.verdict import Evidence, Method


class Citations:
    """Turns a file's citations into evidence, by its table of sources."""

    def __init__(self, *sources: Mapping[str, Mapping[str, Any]]) -> None:
        """``sources``: of several tables, the first that has a name holds."""
        self._sources = sources

    def all(self, citations: Iterable[str], method: Method) -> tuple[Evidence, ...]:
        """Evidence for each citation, in order; an unknown source is named as it stands."""
        return tuple(self._one(text, method) for text in citations)

    def _one(self, text: str, method: Method) -> Evidence:
        name, *rest = text.split(":")
        line = int(rest.pop()) if rest and rest[-1].isdigit() else None
        source = next((table[name] for table in self._sources if name in table), None)
        if source is None:
            return Evidence(method, name, ":".join(rest), line)
        path = rest[0] if rest else source["path"]
        if rest and source["path"].endswith("/"):
            path = source["path"] + path
        return Evidence(
            method, source["repo"], path, line, source.get("commit", ""), source.get("date", ""),
            source.get("origin", ""),
        )  # fmt: skip


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


class Chosen(Mapping[str, Any]):
    """Of what a file says by name, the first variant that holds; looked at one name at a time."""

    def __init__(self, said: Mapping[str, Any], holds: Callable[[Any], bool]) -> None:
        self._said = said
        self._holds = holds
        self._found: dict[str, Any] = {}
        """None: no variant holds."""

    def __getitem__(self, name: str) -> Any:
        found = self._first(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        said, gone = self._said, self._gone
        return (name for name in said if name not in gone) if gone else iter(said)

    def __len__(self) -> int:
        return len(self._said) - len(self._gone)

    @cached_property
    def _gone(self) -> Set[str]:
        """Names of which no variant holds."""
        listed = (
            names for variants, names in limits(self._said) if not any(map(self._holds, variants))
        )
        return {name for names in listed for name in names}

    def _first(self, name: str) -> Any:
        if name not in self._found:
            said = self._said[name]
            variants = said if isinstance(said, list) else (said,)
            self._found[name] = next(filter(self._holds, variants), None)
        return self._found[name]


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
