"""What two runs with other sizes have in common, and where they part."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from opcheck.model.dynamic import READ_BY_PYTHON
from opcheck.model.trace import Value
from opcheck.trace.place import Site
from opcheck.trace.size_watch import Decision

_AHEAD = 120
"""How many events two runs may be apart before they come together again."""
_FEW = 4
"""How many items of a list are told."""
_ALIKE = 3
"""How many events in a row have to be the same then."""


class Called(Struct, frozen=True):
    """One call of an overload."""

    site: Site
    op: str
    module: str
    arguments: tuple[tuple[str, Value], ...]


class Event(Struct, frozen=True):
    """A call or a decision, in the order of the run."""

    what: Called | Decision
    module: str

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same of it in every run that goes this way."""
        what = self.what
        if isinstance(what, Called):
            return what.site, what.op, what.module
        return what.site, what.symbol, self.module, what.outcome


def pairs(one: Sequence[Event], other: Sequence[Event]) -> Iterator[tuple[Event, Event]]:
    """Events that are the same in both runs, in order."""
    yield from ((one[i], other[j]) for i, j, same in _walk(one, other) if same)


def partings(
    one: Sequence[Event], other: Sequence[Event]
) -> Iterator[tuple[Event | None, Event | None]]:
    """The first events after which two runs go different ways; None: that run has ended.

    Not those where Python has just read a value, which is what decided.
    """
    for i, j, same in _walk(one, other):
        if not (same or (i and _reads(one[i - 1]))):
            yield one[i] if i < len(one) else None, other[j] if j < len(other) else None


def _reads(event: Event) -> bool:
    return isinstance(event.what, Called) and event.what.op in READ_BY_PYTHON


def _walk(one: Sequence[Event], other: Sequence[Event]) -> Iterator[tuple[int, int, bool]]:
    first, second = [event.key for event in one], [event.key for event in other]
    i = j = 0
    while i < len(first) or j < len(second):
        same = i < len(first) and j < len(second) and first[i] == second[j]
        yield i, j, same
        if same:
            i, j = i + 1, j + 1
        else:
            i, j = _together(first, i, second, j)


def _together(first: Sequence[object], i: int, second: Sequence[object], j: int) -> tuple[int, int]:
    """The nearest places from which both go on alike; their ends where there are none."""
    for apart in range(1, _AHEAD):
        for skipped in range(apart + 1):
            k, m = i + skipped, j + apart - skipped
            ahead = first[k : k + _ALIKE]
            if ahead and ahead == second[m : m + _ALIKE]:
                return k, m
    return len(first), len(second)


def difference(one: Called, other: Called) -> str:
    """What two calls are given of other sizes or values, as a clause; "": nothing."""
    for (name, left), (_, right) in zip(one.arguments, other.arguments, strict=False):
        told = _text(left), _text(right)
        if told[0] != told[1]:
            return f"{name} {told[0]} becomes {told[1]}"
    return ""


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        few = ", ".join(map(_text, value[:_FEW]))
        return f"[{few}]" if len(value) <= _FEW else f"[{few}, … {len(value)} of them]"
    return str(value)
