"""A script in the worker: what its imports find, where it stands, and what is said of it."""

import os
import sys
from pathlib import Path

from opcheck.db.by_hand.libraries import Schemas
from opcheck.db.store import Database
from opcheck.lang.sentence import Sentence
from opcheck.model.script import ScriptRequest, ScriptRun
from opcheck.sandbox.child.limits import Refusals
from opcheck.sandbox.child.process import Process, leave_compiler_out
from opcheck.source.base import digest_of_file
from opcheck.source.load import prepare

_NO_OVERLAY = (
    "this system has no mount namespaces for a process like this one: what the script writes is "
    "refused; --write lets it through"
)
_ADDRESS = {"MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}


def run(
    request: ScriptRequest, process: Process, refusals: Refusals, *, libraries: Schemas
) -> ScriptRun:
    """Run a script in this process, which is of no other use afterwards."""
    process.begin("load", Sentence("loading {source}", source=request.script.name))
    database = Database.open(overlays=tuple(map(Path, request.databases)))
    target = database.resolve(request.target)
    leave_compiler_out()
    refusals.watch_torch()
    from opcheck.emulate.script import run_script  # needs torch
    from opcheck.source.building import processes
    from opcheck.trace.running import eager

    eager.prepare()
    stand_ins = prepare(libraries, weights=request.values, on_device=True)
    _launched(request)
    doing = Sentence("running on an emulated {target}", target=target)

    def notes() -> tuple[str, ...]:
        why = (Sentence(_NO_OVERLAY),) if refusals.notes and not refusals.overlaid else ()
        absent = stand_ins.notes() if stand_ins is not None else ()
        return (*absent, *processes.notes(), *refusals.notes, *why)

    return run_script(
        request,
        target,
        database.matrix(target),
        digest="" if request.script.module else digest_of_file(Path(request.script.name)),
        begins=lambda: process.begin("emulate", doing),
        notes=notes,
        journal=process.journal(0),
    )


def _launched(request: ScriptRequest) -> None:
    """Have the environment be what a launcher gives the first of its processes."""
    sys.orig_argv[1:] = request.script.command
    if not request.script.launcher:
        return
    count = str(request.script.processes)
    numbers = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
    os.environ.update({**numbers, **_ADDRESS})
