"""What the worker does to hold a changed model against the unchanged one, or to change it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from opcheck.errors import EmulationError, OpcheckError, SourceError, TraceError, out_of_memory
from opcheck.model.work import GraphRequest, GraphRun, HostRequest, HostRun
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.select import select
from opcheck.worker.process import Process


def on_the_host(loaded: Loaded, request: HostRequest, process: Process) -> HostRun:
    """Run a model with values; keep its results, or compare them with those that were kept.

    Raises:
        EmulationError: the model fails.
    """
    import torch

    from opcheck.emulate.compare import differences
    from opcheck.emulate.play import Job, on_host
    from opcheck.trace.run import as_module

    process.send({"stage": "emulate", "progress": f"running {request.source} on the host"})
    try:
        results = on_host(Job(as_module(loaded.module), loaded.args, loaded.kwargs, train=False))
        if request.keep:
            torch.save(
                {name: tensor.contiguous() for name, tensor in results.items()}, request.keep
            )
        if not request.against:
            return HostRun(())
        return HostRun(differences(*_alike(results, _kept(request.against))))
    except RuntimeError as error:
        if out_of_memory(error):
            raise MemoryError from error
        raise


def write_graph(request: GraphRequest, process: Process, load: Callable[[], Loaded]) -> GraphRun:
    """Write an exported program anew with other calls in it; ``load`` gives what is to be exported.

    Raises:
        SourceError: the source cannot be read as a program, nor be exported.
        TraceError: the program cannot be traced anew.
    """
    import torch

    from opcheck.rewrite.extra import extra_rules
    from opcheck.rewrite.graph import rewritten

    program, guards = _program(request, process, load)
    process.send({"stage": "trace", "progress": "replacing calls in the exported program"})
    try:
        found = rewritten(program, request.replacements, extra_rules(request.rules))
    except (OpcheckError, MemoryError):
        raise
    except Exception as error:
        what = _brief(error)
        raise TraceError(
            f"{request.source}: torch cannot trace the changed program: {what}",
            "use --shim, or --diff for a Python file",
        ) from error
    found.program._guards_code = guards  # private, checked on 2.13.0
    torch.export.save(found.program, request.path)
    return GraphRun(found.left)


def _program(
    request: GraphRequest, process: Process, load: Callable[[], Loaded]
) -> tuple[Any, list[str]]:
    """The source as an exported program, and its conditions on inputs."""
    import torch

    if select(request.source).name == "pt2":
        from opcheck.source.building.pt2_program import exported_program, guards_of

        process.send({"stage": "load", "progress": f"loading {request.source}"})
        options = LoadOptions(trust=request.trust, weights=True)
        return exported_program(Path(request.source), options), guards_of(Path(request.source))
    from opcheck.trace.run import as_module

    loaded = load()
    process.send({"stage": "trace", "progress": f"exporting {request.source}"})
    try:
        with torch.no_grad():
            program = torch.export.export(
                as_module(loaded.module), loaded.args, dict(loaded.kwargs)
            )
    except (OpcheckError, MemoryError):
        raise
    except Exception as error:  # the user's model, and torch.export's many errors
        raise SourceError(
            f"{request.source}: torch.export cannot export the model: {_brief(error)}",
            "use --shim, or --diff for a Python file",
        ) from error
    return program, program._guards_code


def _brief(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _alike(results: dict[str, Any], kept: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both by the same names: a saved graph gives the same results in the same order, flat."""
    if len(results) == len(kept):
        results = dict(zip(kept, results.values(), strict=True))
    return results, kept


def _kept(file: str) -> dict[str, Any]:
    import torch

    found = torch.load(file, weights_only=True)
    if not isinstance(found, dict):
        raise EmulationError(f"{file} holds no results", "run it again")
    return found
