"""Comments that silence findings on their line: ``# opcheck: ignore[cuda-call]``."""

import io
import re
import tokenize
from collections.abc import Iterator, Mapping

_COMMENT = re.compile(r"opcheck:\s*ignore(?:\[(?P<codes>[^\]\n]*)\])?")
_LINE = re.compile(r"\r\n|\r|\n")

ALL = frozenset({"*"})
"""Stands for every code."""

Silenced = Mapping[int, frozenset[str]]
"""Line -> the codes that are silenced there."""


def in_python(text: str) -> Silenced:
    """What the comments of a Python source silence."""
    if _COMMENT.search(text) is None:
        return {}
    return {line: _codes(found) for line, comment in _comments(text) if (found := _match(comment))}


def in_kernels(text: str) -> Silenced:
    """What the comments of a C++ source silence."""
    found = ((n, line, _COMMENT.search(line)) for n, line in enumerate(_LINE.split(text), 1))
    return {n: _codes(match) for n, line, match in found if match and _is_comment(line, match)}


def is_silenced(silenced: Silenced, code: str, first: int, last: int) -> bool:
    """Whether a finding on some lines is silenced."""
    return any(
        codes == ALL or code in codes for line, codes in silenced.items() if first <= line <= last
    )


def _is_comment(line: str, found: re.Match[str]) -> bool:
    before = line[: found.start()]
    return "//" in before or "/*" in before


def _match(comment: str) -> re.Match[str] | None:
    return _COMMENT.search(comment)


def _codes(found: re.Match[str]) -> frozenset[str]:
    if found["codes"] is None:
        return ALL
    return frozenset(code.strip() for code in found["codes"].split(","))


def _comments(text: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):  # of no source that was taken apart before
        return
