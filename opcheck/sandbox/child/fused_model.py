"""A model's program with calls fused into a vendor's kernels: proved on the host, and written."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from opcheck.errors import OpcheckError, TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.fusing import FusedCalls, FuseRun, FuseSpec
from opcheck.model.jobs import GraphRequest, GraphRun
from opcheck.sandbox.child.changed_model import brief, program_of
from opcheck.sandbox.child.process import Process
from opcheck.source.base import Loaded

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from opcheck.rewrite.fusing.base import Fusion
    from opcheck.rewrite.fusing.program import Site


def write_fused(
    request: GraphRequest, spec: FuseSpec, process: Process, load: Callable[[], Loaded]
) -> GraphRun:
    """Write a program with calls fused; ``load`` gives what is to be exported.

    Raises:
        SourceError: the source cannot be read as a program, nor be exported.
        TraceError: the program cannot be run, as it was or fused.
    """
    program, guards, module = program_of(request, process, load)
    process.begin("trace", "fusing calls of the exported program")
    try:
        return GraphRun({}, _fused(program, guards, module, request, spec))
    except (OpcheckError, MemoryError):
        raise
    except Exception as error:  # of a program that torch cannot run or trace anew
        raise TraceError(
            Sentence(
                "{text}: its program cannot be run with calls fused: {text_why}",
                text=request.model.source,
                text_why=brief(error),
            )
        ) from error


def _fused(
    program: "ExportedProgram",
    guards: list[str],
    module: object,
    request: GraphRequest,
    spec: FuseSpec,
) -> FuseRun:
    import torch

    from opcheck.rewrite.fusing.costs import graph_cost
    from opcheck.rewrite.fusing.layers import layers_of
    from opcheck.rewrite.fusing.operators import declare, module_text
    from opcheck.rewrite.fusing.program import fused
    from opcheck.rewrite.fusing.proving import Before

    fusions = _for_target(spec, request.rules)
    declare(fusions)
    before = Before(program)
    calls, moved = graph_cost(program.graph_module.graph)
    found = fused(program, fusions, spec.chip, spec.modules)
    if not found.sites:
        return FuseRun((), found.left, None, calls=calls, moved=moved)
    layers = layers_of(module, found) if isinstance(module, torch.nn.Module) else ()
    made, check = before.compared(found)
    made._guards_code = guards  # private, checked on 2.13.0; no older torch reads it
    torch.export.save(made, request.path)
    operators = [one for fusion in _used(found.sites) for one in fusion.operators]
    return FuseRun(
        tuple(_told(found.sites)), found.left, check,
        module_text(operators, spec.chip) if operators else "", layers, calls, moved,
    )  # fmt: skip


def _for_target(spec: FuseSpec, folders: Sequence[str]) -> "list[Fusion]":
    """Those that the target has a kernel for, the vendor's own operators first."""
    from opcheck.rewrite.extra import extra_fusions
    from opcheck.rewrite.fusing.base import fusions

    there = frozenset(spec.kernels)
    own = [*extra_fusions(folders), *sorted(fusions(), key=lambda one: not one.operators)]
    kept = [fusion for fusion in own if fusion.name not in spec.without]
    return [fusion for fusion in kept if not there.isdisjoint(fusion.kernels)]


def _used(sites: "Sequence[Site]") -> "list[Fusion]":
    return list(dict.fromkeys(site.fusion for site in sites))


def _told(sites: "Sequence[Site]") -> Iterator[FusedCalls]:
    from opcheck.rewrite.fusing.proving import checked

    for fusion in _used(sites):
        here = [site for site in sites if site.fusion is fusion]
        yield FusedCalls(
            rule=fusion.name,
            summary=fusion.summary,
            kernel=fusion.kernels[0],
            kernels=fusion.kernels,
            label=fusion.label,
            tolerance=fusion.tolerance,
            modules=tuple(site.module for site in reversed(here)),  # found from the end
            calls_before=sum(site.before[0] for site in here),
            calls_after=sum(site.after[0] for site in here),
            bytes_before=sum(site.before[1] for site in here),
            bytes_after=sum(site.after[1] for site in here),
            checks=checked(here),
            references=fusion.references,
        )
