"""Every sentence of the pages about the database."""

from collections.abc import Mapping

from opcheck.model.matrix import Fallback
from opcheck.model.verdict import Method
from opcheck.views.terminal.units import plural

OVERLAYS = ("Overlays", "the last one holds")
ADVISORIES = ("Advisories", "operators that run and do something else than they should")
EDITED = "edited: not what its importer wrote"
NO_DATE = "of no known date"
ADDED = ("Added", "a kernel where there was none")
REMOVED = ("Removed", "no kernel any more")
CHANGED = ("Changed", "keys, kernel paths or conditions")
NOTHING_CHANGED = "Nothing differs: the same kernels, keys, paths and conditions."
CONDITIONS = ("Conditions", "uses that fare otherwise")
SOURCES = ("Sources", "what it was read from")
OPERATORS = ("Kernels", "overloads that have one")
EVERY_OVERLOAD = "every overload"
RELEASE_COLUMNS = ("release", "torch", "date", "age", "kernels", "known as", "conditions")
CHANGED_FILE = {True: "written", False: "as it was"}

# labels, at most nine columns wide
DATA, KERNELS, GRADIENTS, OTHERWISE, EVIDENCE = "data", "kernels", "gradients", "otherwise", ""
KEYS, PATHS, GONE, NEW = "keys", "path", "gone", "new"
CAUTION, OFF_WITH = "caution", "off with"


def age(days: int | None) -> str:
    """How old data is."""
    return NO_DATE if days is None else plural(days, "day")


def old(days: int | None) -> str:
    """The same behind a date."""
    return NO_DATE if days is None else f"{plural(days, 'day')} old"


def methods(entries: Mapping[Method, int]) -> str:
    """How entries are known: one word where all are known alike."""
    if len(entries) == 1:
        return next(iter(entries)).value
    return ", ".join(f"{count:,} {method.value}" for method, count in entries.items())


def otherwise(fallback: Fallback) -> str:
    """What becomes of an operator that the target does not have."""
    if fallback.elsewhere:
        return f"not converted, {fallback.elsewhere}"
    if fallback.to_cpu:
        return "it runs on the host"
    return f"an error; the host runs it with {fallback.enable}" if fallback.enable else "an error"


def span(versions: tuple[str, ...]) -> str:
    """Versions, newest first, as the oldest to the newest."""
    return versions[0] if len(versions) == 1 else f"{versions[-1]} to {versions[0]}"


def added(operators: int, conditions: int) -> str:
    """What an overlay brings."""
    parts = [plural(operators, "operator")] if operators else []
    parts += [plural(conditions, "condition")] if conditions else []
    return ", ".join(parts) or "nothing"


def sound(files: int) -> str:
    """That a check found nothing."""
    return f"{plural(files, 'file')} looked at, nothing is wrong"


def unsound(problems: int, files: int, damaged: int) -> str:
    """How much a check found."""
    return f"{plural(problems, 'problem')} in {damaged:,} of {plural(files, 'file')}"
