"""The checks in C++ sources: where they stand, and what they say."""

import re
from collections.abc import Iterator

from msgspec import Struct

_MACRO = re.compile(
    r"\b(TORCH_CHECK(?:_[A-Z_]+)?|AT_ERROR|AT_DISPATCH_[A-Z0-9_]+|XLA_CHECK(?:_[A-Z]+)?"
    r"|MUSA_TENSOR_TYPE_CHECK)\s*\("
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_LITERALS = re.compile(rf"{_LITERAL.pattern}(?:\s*{_LITERAL.pattern})*")
_FUNCTION = re.compile(
    r"^(?!namespace\b|static_assert\b)[A-Za-z_][^\n;{}()]*?\b(\w+)\(", re.MULTILINE
)
"""The head of a function that stands at the beginning of a line."""
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'')


class Check(Struct, frozen=True):
    """One place where a kernel may refuse a call."""

    macro: str
    first: int
    """Line, 1-based."""
    last: int
    function: str
    """The name of the function that it stands in; empty where none was seen."""
    texts: tuple[str, ...]
    """What it says, as the source writes it between quotes; lines that follow each other joined."""


def checks(source: str) -> Iterator[Check]:
    """Every check of a C++ source; one whose brackets do not close is left out."""
    plain = _COMMENT.sub(_blank, source)
    masked = _QUOTED.sub(lambda match: match[0][0] + "_" * (len(match[0]) - 2) + match[0][0], plain)
    heads = [(match.start(), match[1]) for match in _FUNCTION.finditer(masked)]
    for match in _MACRO.finditer(masked):
        if masked.rfind("#define", masked.rfind("\n", 0, match.start()) + 1, match.start()) >= 0:
            continue
        end = _closing(masked, match.end())
        if end is None:
            continue
        inside = plain[match.end() : end]
        yield Check(
            match[1],
            plain.count("\n", 0, match.start()) + 1,
            plain.count("\n", 0, end) + 1,
            next((name for at, name in reversed(heads) if at < match.start()), ""),
            tuple(_texts(inside)),
        )


def _texts(inside: str) -> Iterator[str]:
    """The literals, those with nothing between them as one."""
    for match in _LITERALS.finditer(inside):
        text = "".join(literal[1] for literal in _LITERAL.finditer(match[0]))
        yield text.replace('\\"', '"').replace("\\n", "\n").replace("\\'", "'")


def _closing(text: str, start: int) -> int | None:
    depth = 1
    for match in re.compile(r"[()]").finditer(text, start):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.start()
    return None


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
