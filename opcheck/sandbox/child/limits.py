"""Limits that the worker puts on itself, and where code of the user's tries to write beyond.

Writes that code of the user's tries outside the scratch folder: refused, with the line. The kernel
refuses them as well, but does not know which line it was. What Python's own functions ask for is
seen here first, by an audit hook; native code that opens files on its own is named by the error
that it gives.
"""

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from opcheck.db.files import index
from opcheck.errors import WriteRefusedError
from opcheck.lang.sentence import Sentence
from opcheck.model.jobs import Job
from opcheck.sandbox.child.redirected import libraries, redirect
from opcheck.sandbox.child.redirected.calls import Calls
from opcheck.sandbox.limits import overlay
from opcheck.sandbox.limits.confine import confine, scratch_environment, tools_environment
from opcheck.source.user_code import is_users, shown

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm/")
_PATHS: Mapping[str, tuple[int, ...]] = {
    "os.remove": (0,), "os.rename": (0, 1), "os.rmdir": (0,), "os.mkdir": (0,), "os.link": (1,),
    "os.symlink": (1,), "os.truncate": (0,), "os.chmod": (0,), "os.chown": (0,), "os.utime": (0,),
    "os.setxattr": (0,), "os.removexattr": (0,), "sqlite3.connect": (0,),
}  # fmt: skip
"""Audit events that change files -> which of their arguments are paths."""
_MADE = frozenset({"os.mkdir", "os.link", "os.symlink", "sqlite3.connect"})
"""Those that make something: what is there already is left to the system to refuse."""
_SAVES = ("save", "jit.save", "export.save")
"""Functions of torch that open their file in C++; it is their second argument, ``f``."""


class Refusals:
    """What was refused to the code of one process, by file and line."""

    def __init__(self, *allowed: str, redirected: Calls | None = None) -> None:
        """Refuse what is not allowed.

        Args:
            allowed: folders and files that may be written to.
            redirected: what stands for Python's functions, where what is written is not refused
                but seen by this process alone, without the kernel's help.
        """
        self.redirected = redirected
        self._allowed = tuple(map(os.path.realpath, filter(None, allowed)))
        self._seen: dict[str, None] = {}

    def listen(self) -> None:
        """Refuse from now on."""
        sys.addaudithook(self._hear)

    def watch_torch(self) -> None:
        """Have torch's own functions that save say so before they do."""
        import torch

        for name in _SAVES:
            *parents, leaf = name.split(".")
            module = torch
            for parent in parents:
                module = getattr(module, parent)
            function: Callable[..., Any] = getattr(module, leaf)
            setattr(module, leaf, libraries.with_path(function, _announced, 1, "f"))
        if self.redirected is not None:
            libraries.prepare(self.redirected)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each place that tried, in the order seen."""
        return tuple(self._seen)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        for path in _written(event, arguments):
            if not self._may(path):
                self._refuse(path)

    def _may(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real.startswith(_DEVICES) or any(
            real == place or real.startswith(place.rstrip(os.sep) + os.sep)
            for place in self._allowed
        )

    def _refuse(self, path: str) -> None:
        where, name = _place(), shown(path)
        self._seen.setdefault(
            Sentence(
                "{text_place} writes to {text}, which was refused",
                text_place=where or Sentence("the code"),
                text=name,
            )
        )
        raise WriteRefusedError(errno.EACCES, "a model's code may not write here", name)


def _written(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    """The paths that an audit event is about to change."""
    if event == "open":
        path, mode, flags = arguments
        writes = isinstance(mode, str) and not {*mode}.isdisjoint("wax+")
        if writes or (isinstance(flags, int) and flags & _WRITES):
            yield from _as_path(path)
    elif event in _PATHS:
        for place in _PATHS[event]:
            for path in _as_path(arguments[place]):
                if os.path.lexists(path) != (event in _MADE):
                    yield path


def _as_path(value: object) -> Iterator[str]:
    """A path as text; nothing for a file that is open already, or for a database in memory."""
    if isinstance(value, bytes | str | os.PathLike):
        text = os.fsdecode(value)
        if text and text != ":memory:":
            yield text


def _place() -> str:
    """``file:line`` of the innermost frame that is the user's own."""
    frame = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]  # the outermost one has none
    return ""


def _announced(path: Any) -> Any:
    """The same path, after the audit event that C++ does not raise where it opens a file."""
    sys.audit("open", os.fspath(path), "wb", 0)
    return path


def confined(job: Job) -> Refusals:
    """Limit this process to what its job says, for good; gives what takes note of refusals."""
    limits = job.limits
    if limits is None:
        return Refusals("")
    index.write_nothing()
    # code of the user's keeps its home and caches
    places = tools_environment if job.code else scratch_environment
    scratch = places(str(Path(limits.scratch, "scratch")))
    for folder in scratch.values():
        os.makedirs(folder, exist_ok=True)
    os.environ.update(scratch)
    tempfile.tempdir = scratch["TMPDIR"]
    sys.dont_write_bytecode = True
    redirected = None
    if limits.overlaid:
        mounted = overlay.mount(limits.overlaid, limits.aside)
        redirected = None if mounted else redirect(limits.overlaid, limits.aside)
        limits = replace(limits, overlaid=mounted)
    free = (*limits.overlaid, *limits.writable)
    refusals = Refusals(limits.scratch, *limits.writes, *free, redirected=redirected)
    if job.code:
        refusals.listen()
    confine(limits)
    return refusals
