"""Tracebacks of the user's code, as Python would print them had it been run without opcheck."""

import traceback
from pathlib import Path

_OURS = (str(Path(__file__).parents[1]), "<frozen runpy>")


def show(error: BaseException) -> None:
    """Print an exception on stderr, without the lines of what runs the user's code."""
    stack = traceback.TracebackException.from_exception(error)
    frames = [frame for frame in stack.stack if not frame.filename.startswith(_OURS)]
    stack.stack = traceback.StackSummary.from_list(frames)
    stack.print()
