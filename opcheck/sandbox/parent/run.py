"""Load a model in a process of its own, and trace it or run it on an emulated device there."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from opcheck.db.files.index import cache_folder
from opcheck.errors import SourceError, TerminatedError
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import sentence_from_json
from opcheck.model.emulation import Emulation, EmulationRequest, PartialEmulationError
from opcheck.model.exporting import ExportRequest, ExportRun
from opcheck.model.jobs import AT_ONCE, GraphRequest, GraphRun, HostRequest, HostRun, Request
from opcheck.model.script import Ending, PartialRunError, ScriptRequest, ScriptRun, Write
from opcheck.model.work import DeviceWork, WorkRequest, WorkResult
from opcheck.sandbox import command_line
from opcheck.sandbox.parent.limits import is_code
from opcheck.sandbox.parent.process import environment
from opcheck.sandbox.parent.work import Say, Work, ignore
from opcheck.source.base import options_of
from opcheck.source.load import select
from opcheck.source.user_code import shown


def names_of(kind: str) -> tuple[str, ...]:
    """Every name of a source kind that has a list of them, in the library's own order.

    Raises:
        SourceError: the library is not installed, or fails.
    """
    done = subprocess.run(
        [sys.executable, "-P", "-m", "opcheck.sandbox.child.model_names", kind],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**environment(None)},
        check=False,
    )
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise SourceError(
            Sentence("{kind} cannot tell which models it has: {text}", kind=kind, text=last)
        ) from error
    if "error" in found:
        message, hint = map(sentence_from_json, found["error"])
        raise SourceError(message, hint)
    return tuple(found["names"])


def run(
    request: WorkRequest,
    *,
    progress: Say = ignore,
    output: Say = ignore,
    heard: Callable[[WorkResult], object] = lambda _: None,
    alone: bool = False,
    beside: int = 1,
) -> tuple[WorkResult, ...]:
    """Trace a model for each device type requested; ``heard`` hears of each when it is done.

    ``alone``: no two copies of its process work at a time; ``beside``: how many such processes
    share the machine's memory where no limit was given.

    What can be refused without torch is refused before a process is started. Where that process
    could not be copied, others load the model again for the device types that stand apart; the
    listeners hear nothing of those, which do the same again.
    """
    check(request)
    at_once = 1 if alone else AT_ONCE
    with Work(request, WorkResult, beside=beside, at_once=at_once) as work:
        results = _in_order(request, work.results(progress, output, heard))
    traced = {result.trace.device_type for result in results}
    apart = request.groups[1:]
    if all(work.device_type in traced for group in apart for work in group):
        return results
    return (*results, *_apart(request, apart))


def _in_order(request: WorkRequest, results: Sequence[WorkResult]) -> tuple[WorkResult, ...]:
    """The results as their device types were asked for: those of others may come sooner."""
    types = [work.device_type for group in request.groups for work in group]
    return tuple(sorted(results, key=lambda result: types.index(result.trace.device_type)))


def _apart(request: WorkRequest, groups: Sequence[tuple[DeviceWork, ...]]) -> Sequence[WorkResult]:
    """Trace for further groups of device types, in a process each, some at a time."""
    alone = [replace(request, groups=(group,)) for group in groups]
    done: list[WorkResult] = []
    for start in range(0, len(alone), AT_ONCE):
        batch = alone[start : start + AT_ONCE]
        with contextlib.ExitStack() as ends:
            works = [ends.enter_context(Work(one, WorkResult, beside=len(batch))) for one in batch]
            done += [result for work in works for result in work.results()]
    return done


def emulate(
    request: EmulationRequest, *, progress: Say = ignore, output: Say = ignore
) -> Emulation:
    """Run a model on an emulated device; refuses without a process what :func:`run` does."""
    check(request)
    with Work(request, Emulation) as work:
        (found,) = work.results(progress, output)
        return found


def script(
    request: ScriptRequest, *, progress: Say = ignore, output: Say = ignore, beside: int = 1
) -> ScriptRun:
    """Run a script on an emulated device, in this process's working directory.

    ``beside`` is as in :func:`run`.

    Raises:
        PartialRunError: its process ended before it did, or was interrupted.
    """
    with Work(request, ScriptRun, beside=beside) as work:
        try:
            (found,) = work.results(progress, output)
        except PartialEmulationError as error:
            raise _partly(request, work, error) from error
        except (KeyboardInterrupt, TerminatedError) as stop:
            if request.on_cpu:  # what is asked about has not begun
                raise
            ended = work.interrupted("SIGTERM" if isinstance(stop, TerminatedError) else "")
            if isinstance(ended, PartialEmulationError):
                raise _partly(request, work, ended) from None
            raise
        return replace(found, writes=_writes(work))


def _partly(
    request: ScriptRequest, work: Work[ScriptRun], error: PartialEmulationError
) -> PartialRunError:
    run = ScriptRun(
        request.script, error.emulation, Ending.CUT, steps=error.steps, forwards=error.forwards,
        writes=_writes(work),
    )  # fmt: skip
    return PartialRunError(error, run)


def _writes(work: Work[ScriptRun]) -> tuple[Write, ...]:
    """What the script wrote: what is known of targets is kept in a place of our own."""
    ours = str(cache_folder() or "")
    return tuple(
        sorted(
            Write(shown(path), nbytes)
            for path, nbytes in work.written
            if not (ours and path.startswith(f"{ours}{os.sep}"))
        )
    )


def on_host(request: HostRequest, *, progress: Say = ignore, output: Say = ignore) -> HostRun:
    """Run a model on the host, with values; refuses without a process what :func:`run` does."""
    check(request)
    with Work(request, HostRun) as work:
        (found,) = work.results(progress, output)
        return found


def rewrite(request: GraphRequest, *, progress: Say = ignore, output: Say = ignore) -> GraphRun:
    """Write a program anew; refuses without a process what :func:`run` does."""
    check(request)
    with Work(request, GraphRun) as work:
        (found,) = work.results(progress, output)
        return found


def export(request: ExportRequest, *, progress: Say = ignore, output: Say = ignore) -> ExportRun:
    """Export a model; refuses without a process what :func:`run` does."""
    check(request)
    with Work(request, ExportRun) as work:
        (found,) = work.results(progress, output)
        return found


def check(request: Request) -> None:
    """Raise what can be known to be wrong with a request without torch."""
    if not is_code(request):
        command_line.current().begin((cache_folder() or "",))
    select(request.model.source).check(request.model.source, options_of(request))
