"""Files of a fix: where it may be written, folders, and the user's sources; whole or not at all."""

import difflib
import io
import os
import re
import shutil
import sysconfig
import tempfile
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct

from opcheck.commands.fix.values import FixRequest
from opcheck.errors import UsageError
from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.pipeline.writing import there
from opcheck.source.user_code import is_users


def require_output_path(request: FixRequest) -> None:
    """Refuse a path that cannot be written to, before any work is done.

    Raises:
        UsageError: it is there already, it is the model, its folder is not there, or neither may be
            written to.
    """
    if not request.path:
        return
    path = Path(request.path)
    if (path.exists() or path.is_symlink()) and not request.write:
        raise there(path)
    if path.is_dir():
        raise UsageError(
            Sentence("cannot write {text}: it is a folder", text=path),
            Sentence("give the path of a file"),
        )
    final = path.resolve()
    if not final.parent.is_dir():
        raise UsageError(
            Sentence(
                "cannot write {text_file}: there is no folder {text}",
                text_file=path,
                text=final.parent,
            ),
            Sentence("make it first"),
        )
    if not all(os.access(place, os.W_OK) for place in (final, final.parent) if place.exists()):
        raise UsageError(
            Sentence("cannot write {text}: permission denied", text=path),
            Sentence("give another place"),
        )
    if _is_model(path, request.scan.model.source):
        raise UsageError(
            Sentence("cannot write {text}: it is the model itself", text=path),
            Sentence("give another name"),
        )


def _is_model(path: Path, source: str) -> bool:
    """Whether a file is the one that the model is loaded from."""
    file = Path(source.rpartition(".py")[0] + ".py" if ".py" in source else source)
    return path.exists() and file.exists() and path.samefile(file)


_HINT = Sentence("give another folder with --into")


def require_folder(folder: Path, *, write: bool) -> None:
    """Refuse a folder that cannot be written to, before any work is done.

    Raises:
        UsageError: it is there already, or its own folder is not, or may not be written to.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(Sentence("cannot write {text}: it is no folder", text=folder), _HINT)
    if folder.exists() and not write:
        message = Sentence("{text} is there already", text=folder)
        raise UsageError(
            message, Sentence("give another folder with --into, or --write to write into it")
        )
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise UsageError(
            Sentence(
                "cannot write {text_file}: there is no folder {text}", text_file=folder, text=parent
            ),
            Sentence("make it first"),
        )
    if not os.access(folder if folder.exists() else parent, os.W_OK | os.X_OK):
        raise UsageError(Sentence("cannot write {text}: permission denied", text=folder), _HINT)


def write_folder(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Write files into a folder, by path in it: a new one, or beside others that are there.

    Where one cannot be written, those that were there are as they were, and no new one is left.

    Raises:
        UsageError: one cannot be written.
    """
    place = folder if folder.exists() else folder.absolute().parent
    try:
        draft = Path(tempfile.mkdtemp(prefix=".opcheck-", dir=place))
    except OSError as error:
        raise UsageError(
            Sentence(
                "cannot write {text}: {text_why}", text=folder, text_why=error.strerror or error
            ),
            _HINT,
        ) from error
    try:
        _write(draft / "new", files)
        if folder.exists():
            _merge(draft, folder, files)
        else:
            (draft / "new").replace(folder)
    except OSError as error:
        raise UsageError(
            Sentence(
                "cannot write {text}: {text_why}", text=folder, text_why=error.strerror or error
            ),
            _HINT,
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return tuple(str(folder / path) for path in sorted(files))


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir()
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        if text.startswith("#!"):
            file.chmod(file.stat().st_mode | (file.stat().st_mode & 0o444) >> 2)


def _merge(draft: Path, folder: Path, files: Mapping[str, str]) -> None:
    """Put each file in its place; what was there waits in the draft until all are."""
    undo: list[Callable[[], object]] = []
    try:
        for path in files:
            place, old = folder / path, draft / "old" / path
            undo += [parent.rmdir for parent in _parents(place.parent, folder)]
            old.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                place.replace(old)
                undo.append(partial(old.replace, place))
            (draft / "new" / path).replace(place)
            undo.append(place.unlink)
    except BaseException:
        for step in reversed(undo):
            step()
        raise


def _parents(wanted: Path, folder: Path) -> list[Path]:
    """Make the folders between, and say which were not there."""
    missing = [p for p in (wanted, *wanted.parents) if folder in p.parents and not p.exists()]
    for parent in reversed(missing):
        parent.mkdir()
    return list(reversed(missing))


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
    is_new: bool = False
    """Whether it is to be made."""

    @classmethod
    def read(cls, shown: str, path: Path) -> "SourceFile | str":
        """Read a file as Python does; why that cannot be, where it cannot."""
        try:
            content = read_bytes(path, MOST_SOURCE_BYTES)
            encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
            return cls(shown, path, content, content.decode(encoding), encoding)
        except OSError as error:
            return Sentence(
                "{text} cannot be read: {text_why}", text=shown, text_why=error.strerror or error
            )
        except (SyntaxError, UnicodeDecodeError) as error:
            return Sentence(
                "{text} is no text that Python reads: {text_why}", text=shown, text_why=error
            )

    def encoded(self, text: str) -> bytes:
        """Another text in the same encoding."""
        return text.encode(self.encoding)


def find(shown: str, roots: Sequence[Path]) -> Path | str:
    """The file of the user's that reports name so; why there is none, where there is none."""
    if not shown:
        return Sentence("no line of yours is known for it; use --shim")
    for root in roots:
        path = (root / shown).resolve()
        if os.path.isfile(path):
            if is_users(str(path)):
                return path
            break
    if any(os.path.isfile(library / shown) for library in _libraries()):
        return Sentence(
            "{text} is of an installed library, which stays as it is; use --patch or --shim",
            text=shown,
        )
    return Sentence(
        "{text} is not found from here; run it from the folder that holds the file", text=shown
    )


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
    before = "/dev/null" if file.is_new else f"a/{name}"
    lines = difflib.unified_diff(old, new, before, f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def require_writable(files: Sequence[SourceFile]) -> None:
    """Refuse files that could not be replaced, before any work is done for them.

    Raises:
        UsageError: one of them, or its folder, may not be written to.
    """
    for file in files:
        places = [file.path.parent] if file.is_new else [file.path, file.path.parent]
        if not all(os.access(place, os.W_OK) for place in places):
            hint = Sentence("nothing was written; without --write the diff is printed")
            raise UsageError(
                Sentence("cannot write {text}: permission denied", text=file.shown), hint
            )


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
                if not file.is_new:
                    _second_name(file.path, old)
                draft.replace(file.path)
        except BaseException as error:
            made = {file.path for file, draft in drafts if file.is_new and not draft.exists()}
            for old, path in reversed(undo):
                if old.exists():
                    old.replace(path)  # nothing where both are names of one file
                elif path in made:
                    path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                what = Sentence(
                    "cannot write {text}: {text_why}",
                    text=file.shown,
                    text_why=error.strerror or error,
                )
                raise UsageError(what, Sentence("nothing was written")) from error
            raise
        finally:
            for old, _ in undo:
                old.unlink(missing_ok=True)


def _require_unchanged(file: SourceFile) -> None:
    content: bytes | None = None
    try:
        content = read_bytes(file.path, MOST_SOURCE_BYTES)
    except OSError:
        content = b"" if file.is_new and not file.path.exists() else None
    if content != file.content:
        message = Sentence(
            "{text} has changed while it was worked on, so nothing was written", text=file.shown
        )
        raise UsageError(message, Sentence("run it again"))


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
                like = file.path.parent if file.is_new else file.path
                mode = like.stat().st_mode & (0o666 if file.is_new else 0o7777)
                Path(name).chmod(mode)
            except OSError as error:
                what = Sentence(
                    "cannot write {text}: {text_why}",
                    text=file.shown,
                    text_why=error.strerror or error,
                )
                raise UsageError(what, Sentence("nothing was written")) from error
        yield drafts
    finally:
        for _, path in drafts:
            path.unlink(missing_ok=True)
