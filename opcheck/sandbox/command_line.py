"""The command line's own process, which confines itself before it reads a model file.

Only a process that is the command line's own is armed; a program that imports opcheck, or a test
that runs a command, is never confined. The files to write are named before, as :class:`Output`
does; what was typed may be read, and the project.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opcheck.sandbox.file_writer import Steward

Write = Callable[[Path, bytes], None]


class Command:
    """What this process has been asked to do, as far as files go."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """``arguments``: the command line, as typed."""
        self._arguments = arguments
        self._outputs: list[tuple[Path, Write]] = []
        self._armed = False
        self._steward: Steward | None = None
        self._scratch = ""

    def arm(self) -> None:
        """Have :meth:`begin` confine the process; the command does nothing that this prevents."""
        from opcheck.sandbox.limits import landlock

        self._armed = landlock.abi() > 0

    def disarm(self) -> None:
        """Leave the process as it is: it runs several models, each in a confined process."""
        self._armed = False

    def will_write(self, path: Path, write: Write) -> None:
        """Name a file that is written at the end; ``write`` does it, in full or not at all."""
        self._outputs.append((path, write))

    def begin(self, more: Iterable[str | Path] = ()) -> None:
        """Confine the process from here on, for good; ``more``: files that may be read as well."""
        if not self._armed:
            return
        self._armed = False
        from opcheck.model.limits import Filter, Profile
        from opcheck.sandbox.limits import system_files
        from opcheck.sandbox.limits.confine import confine

        base = os.environ.get("TMPDIR", "/tmp")
        self._scratch = _made(base)
        if self._outputs:
            from opcheck.sandbox.file_writer import Steward

            self._steward = Steward(self._outputs)
        reads = system_files.existing([*self._typed(), *more])
        # Landlock says which programs: the interpreter, for the process that runs the model
        allowed = Filter(programs=True)
        limits = Profile(self._scratch, reads, filter=allowed, interpreter=True, empties=base)
        confine(limits)

    def end(self) -> None:
        """Remove what the process has left of its temporary files."""
        if self._scratch:
            try:
                os.rmdir(self._scratch)
            except OSError:  # something is in it
                import shutil

                shutil.rmtree(self._scratch, ignore_errors=True)

    def write(self, path: Path, data: bytes, write: Write) -> None:
        """Write a file, by the file writer where this process no longer may.

        Raises:
            OSError: it cannot be written.
        """
        if self._steward is None:
            write(path, data)
        else:
            self._steward.write(path, data)

    def _typed(self) -> Iterator[str | Path]:
        """What the command line names, and what belongs to it; the project around."""
        from opcheck.sandbox.limits import system_files

        for text in dict.fromkeys(text for word in self._arguments for text in _paths_in(word)):
            if text and os.path.lexists(text):
                yield from _with_neighbours(Path(text))
        folder = Path.cwd()
        yield from system_files.project(folder)
        for parent in (folder, *folder.parents):  # where a project's settings are looked for
            yield parent / "pyproject.toml"


def _made(base: str) -> str:
    """A new folder for temporary files, where everything in this process makes them from now on.

    By hand: ``tempfile`` takes longer to import than a saved graph to be read.
    """
    folder = os.path.join(base, f"opcheck-{os.getpid()}-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    os.environ["TMPDIR"] = folder
    if "tempfile" in sys.modules:
        import tempfile

        tempfile.tempdir = folder
    return folder


def _paths_in(word: str) -> Iterator[str]:
    """What a word may name: ``FILE``, ``--option=FILE``, ``FILE:name`` and ``hf:FILE``."""
    for text in (word, word.partition("=")[2]):
        yield from (text, text.rpartition(":")[0], text.partition(":")[2])
        yield text.partition(":")[2].rpartition(":")[0]


def _with_neighbours(path: Path) -> Iterator[Path]:
    if path.is_dir() and not path.parent.samefile(path) and path.resolve() in Path.home().parents:
        return  # what the home is in is no model
    yield path
    from opcheck.sandbox.limits import system_files

    yield from system_files.configs_beside(path)
    if path.suffix == ".py":
        yield from system_files.project(path.parent)


_CURRENT: ContextVar[Command | None] = ContextVar("command", default=None)


@contextlib.contextmanager
def own_process(arguments: Sequence[str]) -> Iterator[None]:
    """Have this process be the command line's own, where it can be confined."""
    if sys.platform != "linux":
        yield
        return
    command = Command(arguments)
    token = _CURRENT.set(command)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        command.end()


def current() -> Command:
    """The command that this process runs; one that is never confined, where it is no command."""
    return _CURRENT.get() or Command(())
