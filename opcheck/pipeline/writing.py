"""Files that are written whole or not at all, and never over another one unasked."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence


def there(path: Path) -> UsageError:
    """That a file is not to be written over."""
    return UsageError(
        Sentence("{text} is there already", text=path),
        Sentence("give another name, or --write to replace it"),
    )


class Draft(Struct, frozen=True):
    """A file beside the one that it may become."""

    path: Path
    _final: Path
    _over: bool

    def keep(self) -> None:
        """Put it where it belongs, with the permissions of what was there, or of a new file.

        Raises:
            UsageError: it cannot be put there, or there is a file by now that was not there before.
        """
        try:
            self.path.chmod(_mode(self._final))
            if self._over:
                self.path.replace(self._final)
            else:
                _put(self.path, self._final)
        except FileExistsError as error:
            raise there(self._final) from error
        except OSError as error:
            raise UsageError(
                Sentence(
                    "cannot write {text}: {text_why}",
                    text=self._final,
                    text_why=error.strerror or error,
                )
            ) from error


def _mode(final: Path) -> int:
    if final.exists():
        return final.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _put(draft: Path, final: Path) -> None:
    """Give a file a name that no other has; never over another, whoever made that meanwhile."""
    try:
        os.link(draft, final)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        with final.open("xb") as file, draft.open("rb") as text:
            shutil.copyfileobj(text, file)


@contextmanager
def drafted(place: Path, text: str = "", *, over: bool = False) -> Iterator[Draft]:
    """Write a draft beside ``place``; it is gone after the block unless it was kept.

    A link stays one: what it names is written. ``over``: whether a file may be there.

    Raises:
        UsageError: it cannot be written.
    """
    final = place.resolve()
    try:
        handle, name = tempfile.mkstemp(final.suffix or ".py", ".opcheck-", final.parent)
    except OSError as error:
        raise UsageError(
            Sentence(
                "cannot write {text}: {text_why}", text=place, text_why=error.strerror or error
            )
        ) from error
    try:
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(
                Sentence(
                    "cannot write {text}: {text_why}", text=place, text_why=error.strerror or error
                )
            ) from error
        yield Draft(Path(name), final, over)
    finally:
        Path(name).unlink(missing_ok=True)
