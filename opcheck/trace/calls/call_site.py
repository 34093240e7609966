"""Where a call came from: the module that runs, and the user's own line."""

import os
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import torch

Site = tuple[str, int]
"""(file, line) as reports show them; ("", 0) where nothing of the user's was on the stack."""

NOWHERE: Site = ("", 0)

_TRACER = str(Path(__file__).resolve().parents[1]) + os.sep
_SELF = str(Path(__file__).resolve().parents[2]) + os.sep
_TORCH = str(Path(torch.__file__).resolve().parent) + os.sep
_STDLIB = sysconfig.get_paths()["stdlib"] + os.sep
_PACKAGES = ("/site-packages/", "/dist-packages/")

_INTERNAL, _LIBRARY, _USER = range(3)


@cache
def _kind(name: str) -> int:
    """Whose code a file has. Frames of torch, of the standard library and of ours answer nothing.

    By file, as the hash of a code object is computed of all that it holds, each time anew.
    """
    if name.startswith(("<", _TORCH, _SELF)):
        return _INTERNAL
    if any(part in name for part in _PACKAGES):
        return _INTERNAL if "/site-packages/torch/" in name else _LIBRARY
    return _INTERNAL if name.startswith(_STDLIB) else _USER


def is_internal(code: CodeType) -> bool:
    """Whether a frame is of torch, of the standard library or of this package."""
    return _kind(code.co_filename) == _INTERNAL


def is_tracer(code: CodeType) -> bool:
    """Whether it is code of the tracer; layers that stand for a library's are a model's."""
    return code.co_filename.startswith(_TRACER)


@cache
def shown(file: str) -> str:
    """A path as reports show it: relative to its package or to the working directory."""
    for part in _PACKAGES:
        if part in file:
            return file.rsplit(part, 1)[1]
    path = Path(file)
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        pass
    top = path.parent
    while (top / "__init__.py").exists():
        top = top.parent
    return path.relative_to(top).as_posix() if top != path.parent else path.name


def from_stack(depth: int, until: CodeType | None) -> Site:
    """Give the innermost user line on the stack, else the innermost library line.

    ``depth`` frames above the caller are skipped; the search ends at a frame running ``until``.
    """
    return from_frame(sys._getframe(depth + 1), until)


def from_frame(frame: Any, until: CodeType | None) -> Site:
    """Give the innermost user line of a frame and of what called it, else the library line."""
    library: Any = None
    while frame is not None:
        code = frame.f_code
        if code is until:
            break
        kind = _kind(code.co_filename)
        if kind == _USER:
            return shown(code.co_filename), frame.f_lineno
        if kind == _LIBRARY and library is None:
            library = frame
        frame = frame.f_back
    if library is None:
        return NOWHERE
    return shown(library.f_code.co_filename), library.f_lineno


def from_error(error: BaseException) -> Site:
    """Give the innermost user line that an exception passed, else the innermost library line."""
    user = library = NOWHERE
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        kind = _kind(code.co_filename)
        if kind == _USER:
            user = shown(code.co_filename), step.tb_lineno
        elif kind == _LIBRARY:
            library = shown(code.co_filename), step.tb_lineno
        step = step.tb_next
    return library if user == NOWHERE else user
