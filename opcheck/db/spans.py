"""Spans of torch versions as entries write them: ``2.1..2.4, 2.7``."""

from collections.abc import Sequence

from opcheck.db.versions import version_key


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


def covers(spans: str, version: str) -> bool:
    """Whether a version lies in spans with or without ends: ``..2.4, 2.7, 2.9..2.11, 2.13..``.

    A bound stands for every version that begins with it: ``..2.13`` has 2.13.1 in it.
    """
    return any(_in_span(version_key(version), span) for span in spans.split(", "))


def _in_span(key: tuple[int, ...], span: str) -> bool:
    first, dots, last = span.partition("..")
    lower, upper = version_key(first), version_key(last if dots else first)
    return (not lower or key[: len(lower)] >= lower) and (not upper or key[: len(upper)] <= upper)
