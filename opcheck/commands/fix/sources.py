"""The user's own source files: found by the places of a report, read, and written together."""

import difflib
import io
import os
import re
import shutil
import sysconfig
import tempfile
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.source.user_code import is_users

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class SourceFile(Struct, frozen=True):
    """One file of the user's, as it was read."""

    shown: str
    """As reports name it."""
    path: Path
    """Absolute, links followed."""
    content: bytes
    text: str
    encoding: str

    @classmethod
    def read(cls, shown: str, path: Path) -> "SourceFile | str":
        """Read a file as Python does; why that cannot be, where it cannot."""
        try:
            content = read_bytes(path, MOST_SOURCE_BYTES)
            encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
            return cls(shown, path, content, content.decode(encoding), encoding)
        except OSError as error:
            return f"{shown} cannot be read: {error.strerror or error}"
        except (SyntaxError, UnicodeDecodeError) as error:
            return f"{shown} is no text that Python reads: {error}"

    def encoded(self, text: str) -> bytes:
        """Another text in the same encoding."""
        return text.encode(self.encoding)


def find(shown: str, roots: Sequence[Path]) -> Path | str:
    """The file of the user's that reports name so; why there is none, where there is none."""
    if not shown:
        return "no line of yours is known for it; use --shim"
    for root in roots:
        path = (root / shown).resolve()
        if os.path.isfile(path):
            if is_users(str(path)):
                return path
            break
    if any(os.path.isfile(library / shown) for library in _libraries()):
        return f"{shown} is of an installed library, which stays as it is; use --shim"
    return f"{shown} is not found from here; run it from the folder that holds the file"


def roots_of(source: str) -> tuple[Path, ...]:
    """Folders that places of a model in ``source`` are told from: the working directory first."""
    root = Path(source.rpartition(".py")[0] + ".py").resolve().parent
    while (root / "__init__.py").exists():
        root = root.parent
    further = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return (Path.cwd(), root, *map(Path, further))


def _libraries() -> Iterator[Path]:
    yield from (Path(sysconfig.get_path(name)) for name in ("purelib", "platlib"))


def unified(file: SourceFile, text: str) -> str:
    """A unified diff as ``git apply`` and ``patch`` read it."""
    old, new = _LINE.findall(file.text), _LINE.findall(text)
    name = file.shown
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def require_writable(files: Sequence[SourceFile]) -> None:
    """Refuse files that could not be replaced, before any work is done for them.

    Raises:
        UsageError: one of them, or its folder, may not be written to.
    """
    for file in files:
        if not (os.access(file.path, os.W_OK) and os.access(file.path.parent, os.W_OK)):
            hint = "nothing was written; without --write the diff is printed"
            raise UsageError(f"cannot write {file.shown}: permission denied", hint)


def write_all(files: Mapping[SourceFile, str]) -> None:
    """Give every file its new text, or none of them, whatever comes between.

    Raises:
        UsageError: a file is not any more what was read, or cannot be written.
    """
    with _drafts(files) as drafts:
        undo: list[tuple[Path, Path]] = []
        try:
            for file, draft in drafts:
                old = draft.with_suffix(".old")
                _require_unchanged(file)
                undo.append((old, file.path))
                _second_name(file.path, old)
                draft.replace(file.path)
        except BaseException as error:
            for old, path in reversed(undo):
                if old.exists():
                    old.replace(path)  # nothing where both are names of one file
            if isinstance(error, OSError):
                what = f"cannot write {file.shown}: {error.strerror or error}"
                raise UsageError(what, "nothing was written") from error
            raise
        finally:
            for old, _ in undo:
                old.unlink(missing_ok=True)


def _require_unchanged(file: SourceFile) -> None:
    try:
        content = read_bytes(file.path, MOST_SOURCE_BYTES)
    except OSError:
        content = None
    if content != file.content:
        message = f"{file.shown} has changed while it was worked on, so nothing was written"
        raise UsageError(message, "run it again")


def _second_name(path: Path, name: Path) -> None:
    """Keep what a file is under another name: it takes no room, and is put back by renaming."""
    try:
        os.link(path, name)
    except OSError:  # a file system without links
        shutil.copy2(path, name)


@contextmanager
def _drafts(
    files: Mapping[SourceFile, str],
) -> Iterator[list[tuple[SourceFile, Path]]]:
    """The new texts in files beside the old ones, with the permissions of those."""
    drafts: list[tuple[SourceFile, Path]] = []
    try:
        for file, text in files.items():
            try:
                handle, name = tempfile.mkstemp(".py", ".opcheck-", file.path.parent)
                drafts.append((file, Path(name)))
                with os.fdopen(handle, "wb") as draft:
                    draft.write(file.encoded(text))
                Path(name).chmod(file.path.stat().st_mode & 0o7777)
            except OSError as error:
                what = f"cannot write {file.shown}: {error.strerror or error}"
                raise UsageError(what, "nothing was written") from error
        yield drafts
    finally:
        for _, path in drafts:
            path.unlink(missing_ok=True)
