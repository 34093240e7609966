"""What the exception that ended a script tells: the user's own lines, and words nobody knew."""

import argparse
import linecache
import traceback
from collections.abc import Iterator
from types import FrameType

from opcheck.model.script import Frame
from opcheck.source.user_code import is_users, shown

_PARSES = ("parse_args", "parse_intermixed_args")
"""Functions of argparse's that keep what nobody knows in ``argv``, and then end the program."""


def frames(error: BaseException) -> Iterator[Frame]:
    """The user's own lines that an exception passed, outermost first."""
    for step in traceback.extract_tb(error.__traceback__):
        if step.lineno is not None and is_users(step.filename):
            source = linecache.getline(step.filename, step.lineno).strip()
            yield Frame(shown(step.filename), step.lineno, step.name, source)


def unrecognized(error: BaseException) -> tuple[str, ...]:
    """Words of the command line for which argparse ended the script; () where it did not."""
    if not isinstance(error, SystemExit):
        return ()
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if _parses(frame) and isinstance(words := frame.f_locals.get("argv"), list):
            return tuple(map(str, words))
    return ()


def _parses(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_filename == argparse.__file__ and code.co_name in _PARSES
