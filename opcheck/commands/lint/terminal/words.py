"""Every sentence of that page."""

from opcheck.model.verdict import Verdict
from opcheck.views.terminal.units import plural

INSTEAD, TIER_2 = "instead", "tier 2"
FIXED = "(--fix)"
NOT_READ = ("Not read", "what is in them is not known")
CHANGED, WOULD_CHANGE = "changed", "would change"
NOTHING_FOUND = "nothing in these sources is for CUDA alone"
HEADINGS = {
    Verdict.UNSUPPORTED: ("Unsupported", "known not to run"),
    Verdict.UNKNOWN: ("Unknown", "nobody has said"),
    Verdict.FALLBACK: ("Fallback", "the program goes on on the host"),
}
NATIVE = ("Native", "the target answers to it")
CAUTIONS = ("Cautions", "runs, with a catch")


def read(files: int, skipped: int, ignored: int) -> str:
    """How much was read."""
    parts = [f"{plural(files, 'file')} read"]
    if skipped:
        parts.append(f"{skipped:,} not read")
    if ignored:
        parts.append(f"{plural(ignored, 'place')} silenced by a comment")
    return ", ".join(parts)


def verdict(places: int, cautions: int) -> str:
    """How a target fares."""
    parts = [f"{plural(places, 'place')} to change"] if places else ["nothing to change"]
    if cautions:
        parts.append(plural(cautions, "caution"))
    return ", ".join(parts)


def native(count: int) -> str:
    """How many places need no reader."""
    return f"{plural(count, 'place')}; --verbose lists all"
