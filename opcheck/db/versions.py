"""Ordering of version strings as vendors write them, and spans of torch versions."""

import re
from collections.abc import Sequence
from functools import cache

_CANDIDATE = 1000


@cache
def version_key(text: str) -> tuple[int, ...]:
    """Sort key of ``2.10``, ``26.1.0``, ``6.0.rc1``; a release candidate precedes its release."""
    parts = re.findall(r"(rc)?(\d{1,18})", text, re.IGNORECASE)  # Python reads no endless number
    return tuple(int(number) - (_CANDIDATE if rc else 0) for rc, number in parts)


def major_minor(text: str) -> str:
    """``2.7`` of ``2.7``, ``2.7.1`` and ``v2.7.1``."""
    return ".".join(text.removeprefix("v").split(".")[:2])


def completed(version: str, known: Sequence[str]) -> str:
    """The one of ``known`` that a shorter spelling stands for, ``2.13.0`` for ``2.13``."""
    longer = [other for other in known if other.startswith(f"{version}.")]
    return longer[0] if len(longer) == 1 and version not in known else version


def nearest_not_newer(wanted: str, known: tuple[str, ...]) -> str:
    """The newest of ``known`` that is not newer than ``wanted``; the oldest if all are newer."""
    ordered = sorted(known, key=version_key)
    older = [version for version in ordered if version_key(version) <= version_key(wanted)]
    return older[-1] if older else ordered[0]


def nearest(wanted: str, known: tuple[str, ...]) -> str:
    """The one of ``known`` whose numbers differ least, leading ones first; the older of two."""

    def distance(version: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        pairs = zip(version_key(wanted), version_key(version), strict=False)
        return tuple(abs(a - b) for a, b in pairs), version_key(version)

    return min(known, key=distance)


def within(torch: str, spans: str, versions: Sequence[str]) -> bool:
    """Whether a version lies in the spans, which are closed and in the order of ``versions``."""
    if torch not in versions:
        return False
    place = versions.index(torch)
    for span in spans.split(", "):
        first, _, last = span.partition("..")
        if first in versions and (last or first) in versions:
            start, stop = versions.index(first), versions.index(last or first)
            if start <= place <= stop:
                return True
    return False


@cache
@cache
def covers(spans: str, version: str) -> bool:
    """Whether a version lies in spans with or without ends: ``..2.4, 2.7, 2.9..2.11, 2.13..``.

    A bound stands for every version that begins with it: ``..2.13`` has 2.13.1 in it.
    """
    return any(_in_span(version_key(version), span) for span in spans.split(", "))


def _in_span(key: tuple[int, ...], span: str) -> bool:
    first, dots, last = span.partition("..")
    lower, upper = version_key(first), version_key(last if dots else first)
    return (not lower or key[: len(lower)] >= lower) and (not upper or key[: len(upper)] <= upper)
