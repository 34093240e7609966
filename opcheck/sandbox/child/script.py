"""A script in the worker: what its imports find, where it stands, and what is said of it."""

import os
import sys
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from opcheck.db.by_hand.libraries import Schemas
from opcheck.db.store import Database
from opcheck.lang.sentence import Sentence
from opcheck.model.environment import Environment
from opcheck.model.script import Data, ScriptRequest, ScriptRun
from opcheck.sandbox.child.late_imports import leave_compiler_out
from opcheck.sandbox.child.limits import Refusals
from opcheck.sandbox.child.process import Process
from opcheck.source.base import digest_of_file
from opcheck.source.load import prepare
from opcheck.source.notebook import of_session, read

_NO_OVERLAY = (
    "this system has no mount namespaces for a process like this one: what Python writes is seen "
    "by the script alone, what other code and programs write is refused; --write lets it through"
)


def run(
    request: ScriptRequest, process: Process, refusals: Refusals, *, libraries: Schemas
) -> ScriptRun:
    """Run a script in this process, which is of no other use afterwards."""
    script = request.script
    process.begin("load", Sentence("loading {source}", source=script.name))
    cells = of_session(script.cells)
    if script.notebook and script.is_file:
        cells = read(script.name)
    database = Database.open(overlays=tuple(map(Path, request.databases)))
    target = database.resolve(request.target)
    leave_compiler_out()
    refusals.watch_torch()
    from opcheck.emulate import standard_input  # needs torch
    from opcheck.emulate.cells import run_notebook
    from opcheck.emulate.cpu_matrix import cpu_matrix
    from opcheck.emulate.kept_calls import KeptCalls
    from opcheck.emulate.own_traceback import place_warnings
    from opcheck.emulate.script import run_script
    from opcheck.source.building import (
        absent_weights,
        fake_data,
        fake_pretrained,
        fake_rows,
        hub_files,
        processes,
    )
    from opcheck.source.building.stand_ins.installed import plugin_of
    from opcheck.trace.running import eager

    eager.prepare()
    environment = database.environment(target.vendor)
    plugin = plugin_of(environment, target)
    stand_ins = prepare(libraries, weights=request.values, on_device=True, plugin=plugin)
    _set_up(environment)
    hub_files.prepare()
    standard_input.prepare()
    place_warnings()
    for absent in (fake_data, fake_rows, fake_pretrained):
        absent.prepare(fake=request.data is Data.FAKE)
    sys.orig_argv[1:] = request.script.command
    doing = Sentence("running on an emulated {target}", target=target)
    if request.on_cpu:
        doing = Sentence("computing on the host, to compare with")

    def notes() -> tuple[str, ...]:
        why = (Sentence(_NO_OVERLAY),) if refusals.redirected is not None else ()
        libraries = stand_ins.notes() if stand_ins is not None else ()
        data = (*fake_data.notes(), *fake_rows.notes(), *fake_pretrained.notes())
        stands = (*libraries, *absent_weights.notes(), *data)
        stands += hub_files.notes(stands)
        asked = standard_input.notes()
        return (*stands, *processes.notes(), *asked, *refusals.notes, *why)

    kept, matrix = KeptCalls() if request.plan else None, database.matrix(target)
    if request.on_cpu:
        matrix = cpu_matrix(matrix)
    found = run_script(
        request,
        target,
        matrix,
        digest=digest_of_file(Path(script.name)) if script.is_file else "",
        begins=lambda: process.begin("emulate", doing),
        notes=notes,
        journal=process.journal(0),
        play=partial(run_notebook, script, cells) if script.notebook else None,
        kept=kept,
    )
    if kept is None:
        return found
    from opcheck.emulate.script_plan import planned_calls

    process.begin("emulate", Sentence("looking for fixes on {target}", target=target))
    plan = planned_calls(kept, matrix, database.remedies(target), found.emulation)
    return replace(found, plan=plan)


def _set_up(environment: Environment | None) -> None:
    """Have the toolkit's variables say where it is, as its own set-up does on such a machine."""
    if environment is None or environment.toolkit is None:
        return
    toolkit = environment.toolkit
    if toolkit.places:
        for variable in toolkit.variables:
            os.environ.setdefault(variable, toolkit.places[0])
