"""What a curated file of facts says of a vendor whose kernels PyTorch itself registers.

A fact names its operators (``ops``, or ``bound_to`` a library), code, verdict, text and tests, and
where it was read: ``seen``, by file of torch the line of each release that says so, or ``at``,
sources of no release. A release that ``seen`` does not name gets no condition, unless the fact says
``elsewhere: inferred``: then one that cites the nearest release that it was read in.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers import in_tree
from opcheck.db.importers.stated import citation
from opcheck.db.versions import nearest, version_key

Fact = Mapping[str, Any]

TORCH = "torch"
"""Id of a release's own source; of another release's, ``torch-2.9.1``."""


class Place(Struct, frozen=True):
    """Where a fact was read, and what that makes of it for one release."""

    at: tuple[str, ...]
    confidence: str
    method: str


def conditions(
    facts: list[Fact], release: str, known: Collection[str], bound: Mapping[str, list[str]]
) -> Iterator[dict[str, Any]]:
    """Conditions of one torch release.

    ``known`` are the overloads of that release, ``bound`` those that are tied to a library.
    """
    for fact in facts:
        place = _place(fact, release)
        names = fact.get("ops", ()) or bound[fact["bound_to"]]
        ops = [op for op in names if op == "*" or op in known]
        if place and ops:
            for tests in fact.get("cases", [fact.get("tests", [])]):
                yield _condition(fact, ops, tests, place)


def torch_source(folder: Path, release: str) -> dict[str, str]:
    """Where the files of one torch release come from, for the table of sources."""
    return {**in_tree.list_source(folder, release), "path": "torch"}


def _place(fact: Fact, release: str) -> Place | None:
    seen, also = fact.get("seen", {}), tuple(fact.get("at", ()))
    if cited := citation(seen, release, TORCH):
        return Place((cited, *also), "high", "registered")
    if not seen:
        within = _within(fact, release)
        stated = Place(also, fact.get("confidence", "medium"), fact.get("method", "registered"))
        return stated if within else None
    if fact.get("elsewhere") != "inferred":
        return None
    read_in = nearest(release, tuple(known for lines in seen.values() for known in lines))
    cited = citation(seen, read_in, f"{TORCH}-{read_in}")
    return Place((cited, *also), "low", "inferred")


def _within(fact: Fact, release: str) -> bool:
    since, until = (fact.get(word) for word in ("since", "until"))
    place = version_key(release)
    return (since is None or version_key(since) <= place) and (
        until is None or place <= version_key(until)
    )


def _condition(
    fact: Fact, ops: list[str], tests: list[Mapping[str, Any]], place: Place
) -> dict[str, Any]:
    condition = {
        "ops": ops,
        "code": fact["code"],
        "verdict": fact["verdict"],
        "confidence": place.confidence,
        "method": place.method,
        "text": fact["text"],
        "at": list(place.at),
    }
    condition |= {"chips": fact["chips"]} if "chips" in fact else {}
    return condition | ({"tests": tests} if tests else {})
