"""One database file: read, checked against its shape, and kept in the index of compiled files."""

import contextlib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db import bounds, index, quick
from opcheck.db.bounds import BoundsError
from opcheck.db.shape import Path as Where
from opcheck.db.shape import Record, Shape, ShapeError
from opcheck.errors import DatabaseError

_HINT = "restore the file from the release, or run the importer again"


class Document(Struct, frozen=True):
    """The checked content of one file."""

    path: Path
    data: dict[str, Any]
    digest: str
    """sha256 of the file's bytes, in hex."""
    origin: str = ""
    """The overlay that it belongs to, as people are told of it; "" for the database itself."""


def read(path: Path, shape: Shape, cache: Path | None = None, hint: str = _HINT) -> Document:
    """Read a file whose content must have ``shape``; ``cache`` is the folder of the index.

    Whoever wrote it, it is held to the same bounds. Damage is told with file, line and what was
    expected.

    Raises:
        DatabaseError: it cannot be read, is beyond a bound, or is not of that shape.
    """
    text = content(path, hint)
    digest = sha256(text).hexdigest()
    data = index.load(cache, path.name, digest)
    if data is not None and _of_kind(data, shape):
        return Document(path, data, digest)
    data = _parse(path, text, hint)
    try:
        shape.check(data, ())
    except ShapeError as error:
        where = f"{path}:{_line(_composed(text), error.path)}"
        trail = " > ".join(map(str, error.path)) or "top of the file"
        raise DatabaseError(f"{where}: {error.expected} (at {trail})", hint) from error
    index.save(cache, path.name, digest, data)
    return Document(path, data, digest)


def content(path: Path, hint: str = _HINT) -> bytes:
    """The bytes of a file, which may have only so many.

    Raises:
        DatabaseError: it has more, or cannot be read.
    """
    try:
        return bounds.content(path)
    except BoundsError as error:
        raise DatabaseError(f"{path}: {error.expected}", hint) from error
    except OSError as error:
        raise DatabaseError(f"cannot read {path}: {error.strerror or error}", hint) from error


def line_of(path: Path, where: Where) -> int:
    """1-based line of the value at ``where`` in a file."""
    return lines_of(path, [where])[0]


def lines_of(path: Path, places: Sequence[Where]) -> list[int]:
    """1-based line of the value at each place of a file."""
    root = _composed(content(path)) if places else None
    return [_line(root, where) for where in places]


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
        return quick.read(text.decode(), distinct=True)

    import yaml  # slow to load, and to read

    try:
        bounds.require_within(text)
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except BoundsError as error:
        raise DatabaseError(f"{path}:{error.line}: {error.expected}", hint) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        message = f"{path}:{line}: expected valid YAML, but {error.problem or error.context}"
        raise DatabaseError(message, hint) from error
    except (
        yaml.YAMLError,
        ValueError,
        ArithmeticError,
    ) as error:  # numbers and dates that are none
        raise DatabaseError(f"{path}:1: expected UTF-8 YAML, but {error}", hint) from error


def _composed(text: bytes) -> Any:
    """The nodes of a file, which know their lines; None where only the quick reader takes it."""
    import yaml

    try:
        bounds.require_within(text)
        return yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, BoundsError):
        return None


def _line(node: Any, where: Where) -> int:
    """1-based line of the value at ``where``, or of the last step towards it that exists."""
    import yaml

    line = 1
    for step in where:
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
