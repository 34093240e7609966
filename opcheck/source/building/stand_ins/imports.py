"""Packages that a model imports and cannot do without, and that not every platform has.

Where Triton is not installed, an import of it meets what stands in for it, which notes the place.
Where it is, the file that the user names is read: others may be imported under a ``try``.
"""

import ast
import linecache
from collections.abc import Iterator
from pathlib import Path

from opcheck.source.building.stand_ins.finder import TRITON, StandIns, guarded

Import = tuple[str, str, int]
"""Package, file and line."""


def needed(path: Path | None, stand_ins: StandIns | None) -> tuple[Import, ...]:
    """The imports of Triton that a model does not load without, of the file at ``path`` first."""
    found = [*in_file(str(path))] if path is not None and path.suffix == ".py" else []
    if not found and stand_ins is not None:
        found = [(package, *place) for package, place in stand_ins.asked.items()]
    return tuple(found[:1])


def in_file(file: str) -> Iterator[Import]:
    """The imports at the level of a file's module after whose failure it does not go on."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return
    kept = guarded(file)
    for node in tree.body:
        if _is_of_triton(node) and not any(a <= node.lineno <= b for a, b in kept):
            yield TRITON, file, node.lineno


def _is_of_triton(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = [node.module or ""]
    else:
        return False
    return any(name.partition(".")[0] == TRITON for name in names)
