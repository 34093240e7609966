"""The header of a GGUF file: its metadata and the list of its tensors; no tensor is read.

Every length and count is compared with what is left of the file, and with a limit of its own,
before anything is read or made for it.
"""

import hashlib
import math
import struct
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from msgspec import Struct

from opcheck.errors import SourceError
from opcheck.files import MOST_MODEL_BYTES, open_regular
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.source.gguf_types import ARRAY, NUMBERS, STRING, TENSORS

T = TypeVar("T")

MAGIC = b"GGUF"
ARCHITECTURE = "general.architecture"
_VERSIONS = (2, 3)
_START = len(MAGIC)
_MOST_HEADER = 256 << 20
"""Bytes; with a vocabulary of a quarter of a million words they are some ten million."""
_MOST_KEYS = 1 << 16
_MOST_TENSORS = 1 << 17
_MOST_ITEMS = 1 << 22
"""Items of all arrays together: words, their scores and types, and pairs to merge."""
_MOST_KEY = (1 << 16) - 1  # the format's own limit
_MOST_NAME = 1 << 10
_MOST_DIMENSIONS = 4  # ggml's
_MOST_NUMBERS = 1 << 63
_ALIGNMENT, _ALIGNED_BY = 32, "general.alignment"
_DIGEST_DIGITS = 16
_CUT = Sentence("was it copied or downloaded completely?")
_DAMAGED = Sentence("copy or convert it again: llama.cpp's gguf-dump shows what a sound file has")


class Value(Struct, frozen=True):
    """A value of the metadata."""

    kind: int
    """The number of its type."""
    content: Any
    """A number, a text, or the items of an array as a tuple: numbers, or texts as bytes."""
    item: int | None = None
    """The type of an array's items."""


class Tensor(Struct, frozen=True):
    """What is listed of a tensor."""

    name: str
    shape: tuple[int, ...]
    """The sizes as the file has them, the innermost first."""
    kind: int
    """The number of its type."""
    offset: int


class Header(Struct, frozen=True):
    """All that the file says before its tensors."""

    version: int
    values: Mapping[str, Value]
    tensors: tuple[Tensor, ...]
    digest: str
    """sha256 of the header, first 16 hex digits: the same with other weights of the same shapes."""
    missing: int
    """Bytes of tensors that the file ends before; none are needed here."""

    def text(self, key: str) -> str:
        """The text under a key; "" where there is none."""
        value = self.values.get(key)
        return value.content if value is not None and value.kind == STRING else ""

    def number(self, key: str) -> int:
        """The whole number under a key; 0 where there is none."""
        value = self.values.get(key)
        return value.content if value is not None and isinstance(value.content, int) else 0


def read_header(path: Path) -> Header:
    """Read the header of a GGUF file.

    Raises:
        SourceError: the file cannot be read, or it is no sound header; says where and why.
    """
    try:
        with open_regular(path, MOST_MODEL_BYTES) as stream:
            return _header(_Reader(path, stream))
    except OSError as error:
        raise SourceError(
            Sentence(
                "{text_file}: cannot be read ({text_why})", text_file=path, text_why=error.strerror
            ),
            Sentence("give a GGUF file"),
        ) from error


class _Reader:
    """Takes the header from a stream piece by piece, and checks that each is there."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self._path, self._stream = path, stream
        self.size = stream.seek(0, 2)
        stream.seek(0)
        self.at = 0
        self.items = 0
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        """Of what was taken so far."""
        return self._digest.hexdigest()[:_DIGEST_DIGITS]

    def refused(self, why: Sentence, hint: Sentence = _DAMAGED) -> SourceError:
        """The error for what stands here."""
        where = Sentence("{text_file}: byte {at}: {why}", text_file=self._path, at=self.at, why=why)
        return SourceError(where, hint)

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count > self.size - self.at:
            raise self.refused(
                Sentence(
                    "{count} more bytes are to follow, and the file ends at byte {size}",
                    count=count,
                    size=self.size,
                ),
                _CUT,
            )
        if count > _MOST_HEADER - self.at:
            raise self.refused(
                Sentence("its header has more than {count} bytes", count=_MOST_HEADER)
            )
        taken = self._stream.read(count)
        if len(taken) != count:  # it became shorter meanwhile
            raise self.refused(Sentence("the file ends early"), _CUT)
        self._digest.update(taken)
        self.at += count
        return taken

    def number(self, form: str) -> Any:
        """The next number."""
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return value

    def count(self, most: int, least_bytes: int, what: Sentence) -> int:
        """The next count of things that take some bytes each."""
        count: int = self.number("<Q")
        if count > most:
            raise self.refused(
                Sentence("{count} {what}, want {most} at most", count=count, what=what, most=most)
            )
        if count * least_bytes > self.size - self.at:
            raise self.refused(
                Sentence(
                    "{count} {what} do not fit a file of {size} bytes",
                    count=count,
                    what=what,
                    size=self.size,
                ),
                _CUT,
            )
        return count

    def text(self, most: int, what: Sentence) -> str:
        """The next text, with its length before it."""
        taken = self.take(self.count(most, 1, what))
        try:
            return taken.decode()
        except UnicodeDecodeError as error:
            raise self.refused(Sentence("a text that is not UTF-8")) from error


def _header(reader: _Reader) -> Header:
    if reader.take(_START) != MAGIC:
        raise reader.refused(Sentence("it does not start as a GGUF file"), NOTHING)
    version: int = reader.number("<I")
    if version not in _VERSIONS:
        raise _other_version(reader, version)
    tensors = reader.count(_MOST_TENSORS, 24, Sentence("tensors"))
    keys = reader.count(_MOST_KEYS, 13, Sentence("metadata keys"))
    values = _by_name(reader, keys, partial(_pair, reader))
    listed = _by_name(reader, tensors, partial(_tensor, reader))
    found = tuple(listed.values())
    return Header(version, values, found, reader.digest, _missing(reader, values, found))


def _other_version(reader: _Reader, version: int) -> SourceError:
    if version & 0xFFFF == 0:
        return reader.refused(
            Sentence("it is a big-endian file, and transformers reads little-endian ones"),
            Sentence("convert it: gguf-convert-endian FILE little"),
        )
    return reader.refused(
        Sentence("version {version} of GGUF, want 2 or 3", version=version),
        Sentence("convert the model again with a current llama.cpp"),
    )


def _by_name(reader: _Reader, count: int, one: "partial[tuple[str, T]]") -> dict[str, T]:
    """So many things by their names, each once."""
    found: dict[str, T] = {}
    for _ in range(count):
        name, value = one()
        if name in found:
            raise reader.refused(Sentence("{name} is there twice", name=repr(name)))
        found[name] = value
    return found


def _pair(reader: _Reader) -> tuple[str, Value]:
    key = reader.text(_MOST_KEY, Sentence("bytes of a key"))
    kind: int = reader.number("<I")
    if kind != ARRAY:
        return key, Value(kind, _scalar(reader, kind))
    item: int = reader.number("<I")
    if item == ARRAY:
        raise reader.refused(
            Sentence("{key} is an array of arrays, which transformers does not read", key=key),
            Sentence("convert the model again without it"),
        )
    return key, Value(kind, _items(reader, item), item)


def _scalar(reader: _Reader, kind: int) -> Any:
    if kind == STRING:
        return reader.text(_MOST_HEADER, Sentence("bytes of a text"))
    return reader.number(_form(reader, kind))


def _form(reader: _Reader, kind: int) -> str:
    """How a number of this type is read."""
    if kind not in NUMBERS:
        raise reader.refused(Sentence("a value of type {kind}, want 0 to 12", kind=kind))
    return NUMBERS[kind]


def _items(reader: _Reader, kind: int) -> tuple[Any, ...]:
    """The items of an array."""
    form = "<Q" if kind == STRING else _form(reader, kind)
    width = struct.calcsize(form)
    count = reader.count(_MOST_ITEMS - reader.items, width, Sentence("items of arrays"))
    reader.items += count
    if kind == STRING:
        what = Sentence("bytes of a text")
        return tuple(reader.take(reader.count(_MOST_HEADER, 1, what)) for _ in range(count))
    return struct.unpack(f"<{count}{form[1:]}", reader.take(count * width))


def _tensor(reader: _Reader) -> tuple[str, Tensor]:
    name = reader.text(_MOST_NAME, Sentence("bytes of a name"))
    dimensions: int = reader.number("<I")
    if not 0 < dimensions <= _MOST_DIMENSIONS:
        raise reader.refused(
            Sentence("{name} has {count} dimensions, want 1 to 4", name=name, count=dimensions)
        )
    shape = struct.unpack(f"<{dimensions}Q", reader.take(8 * dimensions))
    kind, offset = struct.unpack("<IQ", reader.take(12))
    if not 0 < math.prod(shape) < _MOST_NUMBERS:
        raise reader.refused(
            Sentence(
                "{name} has the sizes {sizes}, which no tensor has",
                name=name,
                sizes=", ".join(map(str, shape)),
            )
        )
    if offset >= _MOST_NUMBERS:
        raise reader.refused(
            Sentence("{name} starts at byte {offset}, which no file has", name=name, offset=offset)
        )
    known = TENSORS.get(kind)
    if known is not None and shape[0] % known.block:
        raise reader.refused(
            Sentence(
                "{name} has rows of {count} numbers, and {type} packs them by {block}",
                name=name,
                count=shape[0],
                type=known.name,
                block=known.block,
            )
        )
    return name, Tensor(name, shape, kind, offset)


def _missing(reader: _Reader, values: Mapping[str, Value], tensors: tuple[Tensor, ...]) -> int:
    """How many bytes of tensors of known types the file lacks."""
    align = _alignment(reader, values)
    start = -(-reader.at // align) * align
    ends = (
        start + tensor.offset + math.prod(tensor.shape) // kind.block * kind.size
        for tensor in tensors
        if (kind := TENSORS.get(tensor.kind)) is not None
    )
    return max(0, max(ends, default=0) - reader.size)


def _alignment(reader: _Reader, values: Mapping[str, Value]) -> int:
    """Tensors start at a multiple of it."""
    value = values.get(_ALIGNED_BY)
    if value is None:
        return _ALIGNMENT
    align = value.content
    if type(align) is not int or align <= 0 or align & (align - 1):
        raise reader.refused(
            Sentence("{key} is {text}, want a power of two", key=_ALIGNED_BY, text=repr(align)[:60])
        )
    return align
