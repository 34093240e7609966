"""What a folder of sentence-transformers says beside its config: modules that follow the model."""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from opcheck.errors import SourceError
from opcheck.files import read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.source.model_folder import read_config

MODULES = "modules.json"
"""Names the modules of the pipeline in order; the first is the transformers model."""
_LIBRARY = "sentence_transformers."
_TRANSFORMER = "Transformer"
_MOST_BYTES = 2**20


class Part(Struct, frozen=True):
    """One module of the pipeline."""

    name: str
    """Its name among the pipeline's children: ``1``."""
    kind: str
    """The class of the library without the modules it is in, ``Pooling``; a whole path of others'.
    """
    config: Mapping[str, Any]


def parts_after(config: Path) -> tuple[Part, ...]:
    """The modules after the transformers model of a config; none where no pipeline is beside it.

    Raises:
        SourceError: ``modules.json`` or a config that it names is not as the library writes them.
    """
    path = config.parent / MODULES
    if config.name != "config.json" or not path.is_file():
        return ()
    listed = [_part(path, entry) for entry in _entries(path)]
    if not listed or listed[0].kind != _TRANSFORMER:
        raise SourceError(
            Sentence("{text_file}: does not begin with a transformers model", text_file=path),
            Sentence("scan the folder of the model that it names by itself"),
        )
    return tuple(listed[1:])


def _entries(path: Path) -> list[Any]:
    try:
        entries = json.loads(read_bytes(path, _MOST_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise _refused(path, str(error)) from error
    if not isinstance(entries, list):
        raise _refused(path, type(entries).__name__)
    return entries


def _part(path: Path, entry: Any) -> Part:
    fields = entry if isinstance(entry, dict) else {}
    name, kind, folder = (fields.get(key) for key in ("name", "type", "path"))
    if not (isinstance(name, str) and isinstance(kind, str) and isinstance(folder, str)):
        raise _refused(path, json.dumps(entry)[:80])
    place = PurePosixPath(folder)
    if place.is_absolute() or ".." in place.parts:
        raise _refused(path, folder)
    short = kind.rpartition(".")[2] if kind.startswith(_LIBRARY) else kind
    beside = path.parent / place / "config.json"
    own = bool(place.parts) and beside.is_file()
    return Part(name, short, read_config(beside) if own else {})


def _refused(path: Path, found: str) -> SourceError:
    return SourceError(
        Sentence(
            "{text_file}: want a list of modules with name, type and path below it, not {text}",
            text_file=path,
            text=found,
        ),
        Sentence("was it saved completely?"),
    )
