"""The YAML that an ultralytics name stands for, checked before the library sees it; no torch.

``parse_model`` of ultralytics 8.4 calls ``eval`` on ``activation``, looks layers up in its module,
where functions that unpickle files lie too, and evaluates the arguments that are text.
"""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from opcheck.db import document
from opcheck.errors import DatabaseError, SourceError
from opcheck.source.ultralytics_grammar import KEYS, PARTS, Anything, Model
from opcheck.source.ultralytics_layers import TORCHVISION_LAYER

_HINT = (
    "write it as the models of ultralytics are written; --trust lets ultralytics evaluate the "
    "file, if you know who wrote it"
)
_SIX = re.compile(r"yolov[58][nsmlx]6")
"""An older way to write ``-p6``."""
_SIZED = re.compile(r"(\d+)([nslmx])(.+)?$")
"""A size within a name: ``yolov8n.yaml`` is in ``yolov8.yaml``."""


def packaged() -> Path | None:
    """The folder of the models that the installed package brings; None where there is none."""
    spec = find_spec("ultralytics")
    return Path(spec.origin).parent / "cfg" / "models" if spec and spec.origin else None


def find(name: str) -> Path | None:
    """The file that the library would read for ``name``: the user's own, then the package's."""
    for wanted in _spellings(name):
        path = Path(wanted)
        if path.is_file():
            return path
        for own in sorted(folder.rglob("*.y*ml")) if (folder := packaged()) else ():
            if own.parts[-len(path.parts) :] == path.parts:
                return own
    return None


def is_packaged(path: Path) -> bool:
    """Whether a file is the package's own, which is code as much as the library is."""
    folder = packaged()
    return folder is not None and folder.resolve() in path.resolve().parents


def read(path: Path, *, trust: bool = False) -> dict[str, Any]:
    """The keys of a YAML that ultralytics reads, nothing in them left to evaluate but literals.

    Of the package's own files a layer may have a name that this release does not know; with
    ``trust``, anything may stand in a file.

    Raises:
        SourceError: it cannot be read, or has what ultralytics could be made to run.
    """
    shape = Anything() if trust else Model(known_layers=not is_packaged(path))
    try:
        data = document.read(path, shape, hint=_HINT).data
    except DatabaseError as error:
        raise SourceError(error.message, error.hint) from error
    if trust:
        return data
    rows = {part: [_without_weights(row) for row in data[part]] for part in PARTS}
    # the library reads the text as no value, as people write it
    return {key: None if data[key] == "None" else data[key] for key in KEYS if key in data} | rows


def _without_weights(row: list[Any]) -> list[Any]:
    """The row of a layer; a model of torchvision in it is made without pretrained weights."""
    if row[2] != TORCHVISION_LAYER:
        return row
    width, name, *others = row[3]
    return [*row[:3], [width, name, None, *others[1:]]]


def _spellings(name: str) -> Iterator[str]:
    """A name as it stands, and without the size in it, as ultralytics looks for both."""
    path = Path(name)
    if _SIX.fullmatch(path.stem):
        path = path.with_name(f"{path.stem[:-1]}-p6{path.suffix}")
    for wanted in (str(path), _SIZED.sub(r"\1\3", str(path))):
        legacy = "yolov3" in wanted or "yolov5" in wanted
        yield wanted.replace("u.yaml", ".yaml") if legacy else wanted
