"""The language of a test run: the environment asks for it, and the terminal can write it."""

import os
import sys
from contextlib import AbstractContextManager

from opcheck.lang.speech import Language, language_of, speaking, tell, writable


def in_language_of_run() -> AbstractContextManager[None]:
    """What is told meanwhile is told as the user reads it."""
    language = language_of(os.environ)
    encoding = getattr(sys.__stdout__, "encoding", None) or "utf-8"  # pytest captures sys.stdout
    return speaking(language if writable(language, encoding) else Language.ENGLISH)


def translated(text: str) -> str:
    """A text as the user reads it."""
    with in_language_of_run():
        return tell(text)
