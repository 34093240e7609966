"""Regular expressions out of a model's files: one that would be matched for ever is refused."""

import contextlib
import re
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence

SECONDS = 2.0
"""For one path, which takes microseconds with what people write."""


class _LateError(Exception):
    """A pattern is still being matched after the time that one may take."""


def matches(pattern: str, path: str, *, whole: bool = False, around: str = "{}") -> bool:
    """Whether the path of a module begins with what a pattern says, or is ``whole`` what it says.

    Args:
        pattern: as the file has it.
        path: of the module.
        whole: whether the whole path is to match.
        around: what the library puts around the pattern, which is the ``{}`` in it.

    Raises:
        SourceError: that is still not known after ``SECONDS``.
    """
    match = re.fullmatch if whole else re.match
    try:
        with _in_time():
            return match(around.replace("{}", pattern), path) is not None
    except _LateError:
        said = Sentence(
            "the pattern {text_value} is still not matched with {path} after {seconds} seconds",
            text_value=repr(pattern), path=path, seconds=f"{SECONDS:g}",
        )  # fmt: skip
        hint = Sentence("name the modules, or write a pattern without a repetition in another")
        raise SourceError(said, hint) from None


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    """Raise in what takes too long, where the system and the thread let it be interrupted."""
    here = threading.current_thread() is threading.main_thread()
    if not here or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise _LateError
