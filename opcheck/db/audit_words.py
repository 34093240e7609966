"""What every check of a file's content shares: what it tells, citations and names."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from opcheck.db.shape import Path as Where

_ATEN = "aten::"


class Told(Struct, frozen=True):
    """A problem, and where in the file; () for the file as a whole."""

    code: str
    text: str
    where: Where = ()


class Known(Struct, frozen=True):
    """What files may name."""

    overloads: frozenset[str]
    """Every overload that PyTorch ever had; empty where its table is damaged."""
    chips: Mapping[str, Collection[str]]
    """Vendor -> its chips."""


def evidence(data: Any, sources: Collection[str], *, everywhere: bool = True) -> Iterator[Told]:
    """Citations of what is no source and, where all must cite, what cites nothing; each once."""
    told = set() if everywhere else {""}
    for text, where in _citations(data, ()):
        if text in told or text.partition(":")[0] in sources:
            continue
        told.add(text)
        what = f"{text!r} cites no source of the file" if text else "something cites no source"
        yield Told("no-evidence", what, where)


def _citations(data: Any, where: Where) -> Iterator[tuple[str, Where]]:
    """Every citation below a value: under ``at``, and by name under ``cited``."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            place = (*where, key)
            if key == "at":
                yield from ((text, place) for text in _texts(value) or [""])
            elif key == "cited":
                yield from ((text, (*place, k)) for k, at in value.items() for text in _texts(at))
            else:
                yield from _citations(value, place)
    elif isinstance(data, list):
        for number, item in enumerate(data):
            yield from _citations(item, (*where, number))


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else value


def overloads(named: Iterable[tuple[str, Where]], known: Known) -> Iterator[Told]:
    """Overloads of aten that PyTorch never had; each once."""
    if not known.overloads:
        return
    strangers = {op: where for op, where in named if op.startswith(_ATEN)}
    for op, where in strangers.items():
        if op not in known.overloads:
            yield Told("unknown-name", f"PyTorch never had {op}", where)


def listed(data: Any, where: Where = ()) -> Iterator[tuple[str, Where]]:
    """Every overload below a value that stands in a list, ``ops`` or ``asks``."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key in ("ops", "asks"):
                yield from ((op, (*where, key)) for op in value)
            else:
                yield from listed(value, (*where, key))
    elif isinstance(data, list):
        for number, item in enumerate(data):
            yield from listed(item, (*where, number))


def keyed(data: Mapping[str, Any], section: str) -> Iterator[tuple[str, Where]]:
    """Every overload for which a section of a file has a key."""
    return ((op, (section, op)) for op in data.get(section, ()))


def vendors(named: Iterable[tuple[Mapping[str, Any], Where]], known: Known) -> Iterator[Told]:
    """Vendors and chips that the database has not."""
    for said, where in named:
        vendor = said["vendor"]
        if vendor not in known.chips:
            yield Told("unknown-name", f"there is no vendor {vendor!r}", where)
            continue
        for chip in said.get("chips", ()):
            if chip not in known.chips[vendor]:
                yield Told("unknown-name", f"no chip of {vendor} is {chip}", where)


def name(data: Mapping[str, Any], key: str, wanted: str) -> Iterator[Told]:
    """A file that calls itself otherwise than it is called."""
    if data[key] != wanted:
        yield Told("name", f"its {key} is {data[key]}, and it is named {wanted}", (key,))
