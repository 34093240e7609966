"""The config that transformers makes of a GGUF header, by its own code and a reader of ours.

For most architectures that is ``load_gguf_checkpoint``, which takes the reader of the package gguf:
here a stand-in with what opcheck read has its place, so that the package need not be there. Release
5.23 has functions of its own for some architectures, ``get_gguf_config``. Both are private to the
library; checked with transformers 5.23 and gguf 0.19.
"""

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.failures import brief
from opcheck.source.gguf_header import ARCHITECTURE, Header, Value
from opcheck.source.gguf_types import ARRAY, STRING

_LOADER = "transformers.modeling_gguf_pytorch_utils"
_OWN = "transformers.integrations.gguf"
_FIXED_PARTS = 3
"""Parts of a field before its value: the length of the key, the key, and the type."""


def config_of(transformers: Any, path: Path, header: Header) -> dict[str, Any]:
    """The config as transformers has it before any class of configs is chosen.

    Raises:
        SourceError: transformers does not know the architecture, or refuses the metadata.
    """
    architecture = header.text(ARCHITECTURE)
    own = reads_itself(architecture)
    try:
        if own is not None:
            names = tuple(tensor.name for tensor in header.tensors)
            made = own.get_gguf_config(_metadata(header), names)
        else:
            made = _by_loader(path, header)
    except Exception as error:  # the library checks what it reads by failing in its own ways
        raise _refused(transformers, path, architecture, error) from error
    return {key: _plain(value) for key, value in made.items()}


def reads_itself(architecture: str) -> Any:
    """The part of transformers that reads an architecture's files without gguf; None: none does."""
    try:
        own = importlib.import_module(_OWN)
    except ModuleNotFoundError:
        return None
    known = getattr(own, "GGUF_CONFIG_ARCHS", ())
    return own if architecture in known else None


def _refused(transformers: Any, path: Path, architecture: str, error: Exception) -> SourceError:
    version = transformers.__version__
    if "not supported yet" in str(error):
        return SourceError(
            Sentence(
                "{text_file}: transformers {version} does not read GGUF files of the "
                "architecture {text}",
                text_file=path,
                version=version,
                text=repr(architecture),
            ),
            Sentence(
                "scan the config.json of the model that it was converted from; for a part of a "
                "diffusers pipeline, put the file beside its config.json"
            ),
        )
    why = Sentence("nothing under {text}", text=error) if isinstance(error, KeyError) else None
    return SourceError(
        Sentence(
            "{text_file}: transformers {version} refuses its metadata: {why}",
            text_file=path,
            version=version,
            why=why or brief(error),
        ),
        Sentence("scan the config.json of the model that it was converted from"),
    )


def _metadata(header: Header) -> dict[str, Any]:
    """The metadata as transformers' own reader has it: arrays of texts are counts."""
    return {key: _as_read(value) for key, value in header.values.items()}


def _as_read(value: Value) -> Any:
    if value.kind != ARRAY:
        return value.content
    return len(value.content) if value.item == STRING else list(value.content)


def _by_loader(path: Path, header: Header) -> Mapping[str, Any]:
    """What the loader makes of the metadata."""
    loader = importlib.import_module(_LOADER)
    with _in_place_of_gguf(loader, header):
        made: Mapping[str, Any] = loader.load_gguf_checkpoint(str(path), return_tensors=False)
    config: Mapping[str, Any] = made["config"]
    return config


@contextmanager
def _in_place_of_gguf(loader: Any, header: Header) -> Iterator[None]:
    """Have the loader import a package gguf whose reader gives this header."""
    module = ModuleType("gguf")
    vars(module).update(GGUFReader=lambda path: _reader(header), dequantize=None)
    installed, available = sys.modules.get("gguf"), loader.is_gguf_available
    sys.modules["gguf"], loader.is_gguf_available = module, lambda *_, **__: True
    try:
        yield
    finally:
        loader.is_gguf_available = available
        del sys.modules["gguf"]
        if installed is not None:
            sys.modules["gguf"] = installed


def _reader(header: Header) -> Any:
    """The attributes of ``GGUFReader`` that the loader reads."""
    counts = {
        "GGUF.version": Value(4, header.version),
        "GGUF.tensor_count": Value(10, len(header.tensors)),
        "GGUF.kv_count": Value(10, len(header.values)),
    }
    values = counts | dict(header.values)
    return SimpleNamespace(
        fields={key: _field(key, value) for key, value in values.items()},
        tensors=[SimpleNamespace(name=tensor.name) for tensor in header.tensors],
    )


def _field(key: str, value: Value) -> Any:
    """A field as gguf has it: parts, and which of them are the value."""
    parts: list[Any] = [np.array([len(key.encode())], np.uint64), key.encode(), (value.kind,)]
    types = [value.kind]
    if value.kind == ARRAY:
        items = value.content
        types += [value.item] if items and value.item is not None else []
    else:
        items = (value.content,)
    of_texts = STRING in types
    parts += [_text(item) if of_texts else (item,) for item in items]
    places = range(_FIXED_PARTS, len(parts))
    return SimpleNamespace(parts=parts, data=list(places), types=types)


def _text(item: str | bytes) -> bytes:
    return item.encode() if isinstance(item, str) else item


def _plain(value: Any) -> Any:
    """A value that JSON has, of one that numpy may have made."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value
