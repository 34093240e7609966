"""Loops that go on until a value says otherwise that a trace does not have: they are ended."""

import sys
from collections import Counter
from typing import Any

from opcheck.lang.sentence import Sentence
from opcheck.trace.assume import Assumption
from opcheck.trace.loop_tests import decides_a_loop
from opcheck.trace.place import is_internal
from opcheck.trace.unseen import Unseen

Reader = tuple[str, int, int]
"""File, line, and the object that reads there."""
ROUNDS = 64
"""Times that one line may read the same assumption in turn; the next time it reads another."""
MOST = 20_000
"""Times that one line may read at all: nothing that it was told ended its loop."""


class Loops:
    """Counts the values that each line of Python reads, and changes one now and then."""

    def __init__(self) -> None:
        self._read: Counter[Reader] = Counter()

    def broken(self, assumption: Assumption) -> Assumption:
        """The assumption for what is read now: the other answer where a line asks too often.

        Raises:
            Unseen: it asks on and on, whatever it is told.
        """
        if not assumption.steers:
            return assumption
        return _changed(assumption.result()) if self._asks_again() else assumption

    def ended(self, value: Any) -> Assumption | None:
        """What to take for a known truth ``value`` where a line asks too often; else None.

        Raises:
            Unseen: it asks on and on, whatever it is told.
        """
        return _changed(value) if isinstance(value, bool) and self._asks_again() else None

    def _asks_again(self) -> bool:
        reader = _reader()
        self._read[reader] += 1
        if self._read[reader] > MOST:
            text = "a loop that depends on data does not end within {count} rounds"
            raise Unseen(Sentence(text, count=MOST))
        return self._read[reader] % (ROUNDS + 1) == 0 and decides_a_loop()


def _changed(value: Any) -> Assumption:
    other = _other(value)
    text = "after {count} times, so that a loop ends, it is taken to be {value}"
    said = Sentence(text, count=ROUNDS, value=str(other))
    return Assumption(lambda: other, said, steers=True)


def _other(value: Any) -> Any:
    return not value if isinstance(value, bool) else type(value)(0)


def _reader() -> Reader:
    """The innermost line that is neither torch's nor ours, and whose method it is called by.

    Layers of one kind read at the same line; a loop reads for the same object again and again.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code):
        frame = frame.f_back
    if frame is None:
        return "", 0, 0
    file, line = frame.f_code.co_filename, frame.f_lineno
    while frame is not None and (is_internal(frame.f_code) or "self" not in frame.f_locals):
        frame = frame.f_back
    return file, line, 0 if frame is None else id(frame.f_locals["self"])
