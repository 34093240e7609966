"""The controls as a part of the page of users' cases."""

from collections import Counter
from collections.abc import Iterable

from tests.user_controls.answers import CAUSES, first, now
from tests.user_controls.control import FALLS_BACK, QUERIES, Control, controls
from tests.user_controls.sources import link

VERDICTS = ("native", "fallback", "unknown", "unsupported")


def section() -> str:
    """Counts by vendor, what does not run as it was seen, and every control."""
    return _SECTION.format(
        number=len(controls()),
        counts=_lines(["vendor", "controls", *VERDICTS, "will not run, now"], _counts()),
        otherwise=_lines(["control", "first answer", "now", "why"], _otherwise()),
        differing=_differing(),
        every=_lines(["control", "target", "seen", "first answer"], map(_row, controls().values())),
        queries="\n".join(f"* {query}" for query in QUERIES),
    )


def _counts() -> Iterable[list[str]]:
    """A row a vendor, and one of all."""
    vendors: dict[str, list[str]] = {}
    for control in controls().values():
        vendors.setdefault(_vendor(control), []).append(control.name)
    vendors["all"] = list(controls())
    for vendor, names in vendors.items():
        at_first = Counter(first(name).verdict for name in names)
        left = sum(now(name).verdict == "unsupported" for name in names)
        yield [vendor, str(len(names)), *(str(at_first[v]) for v in VERDICTS), str(left)]


def _vendor(control: Control) -> str:
    return control.target.partition("-")[0]


def _otherwise() -> Iterable[list[str]]:
    for name, why in CAUSES.items():
        yield [name, str(first(name)), str(now(name)), why]


def _differing() -> str:
    """Those that were seen to fall back and are said to be native."""
    names = [
        name
        for name, control in controls().items()
        if control.seen == FALLS_BACK and now(name).verdict == "native"
    ]
    return ", ".join(f"*{name}*" for name in names) or "none"


def _row(control: Control) -> list[str]:
    seen = f"{control.seen} ({link(control.source)})"
    return [control.name, f"`{control.target}`", seen, str(first(control.name))]


def _lines(head: list[str], rows: Iterable[list[str]]) -> str:
    every = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in every)


_SECTION = """\
## Controls: what runs

Programs that users and vendors say work, {number} of them, as a check on the other side: none
should be said not to run, and what is not known should be *unknown*. They were chosen by the order
in which searches and listings of files gave them, and written down with what was seen before the
first of them was scanned. Counted are first answers, by the worst operator of each program; what is
decomposed into native operators counts as native.

{counts}

What a scan first said that it does not run, or does not know:

{otherwise}

Seen to fall back, and said to be native: {differing}. The user's release lies between two that the
database has; the older one falls back.

{every}

Searched for in issue threads, in this order:

{queries}

Beside these, a vendor's own tests: of every listing of files, in the order of the alphabet, every
n-th was taken (of PyTorch's own tests for MPS, what stands in four evenly spaced parts of the
file), less what tests the vendor's private operators or how the plugin itself works.
"""
