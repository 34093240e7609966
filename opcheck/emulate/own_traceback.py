"""Tracebacks and warnings of the user's code, as Python would print them without opcheck."""

import traceback
import warnings
from pathlib import Path
from typing import TextIO

from opcheck.trace.calls.call_site import from_stack

_OURS = (str(Path(__file__).parents[1]), "<frozen runpy>")


def show(error: BaseException) -> None:
    """Print an exception on stderr, without the lines of what runs the user's code."""
    stack = traceback.TracebackException.from_exception(error)
    _leave_out_ours(stack)
    stack.print()


def _leave_out_ours(stack: traceback.TracebackException) -> None:
    """Leave out our own lines, and the errors that we met and answered with this one."""
    frames = [frame for frame in stack.stack if not frame.filename.startswith(_OURS)]
    stack.stack = traceback.StackSummary.from_list(frames)
    before = stack.__context__
    while before and before.stack and before.stack[0].filename.startswith(_OURS):
        before = before.__context__
    stack.__context__ = before
    for other in (stack.__cause__, stack.__context__):
        if other is not None:
            _leave_out_ours(other)


def place_warnings() -> None:
    """Have warnings that C++ gives below our own code stand at the user's line; for good."""
    original = warnings.showwarning

    def show_warning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if filename.startswith(_OURS):
            own = from_stack(1, None)
            filename, lineno = own if own[0] else (filename, lineno)
        original(message, category, filename, lineno, file, line)

    warnings.showwarning = show_warning
