"""Spans of torch versions as entries write them: ``2.1..2.4, 2.7``."""

from collections.abc import Sequence


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
