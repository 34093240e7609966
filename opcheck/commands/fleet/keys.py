"""What an answer about a model rests on, as one digest: the same key, the same answer."""

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fleet.values import RunTarget
from opcheck.errors import OpcheckError, SourceError
from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.model.codec import to_json
from opcheck.model.request import ScanRequest
from opcheck.model.script import ScriptRequest
from opcheck.sandbox.child.late_imports import BY_OPTIMIZERS
from opcheck.source import base
from opcheck.source.base import LIBRARIES, Source
from opcheck.source.gguf_file import is_gguf
from opcheck.source.gguf_header import read_header
from opcheck.source.kinds.python_file import PythonFile
from opcheck.source.load import select
from opcheck.version import __version__

DIGITS = 32
_READ = (".gguf", ".json", ".py", ".yaml", ".yml")
"""Files that a model in a folder may be built from, as is the header of a GGUF file's weights."""
_ABSENT = ""


def key_of(
    request: ScanRequest, targets: Iterable[RunTarget], script: ScriptRequest | None = None
) -> str:
    """The key of a model as it is asked about, or of a script on its target.

    Limits are no part of it. A training step is traced as its targets register gradients, so their
    data is, and so is that of a script's target; of a forward the data of its targets is not.
    """
    if script is not None:
        return _key_of_script(script, targets)
    trained = sorted((t.target, t.database_digest) for t in targets) if request.model.step else []
    asked = replace(
        request, targets=(), max_age=None, model=replace(request.model, timeout=None, memory=None)
    )
    parts = [
        __version__, torch_version(), platform.python_version(), to_json(asked), trained,
        [[name, _version(name)] for name in _kind(request.model.source).libraries],
        list(_contents(request)),
    ]  # fmt: skip
    return _digest_of(parts)


def _key_of_script(script: ScriptRequest, targets: Iterable[RunTarget]) -> str:
    """Every library of models is part of it, since a script may import any."""
    name = script.script.name
    files = (*(() if script.script.module else (name,)), *script.model.schemas)
    asked = replace(script, model=replace(script.model, timeout=None, memory=None))
    return _digest_of([
        __version__, torch_version(), platform.python_version(), to_json(asked),
        [to_json(target) for target in targets],
        [[library, _version(library)] for library in LIBRARIES],
        [_digest(Path(file)) for file in files],
    ])  # fmt: skip


def _digest_of(parts: Sequence[object]) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()[:DIGITS]


def unchanged(files: Mapping[str, str]) -> bool:
    """Whether the user's own files are as they were."""
    return all(_digest(Path(file)) == digest for file, digest in files.items())


def torch_version() -> str:
    """Of the torch that traces, as a trace tells it; torch itself is not loaded."""
    return _version("torch").partition("+")[0]


def libraries_of(requests: Iterable[ScanRequest], *, scripts: bool = False) -> tuple[str, ...]:
    """The modules that models and training steps surely import, for workers to import once.

    ``scripts``: whether there are scripts beside the models; most of them train.
    """
    needed = {name for request in requests for name in _needed(request)}
    return tuple(sorted({*needed, BY_OPTIMIZERS} if scripts else needed))


def _needed(request: ScanRequest) -> Iterator[str]:
    yield from _imported(request.model.source)
    if request.model.step is not None:
        yield BY_OPTIMIZERS


def _imported(source: str) -> Iterator[str]:
    kind = _kind(source)
    if kind is not PythonFile:
        yield from kind.libraries if kind.libraries != LIBRARIES else ()
        return
    path = kind.path(source)
    try:
        content = read_bytes(path, MOST_SOURCE_BYTES) if path else b""
    except OSError:
        return
    lines = content.decode("utf-8", "replace").splitlines()
    words = {tuple(line.split()[:2]) for line in lines if line.startswith(("import ", "from "))}
    yield from {word[1].partition(".")[0] for word in words if len(word) > 1} & {*LIBRARIES}


def _kind(source: str) -> type[Source]:
    """The kind of a source; any will do where none claims it, as its scan will fail."""
    try:
        return type(select(source))
    except OpcheckError:
        return Source


def _contents(request: ScanRequest) -> Iterator[str]:
    """Digests of all that is read, as far as that is known before a model is loaded."""
    try:
        path = _kind(request.model.source).path(request.model.source)
    except (OSError, ValueError):
        path = None
    if path is not None:
        yield from (f"{name} {found}" for name, found in sorted(_read(path)))
    loss = request.model.step.loss if request.model.step else ""
    for text in (request.model.calls.input_sets, loss, *request.model.schemas):
        if text:
            yield _digest(Path(text.rpartition(":")[0] if ".py:" in text else text))


def _read(path: Path) -> Iterator[tuple[str, str]]:
    """Names and digests of a file, or of what is read of a folder."""
    folder = path.parent if path.name.endswith(".json") else path
    if not os.path.isdir(folder):
        yield path.name, _digest(path)
        return
    files = folder.iterdir() if folder != path else folder.rglob("*")
    for file in files:
        if file.suffix in _READ and file.is_file():
            yield file.relative_to(folder).as_posix(), _digest(file)


def _digest(path: Path) -> str:
    try:
        if is_gguf(path):
            header = read_header(path)
            return f"{header.digest} {header.missing}"
    except SourceError:  # damaged
        pass
    try:
        return base.digest_of_file(path)
    except OSError:
        return _ABSENT


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _ABSENT
