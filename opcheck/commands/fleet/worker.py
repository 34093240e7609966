"""Whoever does jobs, one after the other: torch is loaded once, each model has its own process.

``python -m opcheck.commands.fleet.worker`` is a worker of the local engine: the first line of
its stdin is the setup, then a job a line; what came of each is a line of its stdout. It ends
with its parent.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from opcheck import device_types
from opcheck.commands.fleet.blockers import blockers
from opcheck.commands.fleet.engine import ATTEMPTS, Setup
from opcheck.commands.fleet.scripts import ending_of, script_outcome
from opcheck.commands.fleet.traces import casts_of, has_autocast, restored, stored
from opcheck.commands.fleet.values import Done, Ending, Job, Outcome, TargetResult, target_result
from opcheck.db.store import Database
from opcheck.device_types import Scanned, Traced
from opcheck.errors import OpcheckError, Stop
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import from_json, to_json
from opcheck.model.jobs import Request
from opcheck.model.matrix import SupportMatrix
from opcheck.model.request import ScanRequest
from opcheck.model.script import ScriptRequest
from opcheck.model.trace import Trace
from opcheck.model.work import CutShortError, DeviceWork, WorkRequest, WorkResult
from opcheck.pipeline.reports import graph_digest, nothing_called
from opcheck.resolve.findings import Walks, summary
from opcheck.sandbox.parent.preloaded import Template, copied_from, current
from opcheck.sandbox.parent.process import environment
from opcheck.sandbox.parent.run import check, run
from opcheck.sandbox.reaper import end_with_parent

_Results = Mapping[str, tuple[WorkResult, ...]]
"""By device type."""


class Worker:
    """Does jobs; leaving the ``with`` block ends what it keeps."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._template = Template(setup.libraries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._template.close()

    def outcome(self, job: Job) -> Outcome:
        """What comes of one job; never an error of the model's."""
        try:
            known = restored(job.traces, job.casts)
        except ValueError:  # what the store has is damaged: the model is traced anew
            known, job = {}, replace(job, traces=())
        try:
            if job.script is not None:
                return self._ran(job, job.script)
            return self._found(job, self._traced(job, known))
        except CutShortError as error:
            until_then = self._found(job, _by_type(error.results))
            return replace(_failed(error, until_then), traces=())
        except OpcheckError as error:
            return _failed(error, Outcome(Ending.FAILED))
        except Exception as error:  # a bug of ours over one model is not the others'
            return _bug(error)

    @cached_property
    def _database(self) -> Database:
        return Database.open(overlays=tuple(map(Path, self._setup.databases)))

    def _matrices(self, request: ScanRequest) -> tuple[SupportMatrix, ...]:
        return tuple(self._database.matrix(self._database.resolve(t)) for t in request.targets)

    def _traced(self, job: Job, known: _Results) -> _Results:
        """The traces that the job needs: those that are known, and the others made now."""
        matrices = self._matrices(job.request)
        missing = [m for m in matrices if m.target.device_type not in known]
        for attempt in range(ATTEMPTS if missing else 0):
            try:
                return {**known, **_by_type(self._run(job, missing))}
            except OpcheckError as error:
                # by somebody else, or by the kernel for what others took: it may go well now
                if error.stop is not Stop.KILLED or attempt == ATTEMPTS - 1:
                    raise
        return known

    def _run(self, job: Job, missing: Sequence[SupportMatrix]) -> tuple[WorkResult, ...]:
        request = job.request
        groups = tuple(
            tuple(_cast_for_all(work, job.casts[work.device_type]) for work in group)
            for group in device_types.processes(missing)
        )
        asked = WorkRequest(request.model, groups, request.databases)
        check(asked)  # a file that is gone is no reason to load torch
        with self._loaded(asked):
            return run(asked, alone=True, beside=self._setup.workers or 1)

    def _ran(self, job: Job, script: ScriptRequest) -> Outcome:
        there = script.script.module or Path(script.script.name).is_file()
        with self._loaded(script) if there else nullcontext():
            return script_outcome(job, script, beside=self._setup.workers or 1)

    @contextmanager
    def _loaded(self, asked: Request) -> Iterator[None]:
        """Have PyTorch loaded for what is asked, before the time of that begins."""
        with copied_from(self._template):
            if current() is not None:
                self._template.load(environment(asked))
            yield

    def _found(self, job: Job, traced: _Results) -> Outcome:
        """The traces compared with every target of the job."""
        results = [result for group in traced.values() for result in group]
        first = results[0]
        parts = tuple(Traced(result.trace, result.targets) for result in results)
        scanned = Scanned(parts, first.kind, first.digest, first.notes)
        if scanned.empty:
            raise nothing_called(job.request.model.source)
        info = scanned.info()
        known = {trace.name for trace in job.traces}
        walks = Walks()  # targets of one vendor mostly agree, call for call
        return Outcome(
            Ending.SCANNED,
            kind=first.kind,
            digest=first.digest or graph_digest(scanned.first),
            torch_version=scanned.first.torch_version,
            calls=info.calls,
            operators=info.operators,
            gaps=tuple(f"{gap.where}: {gap.reason}" for gap in info.gaps),
            targets=tuple(
                _held(scanned.of(m.target), m, walks) for m in self._matrices(job.request)
            ),
            traces=tuple(t for t in stored(results, job.casts) if t.name not in known),
            files={file: digest for result in results for file, digest in result.files.items()},
        )


def _bug(error: Exception) -> Outcome:
    told = f"opcheck failed: {type(error).__name__}: {error}".splitlines()
    hint = Sentence("this is a bug in opcheck; please report it")
    return Outcome(Ending.FAILED, told[-1], hint)


def _cast_for_all(work: DeviceWork, casts: str) -> DeviceWork:
    """What to trace, cast as on all targets of the run, of which some may be known already."""
    autocast = work.autocast if has_autocast(casts) else {}
    return replace(work, exact={}, casts=casts_of(casts), autocast=autocast)


def _by_type(results: Sequence[WorkResult]) -> _Results:
    found: dict[str, tuple[WorkResult, ...]] = {}
    for result in results:
        device_type = result.trace.device_type
        found[device_type] = (*found.get(device_type, ()), result)
    return found


def _failed(error: OpcheckError, until_then: Outcome) -> Outcome:
    """The outcome of an error, with what is known until then."""
    return replace(
        until_then,
        ending=ending_of(error),
        reason=error.message,
        hint=error.hint,
        files=error.files or until_then.files,
    )


def _held(trace: Trace, matrix: SupportMatrix, walks: Walks) -> TargetResult:
    """One trace compared with one target; ``walks`` know what was found on others."""
    walk = walks.over(trace, matrix)
    return target_result(
        str(matrix.target), matrix.database_digest, summary(trace, walk), blockers(trace, walk)
    )


def main() -> None:
    """Do jobs until there are no more."""
    end_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what anything prints is no answer
    name = str(os.getpid())
    with Worker(from_json(Setup, json.loads(sys.stdin.readline()))) as worker:
        for line in sys.stdin:
            job = from_json(Job, json.loads(line))
            begun = time.monotonic()
            outcome = worker.outcome(job)
            done = Done(job.position, outcome, time.monotonic() - begun, name)
            out.write(json.dumps(to_json(done), separators=(",", ":")) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
