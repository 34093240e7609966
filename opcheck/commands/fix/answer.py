"""A plan carried out for one target, proved, and written: all of it or nothing."""

from collections.abc import Callable, Mapping
from pathlib import Path

from opcheck.commands.fix.better import better
from opcheck.commands.fix.custom import custom
from opcheck.commands.fix.diff import diff
from opcheck.commands.fix.files import require_folder, require_output_path
from opcheck.commands.fix.fused import Better
from opcheck.commands.fix.graph import graph
from opcheck.commands.fix.padded import Padding
from opcheck.commands.fix.padding import padding
from opcheck.commands.fix.patch import patch
from opcheck.commands.fix.shim import shim
from opcheck.commands.fix.values import Fix, FixKind, FixRequest
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.pipeline.database import Progress, open_database, silent


def fix(request: FixRequest, progress: Progress = silent, output: Progress = silent) -> Fix:
    """Carry out what a plan suggests for a model on its one target.

    Raises:
        UsageError: not exactly one target, a file that is in the way, or what a scan refuses.
        SourceError, TraceError, EmulationError, DatabaseError: as scan and emulate do.
    """
    _require_one_target(request)
    if request.kind is FixKind.CUSTOM:
        if request.path:
            require_folder(Path(request.path), write=request.write)
    else:
        require_output_path(request)
    database = open_database(request.scan.databases)
    carry_out = _KINDS[request.kind]
    if request.kind is FixKind.CUSTOM:
        return carry_out(request, database, progress, output)
    from opcheck.sandbox.parent.preloaded import loaded_once

    with loaded_once():  # the scan and each run of the proof have a process of their own
        return carry_out(request, database, progress, output)


def fuse(request: FixRequest, progress: Progress = silent, output: Progress = silent) -> Better:
    """Fuse calls of a model into kernels that its one target has.

    Raises:
        UsageError: not exactly one target, a file that is in the way, or what a scan refuses.
        SourceError, TraceError, DatabaseError: as scan does.
    """
    _require_one_target(request)
    require_output_path(request)
    database = open_database(request.scan.databases)
    from opcheck.sandbox.parent.preloaded import loaded_once

    with loaded_once():
        return better(request, database, progress, output)


def pad(request: FixRequest, progress: Progress = silent, output: Progress = silent) -> Padding:
    """Pad the inputs of a model whose sizes vary to few sizes, for its one target.

    Raises:
        UsageError: not exactly one target, a file that is in the way, or what a scan refuses.
        SourceError, TraceError, DatabaseError: as scan does.
    """
    _require_one_target(request)
    require_output_path(request)
    database = open_database(request.scan.databases)
    from opcheck.sandbox.parent.preloaded import loaded_once

    with loaded_once():
        return padding(request, database, progress, output)


def _require_one_target(request: FixRequest) -> None:
    if len(request.scan.targets) != 1:
        raise UsageError(
            Sentence(
                "want one target to fix a model for, got {count}", count=len(request.scan.targets)
            )
        )


_KINDS: Mapping[FixKind, Callable[[FixRequest, Database, Progress, Progress], Fix]] = {
    FixKind.SHIM: shim,
    FixKind.DIFF: diff,
    FixKind.PATCH: patch,
    FixKind.GRAPH: graph,
    FixKind.CUSTOM: custom,
}
