"""One database file: read, checked against its shape, and kept in the index of compiled files."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from opcheck.db import index, quick
from opcheck.db.shape import Record, Shape, ShapeError
from opcheck.errors import DatabaseError

_HINT = "restore the file from the release, or run the importer again"


@dataclass(frozen=True, slots=True)
class Document:
    """The checked content of one file."""

    path: Path
    data: dict[str, Any]
    digest: str
    """sha256 of the file's bytes, in hex."""
    origin: str = ""
    """The overlay that it belongs to, as people are told of it; "" for the database itself."""


def read(path: Path, shape: Shape, cache: Path | None = None, hint: str = _HINT) -> Document:
    """Read a file whose content must have ``shape``; ``cache`` is the folder of the index.

    Damage is told with file, line and what was expected.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise DatabaseError(f"cannot read {path}: {error.strerror}", hint) from error
    digest = sha256(text).hexdigest()
    data = index.load(cache, path.name, digest)
    if data is not None and _of_kind(data, shape):
        return Document(path, data, digest)
    data = _parse(path, text, hint)
    try:
        shape.check(data, ())
    except ShapeError as error:
        where = f"{path}:{_line(text, error.path)}"
        trail = " > ".join(map(str, error.path)) or "top of the file"
        raise DatabaseError(f"{where}: {error.expected} (at {trail})", hint) from error
    index.save(cache, path.name, digest, data)
    return Document(path, data, digest)


def line_of(path: Path, where: tuple[str | int, ...]) -> int:
    """1-based line of the value at ``where`` in a file."""
    return _line(path.read_bytes(), where)


def repeated_keys(text: bytes) -> Iterator[tuple[int, str]]:
    """1-based line and name of each key that its mapping had before."""
    import yaml

    pending = [yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.SequenceNode):
            pending += node.value
        elif isinstance(node, yaml.MappingNode):
            seen = set()
            for key, value in node.value:
                if key.value in seen:
                    yield key.start_mark.line + 1, key.value
                seen.add(key.value)
                pending.append(value)


def _of_kind(data: Any, shape: Shape) -> bool:
    """Whether what the index holds was checked as this kind of file."""
    if not isinstance(shape, Record):
        return False
    try:
        shape.required["schema"].check(data["schema"], ())
    except (ShapeError, KeyError, TypeError):
        return False
    return True


def _parse(path: Path, text: bytes, hint: str) -> Any:
    with contextlib.suppress(quick.OtherStyleError, UnicodeDecodeError):
        return quick.read(text.decode())

    import yaml  # slow to load, and to read

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        message = f"{path}:{line}: expected valid YAML, but {error.problem or error.context}"
        raise DatabaseError(message, hint) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DatabaseError(f"{path}:1: expected UTF-8 YAML, but {error}", hint) from error


def _line(text: bytes, path: tuple[str | int, ...]) -> int:
    """1-based line of the value at ``path``, or of the last step towards it that exists."""
    import yaml

    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):  # the quick reader takes more, the slow one less deep
        return 1
    line = 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next(((k, v) for k, v in node.value if k.value == str(step)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            found = (node.value[step], node.value[step])
        else:
            found = None
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line
