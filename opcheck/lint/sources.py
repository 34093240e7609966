"""The sources below a path, and a C++ or CUDA source as its code alone."""

import errno
import functools
import io
import os
import re
import stat
import tokenize
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from opcheck.errors import SourceError, UsageError
from opcheck.files import open_regular, read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.model.porting import SkippedFile, Span

SUFFIXES = frozenset({".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp"})
CUDA_SUFFIXES = frozenset({".cu", ".cuh"})

_TOKEN = re.compile(
    r"""
    //(?:\\\r?\n|[^\n])*                        # a comment to the end of its line
    | /\*.*?(?:\*/|\Z)                          # a comment over lines
    | R"(?P<mark>[^()\\\s"]{0,16})\(.*?(?:\)(?P=mark)"|\Z)   # a raw string
    | "(?:\\(?:.|\Z)|[^"\\\n])*+"?             # a string
    | (?<![0-9A-Fa-f])'(?:\\(?:.|\Z)|[^'\\\n])*+'?  # a character; not the mark in 1'000
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|import)[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


class KernelSource(Struct, frozen=True, dict=True):
    """One file that a C++ or CUDA compiler reads."""

    text: str
    suffix: str

    @property
    def is_cuda(self) -> bool:
        """Whether its name says that it is for CUDA's compiler."""
        return self.suffix in CUDA_SUFFIXES

    @functools.cached_property
    def code(self) -> str:
        """The text of the same length with blanks for comments and for what strings hold."""
        return _TOKEN.sub(_blank, self.text)

    @functools.cached_property
    def uncommented(self) -> str:
        """The text of the same length with blanks for comments alone."""
        return _TOKEN.sub(lambda m: _blank(m) if m[0].startswith("/") else m[0], self.text)

    def find(self, pattern: re.Pattern[str], strings: bool = False) -> Iterator[re.Match[str]]:
        """Where code matches; ``strings``: look into them as well."""
        return pattern.finditer(self.uncommented if strings else self.code)

    def includes(self) -> Iterator[re.Match[str]]:
        """Every header that is included; the first group is its name."""
        return _INCLUDE.finditer(self.uncommented)

    @functools.cached_property
    def _starts(self) -> tuple[int, ...]:
        return (0, *(m.end() for m in re.finditer(r"\r\n|\r|\n", self.text)))

    def span_of(self, start: int, end: int) -> Span:
        """Offsets as lines and columns."""
        return Span(*self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        import bisect

        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def _blank(match: re.Match[str]) -> str:
    """Blanks of the same length; lines stay where they are, and quotes around strings."""
    text = match[0]
    kept = re.sub(r"[^\r\n]", " ", text)
    if text.startswith("/") or len(text) < len('""'):
        return kept
    return f"{text[0]}{kept[1:-1]}{text[-1]}"


PYTHON = ".py"
LARGEST = 4 * 2**20
"""Bytes; longer sources are data that a program wrote."""
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", "__pypackages__",
     ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".eggs", ".ipynb_checkpoints"}
)  # fmt: skip
_ENVIRONMENT = "pyvenv.cfg"
"""What a virtual environment has, whatever it is called."""


class TextFile(Struct, frozen=True):
    """One source as it was read."""

    shown: str
    """As reports name it."""
    path: Path
    text: str

    @property
    def suffix(self) -> str:
        """What its name ends with; that of Python for a script that says it is one."""
        found = self.path.suffix.lower()
        return found if found in SUFFIXES else PYTHON


def find(path: Path) -> tuple[Path, ...]:
    """The sources at a path or below it, sorted.

    Raises:
        UsageError: there is nothing at the path, or it is no source.
        SourceError: the folder has no source.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            Sentence("cannot read {text}: {text_why}", text=repr(str(path)), text_why=reason),
            Sentence("give a file or a folder"),
        ) from error
    if stat.S_ISDIR(mode):
        found = tuple(sorted(_below(path)))
        if not found:
            raise SourceError(
                Sentence("no source to read in {text}", text=path),
                Sentence("lint reads {text} files", text=_kinds()),
            )
        return found
    if not stat.S_ISREG(mode) or not (_is_source(path) or _is_script(path)):
        raise UsageError(
            Sentence("{file} is no source that lint reads", file=path),
            Sentence("it reads {text} files", text=_kinds()),
        )
    return (path,)


def read(path: Path) -> TextFile | SkippedFile:
    """A source as its compiler would read it; why not, where that cannot be."""
    shown = _shown(path)
    try:
        content = read_bytes(path, LARGEST)
    except OSError as error:
        if error.errno == errno.EFBIG:
            return SkippedFile(shown, str(error.strerror))
        return SkippedFile(
            shown, Sentence("it cannot be read: {text}", text=error.strerror or error)
        )
    if b"\0" in content:
        return SkippedFile(shown, "it is binary")
    if path.suffix.lower() in SUFFIXES:
        return TextFile(shown, path, content.decode("utf-8", "replace"))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return TextFile(shown, path, content.decode(encoding))
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return SkippedFile(shown, Sentence("it is no text that Python reads: {text}", text=error))


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [f for f in folders if not _is_skipped(here / f)]
        yield from (p for name in names if _is_source(p := here / name) and p.is_file())


def _is_skipped(folder: Path) -> bool:
    return folder.name in _SKIPPED or (folder / _ENVIRONMENT).is_file()


def _is_source(path: Path) -> bool:
    return path.suffix.lower() in {PYTHON, *SUFFIXES}


def _is_script(path: Path) -> bool:
    """Whether a file without a suffix says that Python runs it."""
    try:
        with open_regular(path, LARGEST) as file:
            first = file.readline(200)
    except OSError:
        return False
    return not path.suffix and first.startswith(b"#!") and b"python" in first


def _kinds() -> str:
    return ", ".join([PYTHON, *sorted(SUFFIXES)])


def _shown(path: Path) -> str:
    """A path relative to the working directory where it is in it."""
    full = Path(os.path.abspath(path))
    here = Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else path.as_posix()
