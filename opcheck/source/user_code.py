"""Which code is the user's own, as opposed to a library's, Python's or ours."""

import os
import re
import sysconfig
from functools import cache
from pathlib import Path

_FRAME = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+)', re.MULTILINE)


@cache
def is_users(filename: str) -> bool:
    """Whether a frame in ``filename`` is an answer to "where in my code"."""
    if filename.startswith("<"):
        return False
    path = Path(filename).resolve()
    return not any(path.is_relative_to(library) for library in _libraries())


def shown(filename: str) -> str:
    """``filename`` relative to the working directory, where it lies below."""
    try:
        return str(Path(filename).resolve().relative_to(Path.cwd()))
    except ValueError:
        return filename


def innermost(stack: str) -> str:
    """Find ``file:line`` of the user's first frame in a stack as faulthandler writes it; or ""."""
    for frame in _FRAME.finditer(stack):
        if is_users(frame["file"]):
            return f"{shown(frame['file'])}:{frame['line']}"
    return ""


@cache
def library_prefixes() -> tuple[str, ...]:
    """How the path of a library's file begins, as it is mostly written: a quick first look."""
    return tuple(f"{folder}{os.sep}" for folder in _libraries())


@cache
def _libraries() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [Path(str(sysconfig.get_path(name))) for name in names]
    return tuple(folder.resolve() for folder in (*folders, Path(__file__).parents[1]))
