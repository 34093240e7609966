"""What PyTorch's tables must say beyond their form."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db import audit_words as words
from opcheck.db.audit_words import Known, Told
from opcheck.db.versions import version_key


def table(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of any of the tables."""
    _, _, versions = path.stem.partition("@")
    if versions:
        torch, _, device = versions.partition("-")
        yield from words.name(data, "torch", torch)
        if "device" in data:
            yield from words.name(data, "device", device)
    if "sources" in data:
        yield from words.evidence(data, data["sources"])
    yield from words.overloads(_overloads(data), known)


def _overloads(data: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Every overload that a table says something about; what C++ alone defines has no history."""
    yield from words.listed(data)
    for section in ("choices", "earlier"):
        yield from words.keyed(data, section)
    for op, branches in data.get("composites", {}).items():
        where = ("composites", op)
        yield op.partition("|")[0], where
        yield from ((asked.partition("|")[0], where) for branch in branches for asked in branch)


def history(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of the history: spans that end before they begin, or reach out of it."""
    first, last = map(version_key, (data["torch"][0], data["torch"][-1]))
    for op, span in data["overloads"].items():
        begins, ends = version_key(span[0]), version_key(span[-1])
        told, where = "..".join(span), ("overloads", op)
        if begins > ends:
            yield Told("span", f"{op}: {told} ends before it begins", where)
        elif begins < first or ends > last:
            yield Told("span", f"{op}: {told} is not among the file's torch versions", where)


def collectives(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[Told]:
    """Problems of the table of collectives: vendors, and methods that nothing calls."""
    yield from words.evidence(data, data["sources"])
    backends = list(enumerate(data["backends"]))
    methods = set(data["calls"].values())
    for number, said in backends:
        for key in ("has", "lacks"):
            for method in sorted(set(said[key]) - methods):
                text = f"{said['name']}: nothing in calls is handed to {method!r}"
                yield Told("unknown-name", text, ("backends", number, key))
        for method in sorted(set(said["has"]) & set(said["lacks"])):
            text = f"{said['name']} both has and lacks {method!r}"
            yield Told("duplicate", text, ("backends", number))
    yield from words.vendors(((said, ("backends", number)) for number, said in backends), known)
