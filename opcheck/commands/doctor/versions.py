"""How versions that were found compare with those that a vendor's table says."""

import re
from enum import StrEnum

from packaging.version import InvalidVersion, Version

from opcheck.db.versions import version_key

_READABLE = re.compile(r"v?\d+(?:[._-]?(?:rc|post|dev|alpha|beta|a|b)?\d+)*", re.IGNORECASE)
_RELEASE = re.compile(r"v?(?P<release>\d+(?:\.\d+)*)(?P<tail>.*)", re.IGNORECASE)
_NEAR = 2
"""How many numbers must agree for two versions to be near."""
_OR_NEWER = re.compile(r"(\S+) or newer")
_PACKAGING = re.compile(r"-\d+")
"""The number of a build behind a version: ``4.0.1-1``."""


class Fit(StrEnum):
    """How a version that was found goes with what is said, best first."""

    SAME = "same"
    NEAR = "near"
    """The first two numbers agree."""
    DIFFERENT = "different"
    UNREADABLE = "unreadable"
    """One of them is no version."""


_ORDER = tuple(Fit)


def fit(found: str, said: str) -> Fit:
    """Compare ``found`` with ``said``: a version, several of them, or one ``or newer``.

    As far as both go: ``6.3`` is said of ``6.3.2`` too, and found it may be it.
    """
    return min((_fit(found, each.strip()) for each in said.split(",")), key=_ORDER.index)


def public(version: str) -> str:
    """A version without its local part and the number of its packaging: ``2.7.1``."""
    plain = version.strip().partition("+")[0]
    return _PACKAGING.sub("", plain) if _PACKAGING.search(plain) else plain


def local(version: str) -> str:
    """The local part of a version: ``cpu`` of ``2.7.1+cpu``."""
    return version.partition("+")[2]


def readable(version: str) -> bool:
    """Whether a text is a version."""
    return bool(_READABLE.fullmatch(public(version)))


def older(found: str, least: str) -> bool:
    """Whether a version is older than another, both being readable."""
    ours, theirs = _numbers(found), _numbers(least)
    return ours[: len(theirs)] < theirs


def at_least(version: str, since: str) -> bool:
    """Whether a version is ``since`` or newer, in the order of packages of Python."""
    try:
        return Version(public(version)) >= Version(since)
    except InvalidVersion:
        return not older(version, since)


def _fit(found: str, said: str) -> Fit:
    if newer := _OR_NEWER.fullmatch(said):
        if not (readable(found) and readable(newer[1])):
            return Fit.UNREADABLE
        return Fit.DIFFERENT if older(found, newer[1]) else Fit.SAME
    if not (readable(found) and readable(said)):
        return Fit.UNREADABLE
    (ours, tail), (theirs, other) = _parts(found), _parts(said)
    common = min(len(ours), len(theirs))
    if ours[:common] == theirs[:common] and tail == other:
        return Fit.SAME
    same = min(common, _NEAR)
    return Fit.NEAR if ours[:same] == theirs[:same] else Fit.DIFFERENT


def _parts(version: str) -> tuple[tuple[int, ...], str]:
    """The numbers of a release, and what comes behind: ``rc3``, ``post8``."""
    match = _RELEASE.match(public(version))
    assert match is not None, version  # every caller asks whether it is readable
    tail = re.sub(r"[._-]", "", match["tail"]).lower()
    return tuple(map(int, match["release"].split("."))), tail


def _numbers(version: str) -> tuple[int, ...]:
    return version_key(public(version))
