"""What the worker does to change a model: its exported program, written anew."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from opcheck.errors import OpcheckError, SourceError, TraceError
from opcheck.model.work import GraphRequest, GraphRun
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.load import select
from opcheck.worker.process import Process


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
            f"{request.model.source}: torch cannot trace the changed program: {what}",
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

    if select(request.model.source).name == "pt2":
        from opcheck.source.building.pt2.program import exported_program, guards_of

        process.send({"stage": "load", "progress": f"loading {request.model.source}"})
        options = LoadOptions(trust=request.model.trust, weights=True)
        return exported_program(Path(request.model.source), options), guards_of(
            Path(request.model.source)
        )
    from opcheck.trace.run import as_module

    loaded = load()
    process.send({"stage": "trace", "progress": f"exporting {request.model.source}"})
    try:
        with torch.no_grad():
            program = torch.export.export(
                as_module(loaded.module), loaded.args, dict(loaded.kwargs)
            )
    except (OpcheckError, MemoryError):
        raise
    except Exception as error:  # the user's model, and torch.export's many errors
        raise SourceError(
            f"{request.model.source}: torch.export cannot export the model: {_brief(error)}",
            "use --shim, or --diff for a Python file",
        ) from error
    return program, program._guards_code


def _brief(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
