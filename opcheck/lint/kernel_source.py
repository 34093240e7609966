"""A C++ or CUDA source as its code alone: comments and the insides of strings left out."""

import functools
import re
from collections.abc import Iterator

from msgspec import Struct

from opcheck.model.lint import Span

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
