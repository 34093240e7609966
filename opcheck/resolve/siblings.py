"""Targets that are alike in all that a call asks of them: one is decided, the others take it over.

The chips of a release differ in few of their conditions. What was asked of a target to decide a
call is noted by overload; another chip of which each of these has the same kernel, the same ways
and the same conditions has the same resolution.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from opcheck.model.matrix import SupportMatrix

ALONE = "alone"
"""In place of an overload: what was asked is not compared."""


class Asked:
    """The overloads that were looked up while a call was decided, those of its parts included."""

    def __init__(self) -> None:
        self._open: list[set[str]] = []

    @contextmanager
    def about(self) -> Iterator[set[str]]:
        """Note in the set that is given what is asked meanwhile; it is also asked around it."""
        found: set[str] = set()
        self._open.append(found)
        try:
            yield found
        finally:
            self._open.pop()
            self.note(found)

    def note(self, ops: set[str] | frozenset[str]) -> None:
        """That these were looked up."""
        if self._open:
            self._open[-1].update(ops)


class Likeness:
    """In which overloads two targets are alike."""

    def __init__(self, one: SupportMatrix, other: SupportMatrix) -> None:
        self._one, self._other = one, other
        self._found: dict[str, bool] = {ALONE: False}
        self._whole = _of_one_release(one, other)

    def __call__(self, ops: frozenset[str]) -> bool:
        """Whether each of the overloads has the same kernel, ways and conditions on both."""
        return self._whole and all(map(self._in, ops))

    def _in(self, op: str) -> bool:
        if op not in self._found:
            self._found[op] = self._compared(op)
        return self._found[op]

    def _compared(self, op: str) -> bool:
        one, other = self._one, self._other
        conditions = one.conditions_for(op)
        return (
            one.entries.get(op) == other.entries.get(op)
            and one.choices.get(op) == other.choices.get(op)
            and conditions == other.conditions_for(op)
            and not any("{chip}" in condition.text for condition in conditions)
        )


def _of_one_release(one: SupportMatrix, other: SupportMatrix) -> bool:
    """Whether what is said of no overload in particular is the same of both targets."""
    a, b = one.target, other.target
    return (
        (a.vendor, a.sdk, a.torch, a.device_type) == (b.vendor, b.sdk, b.torch, b.device_type)
        and one.fallback == other.fallback
        and one.inherits == other.inherits
    )
