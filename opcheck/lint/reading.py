"""What the checks see in one source, what is silenced in it, and plain replacements in it."""

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

import opcheck.lint.checks
from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.lint.base import Check, Ground, Judgement, Sighting, unreached
from opcheck.lint.python_source import PythonSource, UnreadableError
from opcheck.lint.sources import PYTHON, KernelSource, TextFile
from opcheck.model.porting import LintFinding, SkippedFile
from opcheck.registry import discover

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


Seen = tuple[Check, Sighting]


class ReadSource(Struct, frozen=True):
    """One source with everything that a check has something to say about."""

    file: TextFile
    seen: tuple[Seen, ...]
    ignored: int = 0
    """Sightings that a comment silences."""


class JudgedSource(Struct, frozen=True):
    """One sighting checked against a target."""

    finding: LintFinding
    sighting: Sighting
    judgement: Judgement


@functools.cache
def checks() -> tuple[Check, ...]:
    """Every check, by name."""
    found = discover(opcheck.lint.checks, Check)  # type: ignore[type-abstract]  # subclasses come
    return tuple(kind() for kind in found)


def look(
    file: TextFile, watched: frozenset[str], packages: frozenset[str]
) -> ReadSource | SkippedFile:
    """Let every check see a source.

    Args:
        file: The source.
        watched: Dotted names that somebody has given up.
        packages: Packages that are made for CUDA.
    """
    try:
        if file.suffix == PYTHON:
            python = PythonSource.parse(file.text, watched, packages)
            found = [(check, s) for check in checks() for s in check.in_python(python)]
            quiet = in_python(file.text)
        else:
            kernels = KernelSource(file.text, file.suffix)
            found = [(check, s) for check in checks() for s in check.in_kernels(kernels)]
            quiet = in_kernels(file.text)
    except UnreadableError as error:
        return SkippedFile(
            file.shown,
            Sentence("it is not Python as this Python reads it: {said}", said=sentence_of(error)),
        )
    except RecursionError:
        return SkippedFile(file.shown, "it nests too deeply")
    kept = [pair for pair in found if not _is_silenced(pair, quiet)]
    kept.sort(key=lambda pair: (pair[1].span, pair[0].name, pair[1].written))
    return ReadSource(file, tuple(kept), len(found) - len(kept))


def _is_silenced(pair: Seen, quiet: Silenced) -> bool:
    check, sighting = pair
    span = sighting.span
    return is_silenced(quiet, check.name, span.line, span.end_line)


def judge(looked: ReadSource, ground: Ground) -> tuple[JudgedSource, ...]:
    """Hold what was seen in a source against a target, in the order of the source."""
    return tuple(_judged(looked.file, looked.seen, ground))


def _judged(file: TextFile, seen: Sequence[Seen], ground: Ground) -> Iterable[JudgedSource]:
    for check, sighting in seen:
        found = check.judge(sighting, ground)
        if found is None:
            continue
        found = unreached(found, sighting.guard)
        finding = LintFinding(
            file=file.shown,
            span=sighting.span,
            code=check.name,
            written=sighting.written,
            verdict=found.verdict,
            text=found.text,
            replacement=found.replacement,
            confidence=found.confidence,
            caution=found.caution,
            fixable=found.edit is not None and sighting.spot is not None,
            evidence=found.evidence,
        )
        yield JudgedSource(finding, sighting, found)


def edited(text: str, judged: Sequence[JudgedSource], package: str) -> str:
    """A Python source with its plain findings replaced; the same text where there are none.

    Args:
        text: The source.
        judged: What was said of it on one target.
        package: What has to be imported beside torch; "" for nothing.
    """
    pieces: list[str] = []
    last = 0
    for start, end, new in _replaced(text, judged):
        pieces += [text[last:start], new]
        last = end
    found = "".join([*pieces, text[last:]])
    if found == text:
        return text
    return _importing(found, package) if package else found


def _replaced(text: str, judged: Iterable[JudgedSource]) -> list[tuple[int, int, str]]:
    """What to put where, in order; of two that overlap the first."""
    kept: list[tuple[int, int, str]] = []
    wanted = sorted(
        (each.sighting.spot.start, each.sighting.spot.end, each.judgement.edit)
        for each in judged
        if each.sighting.spot is not None
        and each.judgement.edit is not None
        and text[each.sighting.spot.start : each.sighting.spot.end] == each.sighting.spot.written
    )
    for start, end, new in wanted:
        if not kept or start >= kept[-1][1]:
            kept.append((start, end, new))
    return kept


def _importing(text: str, package: str) -> str:
    """The source with an import of a package behind its first one of torch."""
    tree = ast.parse(text)
    if any(package == name for node in ast.walk(tree) for name in _imported(node)):
        return text
    first = next((node for node in tree.body if "torch" in _imported(node)), None)
    if first is None or not _plain_ends(text):
        return text
    last = max(node.end_lineno or node.lineno for node in tree.body if _shares(node, first))
    lines = text.splitlines(keepends=True)
    end = "\r\n" if lines[last - 1].endswith("\r\n") else "\n"
    if not lines[last - 1].endswith("\n"):
        lines[last - 1] += end
    return "".join([*lines[:last], f"import {package}{end}", *lines[last:]])


def _shares(node: ast.stmt, first: ast.stmt) -> bool:
    """Whether a statement begins on the line that another ends on, or is that one."""
    return node is first or node.lineno == (first.end_lineno or first.lineno)


def _plain_ends(text: str) -> bool:
    """Whether lines end as Python counts them: form feeds and the like end none."""
    return not any(mark in text for mark in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029") and (
        "\r" not in text.replace("\r\n", "")
    )


def _imported(node: ast.AST) -> list[str]:
    """The packages that a statement imports."""
    match node:
        case ast.Import(names=names):
            return [alias.name.partition(".")[0] for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module.partition(".")[0]]
        case _:
            return []
