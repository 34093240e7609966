"""A shell's question, and the answer in its words."""

from collections.abc import Sequence
from typing import Any

from opcheck.app.completion.answers import answers
from opcheck.errors import OpcheckError

LONGEST = 60
"""Characters of what is said beside an answer."""


def told(program: Any, words: Sequence[str], shell: str) -> str:
    """One answer a line, with a tab before what it means where the shell shows that.

    Where the database cannot be read there is nothing to offer: a prompt is no place for errors.
    """
    try:
        found = answers(program, words)
    except (OpcheckError, OSError):
        return ""
    return "".join(f"{_line(word, said, shell)}\n" for word, said in found)


def _line(word: str, said: str, shell: str) -> str:
    if shell == "bash" or not said:
        return word
    short = said if len(said) <= LONGEST else f"{said[: LONGEST - 3].rstrip()}..."
    return f"{word}\t{short}"
