"""Files that transformers wanted of Hugging Face and that are not here, by their names.

The error of the library says that it could not connect, and not for what.
"""

from collections.abc import Collection
from functools import wraps
from inspect import signature
from types import ModuleType
from typing import Any

from opcheck.lang.sentence import Sentence
from opcheck.source.building.after_import import after_import, replace_once

_FUNCTIONS = ("cached_files", "cached_file")
"""What finds files; transformers before 4.50 has the second alone, which asks for one."""
_wanted: dict[str, str] = {}
"""The first file that was wanted of each repository or folder."""


def prepare() -> None:
    """Have files that are not here be noted; for a process of a script's own."""

    def change(module: ModuleType) -> None:
        name = next((name for name in _FUNCTIONS if name in vars(module)), "")
        replace_once(module, name, _noting)

    after_import("transformers.utils.hub", change)


def _noting(original: Any) -> Any:
    """A function that finds files, with what it does not find noted."""
    takes = signature(original)

    @wraps(original)
    def cached(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except OSError:
            given = takes.bind_partial(*args, **kwargs).args
            files = [given[1]] if isinstance(given[1], str) else given[1]
            _wanted.setdefault(str(given[0]), ", ".join(map(str, files)))
            raise

    return cached


def notes(said: Collection[str]) -> tuple[str, ...]:
    """What is to be said of files that were wanted, but of what ``said`` names already."""
    text = (
        "wants the file {text_file} of {name}, which is neither in a folder of that name nor in "
        "the cache of Hugging Face"
    )
    return tuple(
        Sentence(text, text_file=file, name=name)
        for name, file in _wanted.items()
        if not any(name in sentence for sentence in said)
    )
