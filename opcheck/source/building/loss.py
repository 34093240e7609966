"""The user's own loss: a function in a Python file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.source.user_module import look_up, run_file


def loss_named(text: str) -> Callable[[Any], Any] | None:
    """The function that ``FILE.py:NAME`` stands for; None for "".

    Raises:
        SourceError: there is no such file or name, it fails when it is run, or is no function.
    """
    if not text:
        return None
    path, _, name = text.rpartition(":")
    found = look_up(run_file(Path(path)), Path(path), name)
    if not callable(found):
        raise SourceError(
            f"{text} is {type(found).__name__}, want a function of the model's output",
            "write def loss(output): ... that returns a tensor without dimensions",
        )
    return found  # type: ignore[no-any-return]  # callable, and more is not known
