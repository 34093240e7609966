"""Where in the model something is called, the places with the most calls first."""

from collections.abc import Iterable

from opcheck.lang.speech import tell
from opcheck.model.report import Place
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import PLACE, Atom, split

Counted = tuple[Place, int]
"""A place, and how many calls come from it."""


def merged(uses: Iterable[Place]) -> list[Counted]:
    """Uses that differ in their inputs alone are one place to look at."""
    first: dict[tuple[str, str, int], Place] = {}
    counts: dict[tuple[str, str, int], int] = {}
    for use in uses:
        key = (use.file, use.module, use.line)
        first.setdefault(key, use)
        counts[key] = counts.get(key, 0) + use.count
    return sorted(((place, counts[key]) for key, place in first.items()), key=_urgency)


def where(place: Place) -> list[Atom]:
    """The line of code and the module pattern, as far as they are known."""
    code: list[Atom] = [(f"{place.file}:{place.line}", f"bold {PLACE}")] if place.file else []
    if place.module.startswith("("):  # what stands outside the model
        return code or split(place.module.strip("()"))
    if not place.module:
        return code or split(words.ROOT)
    return [*code, (tell(f"{words.IN} {place.module}"), "")] if code else [(place.module, "")]


def first_place(uses: Iterable[Place]) -> list[Atom]:
    """The place with the most calls, and how many others there are."""
    places = merged(uses)
    if not places:
        return split(words.ROOT)
    atoms = where(places[0][0])
    if len(places) > 1:
        atoms.append((tell(words.and_more(len(places) - 1, "place")), "dim"))
    return atoms


def _urgency(counted: Counted) -> tuple[bool, int]:
    place, count = counted
    return not place.file, -count
