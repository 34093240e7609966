"""Which lines of Python decide whether a loop goes on, as its source says."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.trace.place import is_internal

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
            tests = _tests(code.co_filename)
            if tests is None or frame.f_lineno in tests:
                return True
            seen += 1
        frame = frame.f_back
    return False


@cache
def _tests(file: str) -> frozenset[int] | None:
    """Lines of a file that hold the test of a ``while``, or of an ``if`` that leaves a loop."""
    try:
        tree = ast.parse(read_bytes(file, MOST_SOURCE_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    lines: set[int] = set()
    for loop in ast.walk(tree):
        if isinstance(loop, (ast.While, ast.For)):
            for test in _ends(loop):
                lines.update(range(test.lineno, (test.end_lineno or test.lineno) + 1))
    return frozenset(lines)


def _ends(loop: ast.While | ast.For) -> Iterator[ast.expr]:
    if isinstance(loop, ast.While):
        yield loop.test
    for inner in ast.walk(loop):
        leaves = (ast.Break, ast.Return, ast.Raise)
        if isinstance(inner, ast.If) and any(isinstance(n, leaves) for n in ast.walk(inner)):
            yield inner.test
