"""Files that are written whole or not at all, and never over another one unasked."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from opcheck.errors import UsageError
from opcheck.model.fix import FixRequest


def require_writable(request: FixRequest) -> None:
    """Refuse a path that cannot be written to, before any work is done.

    Raises:
        UsageError: it is there already, its folder is not, or neither may be written to.
    """
    if not request.path:
        return
    path = Path(request.path)
    if path.exists() and not request.write:
        raise UsageError(f"{path} is there already", "give another name, or --write to replace it")
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", "give the path of a file")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}", "make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"cannot write {path}: permission denied", "give another place")


@dataclass(slots=True)
class Draft:
    """A file beside the one that it may become."""

    path: Path
    _final: Path
    _kept: bool = field(default=False)

    def keep(self) -> None:
        """Put it where it belongs, with the permissions that a new file gets."""
        mask = os.umask(0)
        os.umask(mask)
        self.path.chmod(0o666 & ~mask)
        self.path.replace(self._final)
        self._kept = True


@contextmanager
def drafted(final: Path, text: str = "") -> Iterator[Draft]:
    """Write a draft beside ``final``; it is gone after the block unless it was kept.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(final.suffix or ".py", ".opcheck-", final.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {final}: {error.strerror or error}") from error
    draft = Draft(Path(name), final)
    try:
        yield draft
    finally:
        draft.path.unlink(missing_ok=True)
