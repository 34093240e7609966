"""What the checks see in one source, and what is said of that on a target."""

import functools
from collections.abc import Iterable, Sequence

from msgspec import Struct

import opcheck.lint.checks
from opcheck.lint import silenced
from opcheck.lint.base import Check, Ground, Judgement, Sighting, unreached
from opcheck.lint.files import PYTHON, TextFile
from opcheck.lint.kernel_source import KernelSource
from opcheck.lint.python_source import PythonSource, UnreadableError
from opcheck.model.lint import LintFinding, SkippedFile
from opcheck.registry import discover

Seen = tuple[Check, Sighting]


class Looked(Struct, frozen=True):
    """One source with everything that a check has something to say about."""

    file: TextFile
    seen: tuple[Seen, ...]
    ignored: int = 0
    """Sightings that a comment silences."""


class Judged(Struct, frozen=True):
    """One sighting held against a target."""

    finding: LintFinding
    sighting: Sighting
    judgement: Judgement


@functools.cache
def checks() -> tuple[Check, ...]:
    """Every check, by name."""
    found = discover(opcheck.lint.checks, Check)  # type: ignore[type-abstract]  # subclasses come
    return tuple(kind() for kind in found)


def look(file: TextFile, watched: frozenset[str], packages: frozenset[str]) -> Looked | SkippedFile:
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
            quiet = silenced.in_python(file.text)
        else:
            kernels = KernelSource(file.text, file.suffix)
            found = [(check, s) for check in checks() for s in check.in_kernels(kernels)]
            quiet = silenced.in_kernels(file.text)
    except UnreadableError as error:
        return SkippedFile(file.shown, f"it is not Python as this Python reads it: {error}")
    except RecursionError:
        return SkippedFile(file.shown, "it nests too deeply")
    kept = [pair for pair in found if not _is_silenced(pair, quiet)]
    kept.sort(key=lambda pair: (pair[1].span, pair[0].name, pair[1].written))
    return Looked(file, tuple(kept), len(found) - len(kept))


def _is_silenced(pair: Seen, quiet: silenced.Silenced) -> bool:
    check, sighting = pair
    span = sighting.span
    return silenced.is_silenced(quiet, check.name, span.line, span.end_line)


def judge(looked: Looked, ground: Ground) -> tuple[Judged, ...]:
    """Hold what was seen in a source against a target, in the order of the source."""
    return tuple(_judged(looked.file, looked.seen, ground))


def _judged(file: TextFile, seen: Sequence[Seen], ground: Ground) -> Iterable[Judged]:
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
        yield Judged(finding, sighting, found)
