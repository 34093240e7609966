"""One database file - read, and checked against its schema."""

import contextlib
import gc
import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.files import parts
from opcheck.db.files.content import BoundsError, bounded
from opcheck.db.files.index import load_compiled, save_compiled
from opcheck.db.files.noted import note, noted, status_of
from opcheck.db.schema.checks import Path as Where
from opcheck.db.schema.checks import Record, Shape, ShapeError
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

HINT = Sentence("restore the file from the release, or run the importer again")


class Document(Struct, frozen=True):
    """The checked content of one file."""

    place: str
    """Its path, as the system takes it: making a :class:`Path` of each of a thousand takes long."""
    data: dict[str, Any]
    """What is read with an index is decoded part by part, as it is asked for."""
    digest: str
    """sha256 of the file's bytes, in hex."""
    origin: str = ""
    """The overlay that it belongs to, as people are told of it; "" for the database itself."""

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.place)

    @property
    def name(self) -> str:
        """Its last part, as ``gelu.yaml``."""
        return os.path.basename(self.place)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Have the collector rest: half of the time it looks at what files hold, and nothing goes."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def read(path: Path, shape: Shape, cache: Path | None = None, hint: Sentence = HINT) -> Document:
    """Read a file whose content must have ``shape``; ``cache`` is the folder of the index.

    Whoever wrote it, it is held to the same bounds. Damage is told with file, line and what was
    expected.

    Raises:
        DatabaseError: it cannot be read, is beyond a bound, or is not of that shape.
    """
    status = None if cache is None else status_of(path)  # asked before it is read
    if cache is not None and status is not None and (found := noted(cache, path, status)):
        kept = _kept(found[1], shape)
        if kept is not None:
            return Document(os.fspath(path), kept, found[0])
    text = content(path, hint)
    digest = sha256(text).hexdigest()
    kept = _kept(load_compiled(cache, path.name, digest), shape)
    if kept is not None:
        if cache is not None:
            note(cache, path, status, digest)
        return Document(os.fspath(path), kept, digest)
    with uncollected():
        data = checked(path, text, shape, hint)
    if cache is not None and isinstance(shape, Record):
        with contextlib.suppress(ValueError):
            stored = parts.compiled(data, shape)
            save_compiled(cache, path.name, digest, stored)
            data = parts.decoded(stored, shape)
    return Document(os.fspath(path), data, digest)


def index(path: Path, shape: Record, cache: Path, hint: Sentence = HINT) -> None:
    """Have the index hold a file; one that it holds is not decoded.

    Raises:
        DatabaseError: it cannot be read, is beyond a bound, or is not of that shape.
    """
    status = status_of(path)
    if status is not None and noted(cache, path, status):
        return
    digest = sha256(content(path, hint)).hexdigest()
    if load_compiled(cache, path.name, digest) is None:
        read(path, shape, cache, hint)
    else:
        note(cache, path, status, digest)


def _kept(stored: memoryview | None, shape: Shape) -> dict[str, Any] | None:
    """What the index holds of a file, if it was checked as a file of this kind."""
    if stored is None or not isinstance(shape, Record):
        return None
    try:
        data = parts.decoded(stored, shape)
        shape.required["schema"].check(data["schema"], ())
    except (ValueError, RecursionError, ShapeError, KeyError):
        return None
    return data


def checked(path: Path, text: bytes, shape: Shape, hint: Sentence) -> Any:
    """The content of a file of that shape.

    Raises:
        DatabaseError: it is not of it, or is beyond a bound.
    """
    from opcheck.db.schema.forms import fits  # what the index holds is not checked again

    data = _parse(path, text, hint)
    if fits(data, shape):
        return data
    try:
        shape.check(data, ())
    except ShapeError as error:
        where = f"{path}:{_line(_composed(text), error.path)}"
        trail = " > ".join(map(str, error.path)) or Sentence("top of the file")
        raise DatabaseError(
            Sentence(
                "{text_file}: {said} (at {said_place})",
                text_file=where,
                said=error.expected,
                said_place=trail,
            ),
            hint,
        ) from error
    return data


def content(path: Path, hint: Sentence = HINT) -> bytes:
    """The bytes of a file, which may have only so many.

    Raises:
        DatabaseError: it has more, or cannot be read.
    """
    try:
        return bounded(path)
    except BoundsError as error:
        raise DatabaseError(
            Sentence("{text_file}: {said}", text_file=path, said=error.expected), hint
        ) from error
    except OSError as error:
        raise DatabaseError(
            Sentence(
                "cannot read {text_file}: {text}", text_file=path, text=error.strerror or error
            ),
            hint,
        ) from error


def line_of(path: Path, where: Where) -> int:
    """1-based line of the value at ``where`` in a file."""
    return lines_of(path, [where])[0]


def lines_of(path: Path, places: Sequence[Where]) -> list[int]:
    """1-based line of the value at each place of a file."""
    root = _composed(content(path)) if places else None
    return [_line(root, where) for where in places]


def _parse(path: Path, text: bytes, hint: Sentence) -> Any:
    from opcheck.db.files import yaml_reader  # what the index holds is not parsed

    with contextlib.suppress(yaml_reader.OtherStyleError, UnicodeDecodeError):
        return yaml_reader.read_quickly(text.decode(), distinct=True)

    import yaml  # slow to load, and to read

    try:
        yaml_reader.require_within(text)
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except BoundsError as error:
        raise DatabaseError(
            Sentence(
                "{text_file}:{line}: {said}", text_file=path, line=error.line, said=error.expected
            ),
            hint,
        ) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        message = Sentence(
            "{text_file}:{count_line}: expected valid YAML, but {text}",
            text_file=path,
            count_line=line,
            text=error.problem or error.context,
        )
        raise DatabaseError(message, hint) from error
    except (
        yaml.YAMLError,
        ValueError,
        ArithmeticError,
    ) as error:  # numbers and dates that are none
        raise DatabaseError(
            Sentence("{text_file}:1: expected UTF-8 YAML, but {text}", text_file=path, text=error),
            hint,
        ) from error


def _composed(text: bytes) -> Any:
    """The nodes of a file, which know their lines; None where only the quick reader takes it."""
    import yaml

    from opcheck.db.files import yaml_reader

    try:
        yaml_reader.require_within(text)
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
