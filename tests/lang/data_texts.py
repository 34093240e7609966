"""The texts of the database, and what they need: the one finished English that is recognised."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml
from msgspec.structs import replace

from opcheck.lang.catalogue import Catalogue, Entry
from opcheck.lang.sentence import from_data
from tests.lang.messages import PACKAGE
from tests.lang.test_mixed import LOADER, conditions, filled

DATABASE = PACKAGE.parent / "compat_db"
TYPED = ("advisories", "chips", "dynamic", "environment", "lint", "remedies")
"""Folders of files that people write, and whose every text may be shown."""
_RELEASE_ADVISORIES = re.compile(r"\nadvisories:\n((?:[ -].*\n)*)")
_PLACE = re.compile(r"\{([^{}]*)\}")
_SHARED = {"argument": "any tensor", "actual": "int64 or int32", "chip": "910b"}
"""What stands for a place where several uses share a text."""


@cache
def texts_of_database() -> tuple[str, ...]:
    """Every text of the database that has words with a space between them."""
    found = set(conditions())
    for folder in TYPED:
        for path in (DATABASE / folder).rglob("*.yaml"):
            data = yaml.load(path.read_text(encoding="utf-8"), LOADER)
            found.update(_strings(data))
            if folder == "remedies":  # as a suggestion has it
                found.add(f"{' '.join(data['summary'].split())}: {data['write']}")
    for path in DATABASE.glob("*/*.yaml"):
        text = path.read_text(encoding="utf-8")
        if path.name == "vendor.yaml":
            found.update(_strings(yaml.load(text, LOADER)))
        elif advisories := _RELEASE_ADVISORIES.search(text):
            found.update(_strings(yaml.load(advisories[1], LOADER)))
    return tuple(sorted(text for text in found if " " in text))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def forms(text: str) -> tuple[str, ...]:
    """A text as it stands, as one use fills it, and as several share it."""
    shared = _PLACE.sub(lambda place: _SHARED.get(place[1], "9.1.0"), text)
    return text, filled(text), shared


class _Numbered(Catalogue):
    """Each translation leads with the number of its entry, so that its use can be seen."""

    def __init__(self, header: Entry, entries: Mapping[int, Entry]) -> None:
        marked = (
            replace(entry, forms=tuple(f"\0{number}\0{form}" for form in entry.forms))
            for number, entry in entries.items()
        )
        super().__init__([header, *marked])


def used_by_database(header: Entry, entries: tuple[Entry, ...]) -> frozenset[str]:
    """The English of every entry that the texts of the database need."""
    numbered = dict(enumerate(entries))
    catalogue = _Numbered(header, numbered)
    told = (catalogue.tell(from_data(form)) for text in texts_of_database() for form in forms(text))
    found = {int(number) for text in told for number in re.findall(r"\0(\d+)\0", text)}
    return frozenset(numbered[number].english for number in found)
