"""The process that runs the user's model: one request on stdin, messages as JSON lines on stdout.

Nothing but messages reaches that stdout: before any code of the user's runs, file descriptor 1
becomes stderr and the messages go to a private copy.
"""

import faulthandler
import gc
import json
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from opcheck.db.store import Database
from opcheck.errors import OpcheckError, out_of_memory
from opcheck.model.codec import from_json, to_json
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.report import ModelInfo
from opcheck.model.trace import Trace
from opcheck.model.work import STACK_SECONDS, DeviceWork, Job, WorkRequest, WorkResult
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.load import load

Send = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """Answer the one request."""
    job = from_json(Job, json.load(sys.stdin))
    send = _private_channel()
    _note_stack(job.stack, job.timeout)
    _limit_memory(job.memory)
    try:
        send({"result": to_json(_answer(job.request, send))})
    except OpcheckError as error:
        send({"error": [type(error).__name__, error.message, error.hint]})
    except MemoryError:
        what = f"needs more memory than the {job.memory / 2**30:.1f} GiB that it may use"
        send({"stopped": [what, job.memory_hint]})
    except SystemExit as error:
        send({"stopped": [f"ends the process ({error!r})", "take that call out"]})
    except BaseException:
        send({"crash": traceback.format_exc()})
    sys.stdout.flush()
    # threads and exit handlers of the user's are not waited for
    os._exit(0)


def _answer(request: WorkRequest | EmulationRequest, send: Send) -> WorkResult | Emulation:
    match request:
        case WorkRequest():
            return _trace(request, send)
        case EmulationRequest():
            return _emulate(request, send)


def _load(request: WorkRequest | EmulationRequest, send: Send, *, weights: bool) -> Loaded:
    send({"stage": "load", "progress": f"loading {request.source}"})
    inputs = tuple(InputSpec.parse(text) for text in request.inputs)
    return load(request.source, LoadOptions(inputs, request.trust, weights=weights))


def _trace(request: WorkRequest, send: Send) -> WorkResult:
    loaded = _load(request, send, weights=False)
    send({"stage": "trace", "progress": "tracing"})
    from opcheck.trace import trace_model  # needs torch: only once there is something to trace

    gc.freeze()  # what the libraries made stays: the collector need not look at it again and again

    def traced(work: WorkRequest | DeviceWork) -> Trace:
        return trace_model(
            loaded.module,
            loaded.args,
            loaded.kwargs,
            device_type=work.device_type,
            exact={target: frozenset(ops) for target, ops in work.exact.items()},
            casts=work.casts,
            inputs_given=bool(request.inputs),
            progress=lambda text: send({"stage": "trace", "progress": text}),
        )

    trace, others = traced(request), tuple(map(traced, request.others))
    return WorkResult(trace, loaded.kind, loaded.digest, loaded.notes, others)


def _emulate(request: EmulationRequest, send: Send) -> Emulation:
    try:
        found = _emulated(request, send)
    except RuntimeError as error:
        if out_of_memory(error):
            raise MemoryError from error
        raise
    if out_of_memory(found.error):
        raise MemoryError
    site = found.error_site
    if site is None or found.error_source:
        return found
    # it looks for the file along sys.path as well, where libraries are
    return replace(found, error_source=linecache.getline(site.file, site.line).strip())


def _emulated(request: EmulationRequest, send: Send) -> Emulation:
    database = Database.open(overlays=tuple(map(Path, request.databases)))
    target = database.resolve(request.target)
    matrix = database.matrix(target)
    loaded = _load(request, send, weights=request.values)
    send({"stage": "emulate", "progress": f"running on an emulated {target}"})
    from opcheck.emulate.run import emulate_model  # needs torch, as the tracer does

    gc.freeze()
    return emulate_model(
        loaded.module,
        loaded.args,
        loaded.kwargs,
        request=request,
        target=target,
        matrix=matrix,
        model=ModelInfo(request.source, loaded.kind, loaded.digest),
        progress=lambda text: send({"stage": "emulate", "progress": text}),
        notes=loaded.notes,
    )


def _private_channel() -> Send:
    sys.stdout.flush()
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdin.close()
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  # for the process's life

    def send(message: Mapping[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    return send


def _note_stack(path: str, timeout: float | None) -> None:
    """Write where the code stands to ``path`` if it crashes or shortly before time runs out."""
    stream = open(path, "w", encoding="utf-8")  # noqa: SIM115  # for the process's life
    faulthandler.enable(stream)
    if timeout is not None:
        faulthandler.dump_traceback_later(max(timeout - STACK_SECONDS, 0.01), file=stream)


def _limit_memory(limit: int) -> None:
    """Let allocations beyond ``limit`` bytes fail, where the platform can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # address space would count the libraries that torch maps; data counts what is allocated
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


if __name__ == "__main__":
    main()
