"""What the worker answers: a trace for each device type, or one emulated run."""

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from opcheck.db.by_hand.libraries import FOLDER, Schemas
from opcheck.db.store import Database
from opcheck.errors import out_of_memory
from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.exporting import ExportRequest, ExportRun
from opcheck.model.fusing import FuseSpec
from opcheck.model.jobs import GraphRequest, GraphRun, HostRequest, HostRun, Request
from opcheck.model.padding import PadSpec
from opcheck.model.plan import NodePlan
from opcheck.model.report import ModelInfo
from opcheck.model.script import ScriptRequest, ScriptRun
from opcheck.model.trace import Trace
from opcheck.model.work import DeviceWork, WorkRequest, WorkResult
from opcheck.python_state import freeze
from opcheck.sandbox.child.alike import Alike
from opcheck.sandbox.child.changed_model import on_the_host, write_graph
from opcheck.sandbox.child.copies import aside, can_copy, spread
from opcheck.sandbox.child.exported_model import exported
from opcheck.sandbox.child.fused_model import write_fused
from opcheck.sandbox.child.late_imports import leave_compiler_out, load_for_runs
from opcheck.sandbox.child.limits import Refusals
from opcheck.sandbox.child.older_torch import Hidden
from opcheck.sandbox.child.padded_model import pad
from opcheck.sandbox.child.process import Process, Ticks
from opcheck.sandbox.child.runs import Run, plan_targets, registered_alike, runs_of
from opcheck.sandbox.child.script import run
from opcheck.source import base
from opcheck.source.base import Loaded, options_of
from opcheck.source.draws import numpy_random
from opcheck.source.load import load
from opcheck.source.patched_imports import read_instead
from opcheck.source.patches import patched
from opcheck.source.user_code import is_users, library_prefixes, lines_of, shown

if TYPE_CHECKING:
    from opcheck.trace.running.device_asked import DeviceAsked
    from opcheck.trace.torch_internals.kernels import Kernels


_looked_at: set[str] = set()
"""Modules of which a look has told whether their file is the user's; copies begin with it."""
_own: set[str] = set()


def own_files() -> Mapping[str, str]:
    """Files whose code was imported by now, as reports show them -> digest; no library's."""
    libraries = library_prefixes()
    for name in sys.modules.keys() - _looked_at:
        file = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(file, str) and not file.startswith(libraries) and is_users(file):
            _own.add(file)
        _looked_at.add(name)
    return {shown(file): found for file in sorted(_own) if (found := _digest(file))}


@cache
def _digest(file: str) -> str:
    """Empty for what is no file, or one no longer."""
    try:
        return base.digest_of_file(Path(file))
    except OSError:
        return ""


T = TypeVar("T")


def answers(
    request: Request, process: Process, refusals: Refusals
) -> Iterator[WorkResult | Emulation | ScriptRun | HostRun | GraphRun | ExportRun]:
    """Do the work; in a copy of the process, only the part that is the copy's."""
    older = request.model.older_torch
    hidden = Hidden(older, Database.open(cached=False).tables) if older else None

    def loaded(*, weights: bool) -> Loaded:
        return _load(request, process, refusals, hidden, weights=weights)

    if not _runs_often(request):
        process.end_copying()
    match request:
        case WorkRequest():
            yield from _traces(request, process, loaded(weights=False), refusals, hidden)
        case EmulationRequest():
            yield _emulate(request, process, lambda: loaded(weights=request.values), refusals)
        case ScriptRequest():
            found = run(request, process, refusals, libraries=_libraries(request))
            yield replace(found, files=own_files())
        case ExportRequest():
            yield exported(request, process, lambda: loaded(weights=True))
        case HostRequest():
            yield on_the_host(loaded(weights=True), request, process)
        case GraphRequest(fuse=FuseSpec() as spec):
            yield write_fused(request, spec, process, lambda: loaded(weights=True))
        case GraphRequest(pad=PadSpec() as padding):
            yield pad(request, padding, process, loaded(weights=True))
        case GraphRequest():
            yield write_graph(request, process, lambda: loaded(weights=True))


def _runs_often(request: Request) -> bool:
    """Whether the model is run more than once: each run is then one of a copy of the process."""
    match request:
        case WorkRequest():
            works = [work for group in request.groups for work in group]
            return len(works) > 1 or request.model.step is not None or any(w.exact for w in works)
        case EmulationRequest():
            return request.check or request.values
        case _:
            return False


def _load(
    request: Request,
    process: Process,
    refusals: Refusals,
    hidden: Hidden | None,
    *,
    weights: bool,
) -> Loaded:
    process.begin("load", Sentence("loading {source}", source=request.model.source))
    with suppress(ImportError):  # told by what needs it
        leave_compiler_out()
        _note_compiled()
        refusals.watch_torch()
        if hidden is not None:  # before any library asks
            hidden.begin()
    options = replace(options_of(request, weights=weights), libraries=_libraries(request))
    read_instead(request.model.patched)
    _seed()
    found = load(request.model.source, options)
    if not request.model.patches:
        return found
    return replace(found, module=patched(found.module, request.model.patches))


def _note_compiled() -> None:
    from opcheck.trace.running import eager  # needs torch

    eager.prepare()


def _seed() -> None:
    """Have code that draws numbers while it builds a model draw the same ones each time."""
    random.seed(0)
    if drawn := numpy_random():
        drawn.seed(0)


def _libraries(request: Request) -> Schemas:
    """What is known of libraries that are not installed, the user's own files first."""
    return Schemas(Database.open().root / FOLDER, map(Path, request.model.schemas))


def _traces(
    request: WorkRequest,
    process: Process,
    loaded: Loaded,
    refusals: Refusals,
    hidden: Hidden | None,
) -> Iterator[WorkResult]:
    process.begin("trace", "tracing")
    from opcheck.trace import trace_model  # needs torch: only once there is something to trace
    from opcheck.trace.calls.launches import import_of
    from opcheck.trace.results import Journal
    from opcheck.trace.running.library_flags import libraries_know_torch
    from opcheck.trace.running.model_state import forget
    from opcheck.trace.sizes.dynamic import with_sizes

    freeze()  # what the libraries made stays: the collector need not look at it again and again

    def traced(number: int, work: DeviceWork, run: Run, asked: "DeviceAsked | None") -> WorkResult:
        def result(
            trace: Trace, plans: Mapping[str, tuple[NodePlan, ...]] = MappingProxyType({})
        ) -> WorkResult:
            kept = loaded.kind, loaded.digest, (*loaded.notes, *refusals.notes)
            return WorkResult(trace, *kept, plans, run.targets, own_files())

        ticks = Ticks(process)
        trace = trace_model(
            loaded.module,
            loaded.args,
            loaded.kwargs,
            device_type=work.device_type,
            exact={target: frozenset(ops) for target, ops in run.of(work.exact).items()},
            casts=work.casts,
            autocast=work.autocast,
            training=run.training,
            gradients=partial(registered_alike, work, request.databases),
            inputs_given=bool(request.model.inputs),
            costs=request.costs,
            progress=ticks.begin,
            journal=Journal(process.journal(number), result, ticks.calls),
            device_kernels=shared,
            unseen=loaded.unseen,
            apart=_apart(request, process),
            asked=asked,
        )
        if trace.costs is not None:
            costs = replace(trace.costs, in_training=loaded.in_training)
            trace = replace(trace, costs=costs)
        trace = with_sizes(
            trace,
            request.model.dynamic,
            loaded.module,
            loaded.args,
            loaded.kwargs,
            casts=work.casts,
            autocast=work.autocast,
            progress=ticks.begin,
        )
        if hidden is not None:
            trace = replace(trace, older=hidden.told)
        if loaded.imports:
            made = [import_of(file, line) for _, file, line in loaded.imports]
            trace = replace(trace, launches=tuple(sorted((*trace.launches, *made))))
        plan = [target for target in work.plan if run.holds_for(target)]
        if not plan:
            return result(trace)
        rules, databases = request.rules, request.databases
        return result(trace, plan_targets(trace, work, run, plan, rules, databases, ticks.begin))

    numbers = count()
    groups = [
        [
            (next(numbers), work, run)
            for work in group
            for run in runs_of(work, request.model.step, request.databases)
        ]
        for group in request.groups
    ]
    works = [one for group in groups for one in group]
    copied = len(works) > 1 and can_copy(process)
    works = works if copied else groups[0]
    process.send({"answers": len(works)})
    alike = Alike(request, works if copied else (), process.at_once)
    if copied:
        load_for_runs(training=request.model.step is not None)
        own_files()
    shared = _shared_kernels(request)
    for done, one in enumerate(spread(alike, process) if copied else works):
        _, work, run = one
        if done:
            forget()
        asked = alike.watched(one)
        with libraries_know_torch(run.torch(work)):
            found = traced(*one, asked)
        yield replace(found, alike=alike.found(one, found.trace, asked)) if asked else found


def _apart(
    request: Request, process: Process
) -> Callable[[Sequence[Callable[[], T]]], Sequence[Callable[[], T]]]:
    """How several runs of the model are kept from what each leaves in caches."""
    from opcheck.trace.running.model_state import here

    def begun(works: Sequence[Callable[[], T]]) -> Sequence[Callable[[], T]]:
        if works and can_copy(process):
            load_for_runs(training=request.model.step is not None)
            return aside(process, works)
        process.end_copying()
        return here(works)

    return begun


def _shared_kernels(request: WorkRequest) -> "Kernels | None":
    """Kernels that all traces have; None where something traces by itself between them."""
    from opcheck.trace.torch_internals.autocast import falling_through
    from opcheck.trace.torch_internals.kernels import Kernels

    works = chain.from_iterable(request.groups)
    if request.model.dynamic or any(work.plan for work in works):
        return None
    falling_through()
    return Kernels().stay(implicit=request.model.step is None)


def _emulate(
    request: EmulationRequest,
    process: Process,
    load_model: Callable[[], Loaded],
    refusals: Refusals,
) -> Emulation:
    try:
        found = _emulated(request, process, load_model)
    except RuntimeError as error:
        if out_of_memory(error):
            raise MemoryError from error
        raise
    if out_of_memory(found.error):
        raise MemoryError
    found = replace(found, notes=(*found.notes, *refusals.notes))
    site = found.error_site
    if site is None or found.error_source:
        return found
    # it looks for the file along sys.path as well, where libraries are
    lines = lines_of(site.file)
    text = lines[site.line - 1].strip() if 0 < site.line <= len(lines) else ""
    return replace(found, error_source=text)


def _emulated(
    request: EmulationRequest, process: Process, load_model: Callable[[], Loaded]
) -> Emulation:
    database = Database.open(overlays=tuple(map(Path, request.databases)))
    target = database.resolve(request.target)
    matrix = database.matrix(target)
    loaded = load_model()
    process.begin("emulate", Sentence("running on an emulated {target}", target=target))
    from opcheck.emulate.run import emulate_model  # needs torch, as the tracer does

    freeze()
    return emulate_model(
        loaded.module,
        loaded.args,
        loaded.kwargs,
        request=request,
        target=target,
        matrix=matrix,
        model=ModelInfo(request.model.source, loaded.kind, loaded.digest),
        progress=lambda text: process.begin("emulate", text),
        notes=loaded.notes,
        gaps=loaded.unseen,
        journal=process.journal(0),
        apart=_apart(request, process),
    )
