"""The limits of a model's process, by what is requested - a model file, or the user's Python.

A model file is hostile: its process reads the interpreter, the model and the project, and writes to
its scratch folder. A user's own Python, and a file that is trusted, run as code: they read what
they like and start programs. Neither has the network, nor writes elsewhere.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck.db.files.index import cache_folder
from opcheck.model.emulation import EmulationRequest
from opcheck.model.exporting import ExportRequest
from opcheck.model.jobs import GraphRequest, HostRequest, Request
from opcheck.model.limits import Filter, Profile
from opcheck.model.script import ScriptRequest
from opcheck.model.work import WorkRequest
from opcheck.sandbox.limits import system_files
from opcheck.sandbox.limits.overlay import top_of
from opcheck.source import user_code
from opcheck.source.load import select

_FILE = Filter()
_TRUSTED = Filter(programs=True, modes=True)
_CODE = Filter(programs=True, modes=True, local_sockets=True)
_MODEL_SECONDS = 300.0
"""Most that a model file may take to be loaded and run where no limit is given: the largest known
model takes a tenth of it, and a loop in a file ends."""
_ASIDE = "aside"
"""The folder in the scratch folder where what a script writes lies meanwhile."""
_OTHER_TEMPORARY = "/var/tmp"  # its folders there have names of their own
_VALUES_SECONDS = 3600.0
"""The same where values are computed."""


def is_code(request: Request) -> bool:
    """Whether the request runs code: Python of the user's, or a file that the user trusts."""
    if isinstance(request, ScriptRequest):
        return True
    return user_code.is_code(request.model.source, trust=request.model.trust)


def profile_of(request: Request, scratch: Path) -> Profile:
    """The limits of the process that works on a request."""
    if isinstance(request, ScriptRequest):
        return _of_script(request, scratch)
    writes = tuple(_written(request))
    if is_code(request):
        own = user_code.is_code(request.model.source, trust=False)
        return Profile(str(scratch), None, writes, _CODE if own else _TRUSTED, shared_memory=own)
    return Profile(str(scratch), system_files.existing(_read(request)), writes, _FILE)


def _of_script(request: ScriptRequest, scratch: Path) -> Profile:
    """Those of a script: what it writes is seen by itself alone, or stays where that was asked."""
    given = Profile(str(scratch), filter=_CODE, shared_memory=True)
    if request.write:
        return replace(given, writable=(os.sep,))
    beside = [] if request.script.module else [str(Path(request.script.name).resolve().parent)]
    folders = (
        os.getcwd(), *beside, os.path.expanduser("~"), tempfile.gettempdir(),
        *_named(request.script.argv),
    )  # fmt: skip
    return replace(given, overlaid=top_of(folders, str(scratch)), aside=str(scratch / _ASIDE))


def _named(argv: Sequence[str]) -> Iterator[str]:
    """Folders that a command line names from the root on, or what is there of them."""
    for word in argv:
        path = Path(word if word.startswith(os.sep) else word.partition("=")[2])
        if path.is_absolute():
            there = next(folder for folder in (path, *path.parents) if folder.is_dir())
            if there != Path(there.anchor):
                yield str(there)


def temporary_of(request: Request) -> str | None:
    """The folder for a request's temporary files; None: the usual one.

    A script may write to the usual one, and what it writes may not lie in what has an overlay.
    """
    if isinstance(request, ScriptRequest) and os.access(_OTHER_TEMPORARY, os.W_OK):
        return _OTHER_TEMPORARY
    return None


def seconds_of(request: Request) -> float | None:
    """How long the process may take; None: as long as it likes."""
    if request.model.timeout is not None or is_code(request):
        return request.model.timeout
    computes = isinstance(request, HostRequest | GraphRequest | ExportRequest) or (
        isinstance(request, EmulationRequest) and request.values
    )
    return _VALUES_SECONDS if computes else _MODEL_SECONDS


def _read(request: Request) -> Iterator[str | Path]:
    """What the user named, and the project; of a file that others lie beside, their kinds."""
    path = select(request.model.source).path(request.model.source)
    if path is not None:
        yield path
        yield from system_files.configs_beside(path)
    yield from system_files.project(Path.cwd())
    yield cache_folder() or ""
    yield from (*request.model.schemas, *request.model.patches)
    match request:
        case WorkRequest():
            yield from (*request.databases, *request.rules)
        case EmulationRequest():
            yield from (*request.databases, *request.shims)
        case GraphRequest():
            yield from filter(None, (*request.rules, request.path))
            return
        case HostRequest():
            yield from filter(None, (request.keep, request.against))
    sets = request.model.calls.input_sets.rpartition(":")[0]
    if sets:
        yield from system_files.project(Path(sets).parent)


def _written(request: Request) -> Iterator[str]:
    """Files beside the scratch folder that the process writes; made here, so as to be there."""
    match request:
        case GraphRequest() if request.path:
            yield request.path
        case ExportRequest():
            for path in request.files:
                Path(path).touch()
                yield path
        case HostRequest() if request.keep:
            Path(request.keep).touch()
            yield request.keep
