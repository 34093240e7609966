"""Loops that go on until a value says otherwise that a trace does not have - they are ended."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.trace.calls.call_site import is_internal
from opcheck.trace.outputs.unknown import Assumption, UnknownResult, taken_to_be

_LEAVES = (ast.Break, ast.Return, ast.Raise)
"""Statements that leave a loop."""
_SAYS_THAT_IT_IS_OVER = re.compile("finish|done|stop|complete|converge")
"""In the name of what a function is given that says whether a loop goes on: it does while false."""
_FRAMES = 4
"""How many callers may stand between the line that reads a value and the loop that asks."""


def decides_a_loop() -> bool:
    """Whether the value that is read now may end a loop; true where no source tells.

    A loop over a known number of things may read a value for each of them, which ends nothing.
    """
    frame: Any = sys._getframe(1)
    seen = 0
    while frame is not None and seen < _FRAMES:
        code = frame.f_code
        if not is_internal(code):
            lines = _lines_of(code.co_filename)
            if lines is None or frame.f_lineno in lines.ending:
                return True
            seen += 1
        frame = frame.f_back
    return False


def goes_on_while_true() -> bool:
    """Whether a loop goes on where the value that is read now is true, and ends where not."""
    frame = _innermost()
    lines = None if frame is None else _lines_of(frame.f_code.co_filename)
    return frame is not None and lines is not None and frame.f_lineno in lines.going_on


class _Lines(NamedTuple):
    """Lines of a file that say how long its loops go on."""

    ending: frozenset[int]
    """The test of a ``while``, or of an ``if`` that leaves a loop, and those in the loop that set a
    name of its test: ``done = check(x)``."""
    going_on: frozenset[int]
    """Those that read what is true as long as a loop goes on."""


@cache
def _lines_of(file: str) -> _Lines | None:
    """The lines of a file; None where no source tells."""
    try:
        tree = ast.parse(read_bytes(file, MOST_SOURCE_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    ending: set[int] = set()
    wanted: dict[int, set[bool]] = {}
    for loop in ast.walk(tree):
        if isinstance(loop, (ast.While, ast.For)):
            tests = [*_ends(loop)]
            for test in (*tests, *_set_for(tests, loop)):
                ending.update(_lines(test))
            for part, truth in _wanted(loop):
                for line in _lines(part):
                    wanted.setdefault(line, set()).add(truth)
    going_on = (line for line, truths in wanted.items() if truths == {True})
    return _Lines(frozenset(ending), frozenset(going_on))


def _lines(part: ast.expr) -> range:
    return range(part.lineno, (part.end_lineno or part.lineno) + 1)


def _set_for(tests: Sequence[ast.expr], loop: ast.While | ast.For) -> Iterator[ast.expr]:
    """What the names in ``tests`` are set to inside the loop."""
    asked = {part.id for test in tests for part in ast.walk(test) if isinstance(part, ast.Name)}
    for inner in ast.walk(loop):
        if isinstance(inner, ast.Assign):
            names = (part for target in inner.targets for part in ast.walk(target))
            if any(isinstance(part, ast.Name) and part.id in asked for part in names):
                yield inner.value


def _ends(loop: ast.While | ast.For) -> Iterator[ast.expr]:
    if isinstance(loop, ast.While):
        yield loop.test
    for inner in ast.walk(loop):
        if isinstance(inner, ast.If) and any(isinstance(n, _LEAVES) for n in ast.walk(inner)):
            yield inner.test


def _wanted(loop: ast.While | ast.For) -> Iterator[tuple[ast.expr, bool]]:
    """Parts of what a loop asks, with the truth for which it goes on; names as they are set."""
    asked = [*_truths(loop.test, True)] if isinstance(loop, ast.While) else []
    for part, _ in [*asked]:
        given = [arg for arg in getattr(part, "args", ()) if isinstance(arg, ast.Name)]
        asked += [(arg, False) for arg in given if _SAYS_THAT_IT_IS_OVER.search(arg.id)]
    for inner in ast.walk(loop):
        if isinstance(inner, ast.If) and isinstance(inner.body[-1], _LEAVES):
            asked += _truths(inner.test, False)
    names = {part.id: truth for part, truth in asked if isinstance(part, ast.Name)}
    for inner in ast.walk(loop):
        if isinstance(inner, ast.Assign):
            for target in inner.targets:
                if isinstance(target, ast.Name) and target.id in names:
                    asked += _truths(inner.value, names[target.id])
    yield from asked


def _truths(test: ast.expr, truth: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The parts of a test that are read each by itself, and what they are where it is ``truth``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _truths(test.operand, not truth)
    elif isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _truths(value, truth)
    else:
        yield test, truth


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

        What a loop goes on for is assumed to be so: what it does is seen.

        Raises:
            Unseen: it asks on and on, whatever it is told.
        """
        if not assumption.steers:
            return assumption
        if assumption.result() is False and goes_on_while_true():
            assumption = Assumption(lambda: True, taken_to_be(True))
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
            raise UnknownResult(Sentence(text, count=MOST))
        return self._read[reader] % (ROUNDS + 1) == 0 and decides_a_loop()


def _changed(value: Any) -> Assumption:
    other = _other(value)
    text = "after {count} times, so that a loop ends, it is taken to be {value}"
    said = Sentence(text, count=ROUNDS, value=str(other))
    return Assumption(lambda: other, said)


def _other(value: Any) -> Any:
    return not value if isinstance(value, bool) else type(value)(0)


def _reader() -> Reader:
    """The innermost line that is neither torch's nor ours, and whose method it is called by.

    Layers of one kind read at the same line; a loop reads for the same object again and again.
    """
    frame: Any = _innermost()
    if frame is None:
        return "", 0, 0
    file, line = frame.f_code.co_filename, frame.f_lineno
    while frame is not None and (is_internal(frame.f_code) or "self" not in frame.f_locals):
        frame = frame.f_back
    return file, line, 0 if frame is None else id(frame.f_locals["self"])


def _innermost() -> FrameType | None:
    """The innermost frame that is neither torch's nor ours."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code):
        frame = frame.f_back
    return frame
