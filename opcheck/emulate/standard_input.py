"""What a script asks of its standard input, of which there is nothing: a note names the line.

``input()`` raises an EOFError there, which says nothing of the cause.
"""

import builtins
from functools import wraps
from typing import Any

from opcheck.lang.sentence import Sentence
from opcheck.trace.calls.call_site import from_stack

_asked: dict[str, None] = {}
"""Where it was asked, in the order seen."""


def prepare() -> None:
    """Have calls of ``input`` be noted from now on; for a process of a script's own."""
    original = builtins.input

    @wraps(original)
    def asking(*args: Any, **kwargs: Any) -> Any:
        file, line = from_stack(1, None)
        _asked.setdefault(f"{file}:{line}")
        return original(*args, **kwargs)

    builtins.input = asking


def notes() -> tuple[str, ...]:
    """That nobody answers, with each line that asked."""
    template = "asks for input at {text}, and reads the end of a file: nobody can answer here"
    return tuple(Sentence(template, text=place) for place in _asked)
