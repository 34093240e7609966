"""Ordering of version strings as vendors write them."""

import re
from collections.abc import Sequence

_CANDIDATE = 1000


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
