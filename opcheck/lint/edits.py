"""What is plain, replaced in a source, with everything else as it was."""

import ast
from collections.abc import Iterable, Sequence

from opcheck.lint.reading import Judged


def edited(text: str, judged: Sequence[Judged], package: str) -> str:
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


def _replaced(text: str, judged: Iterable[Judged]) -> list[tuple[int, int, str]]:
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
