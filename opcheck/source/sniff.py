"""What kind of model file something is, from its bytes and pickle opcodes; nothing executed."""

import io
import json
import os
import pickletools
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.errors import SourceError
from opcheck.files import MOST_MODEL_BYTES, FileError, open_regular
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.source.archive import open_archive

_STRINGS = frozenset(
    ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE", "SHORT_BINSTRING", "BINSTRING",
     "STRING")
)  # fmt: skip
_PUTS = frozenset(("PUT", "BINPUT", "LONG_BINPUT"))
_GETS = frozenset(("GET", "BINGET", "LONG_BINGET"))
_WEIGHT_MODULES = frozenset(
    ("collections", "torch", "torch._utils", "torch._tensor", "torch.storage", "torch.nn.parameter",
     "torch.serialization", "numpy", "numpy.core.multiarray", "numpy._core.multiarray",
     "numpy.core.numeric", "numpy._core.numeric", "_codecs", "torch.torch_version")
)  # fmt: skip
"""Modules whose names are met in files that hold tensors, numbers and dicts alone."""
_PLAIN = frozenset(("set", "frozenset", "dict", "list", "tuple", "int", "float", "bytearray"))
_STORAGE_WORDS = frozenset(("storage", "cpu", "cuda", "little", "big", "latin1"))
_AFTER_KEYS = "_metadata"
"""The attribute that a state_dict stores after its items."""
_KEPT = 8
_LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_LEGACY_PREAMBLE = 3
"""Pickles before the object in what torch.save wrote until 1.6: magic number, version, sizes."""


class PickleContents(Struct, frozen=True):
    """Names met in a pickle, in order of first mention, the first few of each."""

    classes: tuple[str, ...]
    """What it would import and call, besides what tensors and dicts need."""
    keys: tuple[str, ...]
    """Strings that may be keys of a state_dict."""
    damage: str = ""
    """Why it cannot be read to its end; empty if it can."""


def read_pickle(data: bytes) -> PickleContents:
    """List what unpickling ``data`` would build."""
    classes: dict[str, None] = {}
    keys: dict[str, None] = {}
    damage, full = "", False
    try:
        for kind, text in _names(data):
            if kind == "class":
                classes.setdefault(text)
            elif text == _AFTER_KEYS:
                full = True
            elif not full and _may_be_key(text):
                keys.setdefault(text)
                full = len(keys) == _KEPT
    except Exception as error:  # pickletools raises many kinds for bytes that are no pickle
        damage = str(error) or type(error).__name__
    foreign = [name for name in classes if not _is_weight(name)]
    return PickleContents(tuple(foreign[:_KEPT]), tuple(keys), damage)


def _names(data: bytes) -> Iterator[tuple[str, str]]:
    """Give ("class" or "text", name) pairs; follows the memo, where repeated names are kept."""
    memo: dict[int, str] = {}
    recent: list[str] = ["", ""]
    stream = io.BytesIO(data)
    if data.startswith(_LEGACY_MAGIC):
        for _ in range(_LEGACY_PREAMBLE):
            for _ in pickletools.genops(stream):
                pass
    for opcode, argument, _ in pickletools.genops(stream):
        name = opcode.name
        if name in _STRINGS:
            text = _as_text(argument)
            recent = [recent[1], text]
            yield "text", text
        elif name == "MEMOIZE":
            memo[len(memo)] = recent[1]
        elif name in _PUTS:
            memo[int(str(argument))] = recent[1]
        elif name in _GETS:
            recent = [recent[1], memo.get(int(str(argument)), "")]
        elif name in ("GLOBAL", "INST"):
            yield "class", str(argument).replace(" ", ".")
        elif name == "STACK_GLOBAL":
            yield "class", ".".join(recent)
        elif name in ("EXT1", "EXT2", "EXT4"):
            yield "class", f"extension code {argument}"


def _as_text(argument: Any) -> str:
    return argument.decode("latin-1") if isinstance(argument, bytes) else str(argument)


def _may_be_key(text: str) -> bool:
    device = text.partition(":")[0]
    return bool(text) and not text.isdigit() and device not in _STORAGE_WORDS


def _is_weight(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    plain = module in ("builtins", "__builtin__") and attribute in _PLAIN
    return plain or module in _WEIGHT_MODULES


_ZIP_MAGIC = b"PK\x03\x04"
_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
_SHOWN = 3
_MAX_PICKLE = 256 * 2**20
"""Bytes of a pickle that are looked at; the tensors lie outside it."""
_MAX_HEADER = 100 * 2**20  # the limit of the safetensors format itself

FACTORY_HINT = Sentence(
    "write a function that builds the model, without loading weights, and "
    "scan path/to/file.py:function"
)


class Form(Enum):
    """What a file holds."""

    TORCHSCRIPT = auto()
    EXPORTED = auto()
    """A torch.export program."""
    WEIGHTS = auto()
    """Tensors by name, no model: a state_dict, safetensors, GGUF, HDF5."""
    PICKLED = auto()
    """A pickle that builds objects: reading it runs what it names."""
    ONNX = auto()
    OTHER = auto()


class Sniffed(Struct, frozen=True):
    """What a file holds, and the names in it that help to say so."""

    form: Form
    detail: str = ""
    """One sentence fragment: ``a state_dict (conv.weight, …)``."""


def sniff(path: Path) -> Sniffed:
    """Tell what ``path`` holds; SourceError if it is no readable file or a broken archive."""
    head = _head(path)
    status = path.stat()
    return _sniff(path, head, status.st_size, status.st_mtime_ns)


def holds(path: Path, form: Form) -> bool:
    """Whether ``path`` is a sound file of that form."""
    try:
        return os.path.isfile(path) and sniff(path).form is form  # of any name, however long
    except SourceError:
        return False


@cache
def _sniff(path: Path, head: bytes, size: int, changed: int) -> Sniffed:
    if head.startswith(_ZIP_MAGIC):
        return _archive(path)
    if head.startswith(b"\x80") and len(head) > 1 and head[1] in range(2, 6):
        return _pickle(read_pickle(_start(path)), "an old-style pickle")
    if head.startswith(b"GGUF"):
        return Sniffed(Form.WEIGHTS, "GGUF weights")
    if head.startswith(_HDF5_MAGIC):
        return Sniffed(Form.WEIGHTS, "HDF5 weights")
    header = int.from_bytes(head[:8], "little")
    if head[8:9] == b"{" and header <= min(_MAX_HEADER, size):
        return _safetensors(path, header)
    if path.suffix == ".onnx":
        return Sniffed(Form.ONNX, "an ONNX model")
    return Sniffed(Form.OTHER, "no model file that this release knows")


def refuse_weights(path: Path, detail: str) -> SourceError:
    """Say that ``path`` holds weights and no model."""
    return SourceError(
        Sentence(
            "{text} holds only weights, {said}: the code or graph of the model is missing",
            text=path,
            said=detail,
        ),
        Sentence("weights are not needed: {said}", said=FACTORY_HINT),
    )


def _head(path: Path) -> bytes:
    if os.path.isdir(path):
        raise SourceError(
            Sentence(
                "{text} is a directory without a config.json or model_index.json, so "
                "it holds no model that can be built",
                text=path,
            ),
            Sentence("put the model's config.json there, or {said}", said=FACTORY_HINT),
        )
    try:
        with open_regular(path, MOST_MODEL_BYTES) as stream:
            head = stream.read(16)
    except FileNotFoundError as error:
        raise SourceError(
            Sentence("{text_file}: no such file", text_file=path), Sentence("check the path")
        ) from error
    except OSError as error:
        hint = (
            Sentence("give the path of a saved model") if isinstance(error, FileError) else NOTHING
        )
        raise SourceError(
            Sentence(
                "{text_file}: cannot be read ({text_why})", text_file=path, text_why=error.strerror
            ),
            hint,
        ) from error
    if not head:
        raise SourceError(
            Sentence("{text_file}: the file is empty", text_file=path),
            Sentence("was it copied or saved completely?"),
        )
    return head


def _start(path: Path) -> bytes:
    with open_regular(path, MOST_MODEL_BYTES) as stream:
        return stream.read(_MAX_PICKLE)


def _archive(path: Path) -> Sniffed:
    with open_archive(path) as archive:
        names = archive.members
        inner = {name.partition("/")[2] for name in names} | set(names)
        exported = any("models/" in name and name.endswith(".json") for name in names)
        if exported or "serialized_exported_program.json" in inner:
            return Sniffed(Form.EXPORTED, "a torch.export program")
        if "constants.pkl" in inner and any(name.startswith("code/") for name in inner):
            return Sniffed(Form.TORCHSCRIPT, "a TorchScript model")
        pickle = next((name for name in names if name.partition("/")[2] == "data.pkl"), None)
        if pickle is not None:
            return _pickle(read_pickle(archive.read(pickle, _MAX_PICKLE)), "a pickle")
    listed = _few(sorted(names)) or "nothing"
    return Sniffed(Form.OTHER, f"a zip archive without a model (it holds {listed})")


def _pickle(contents: PickleContents, what: str) -> Sniffed:
    keys = _few(contents.keys)
    if contents.damage:
        return Sniffed(Form.OTHER, f"{what} that is damaged: {contents.damage}")
    if not contents.classes:
        return Sniffed(Form.WEIGHTS, f"a state_dict ({keys})" if keys else "bare tensors")
    return Sniffed(Form.PICKLED, f"{what} that builds {_few(contents.classes)}")


def _safetensors(path: Path, size: int) -> Sniffed:
    with open_regular(path, MOST_MODEL_BYTES) as stream:
        stream.seek(8)
        try:
            header = json.loads(stream.read(size))
        except (ValueError, RecursionError):  # also a text that is not UTF-8
            return Sniffed(Form.OTHER, "a safetensors file with a damaged header")
    keys = sorted(key for key in header if key != "__metadata__")
    return Sniffed(Form.WEIGHTS, f"safetensors ({_few(keys)})")


def _few(names: Sequence[str]) -> str:
    """The first names, and a mark where there are more."""
    return ", ".join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])
