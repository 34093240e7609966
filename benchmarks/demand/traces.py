"""Models traced for all targets, a file for each mode: what is there already is not traced again.

A forward is traced once, under the name of one device type, and holds for all types, renamed; a
training step is traced for the largest set of targets that differentiate alike of each of two
types. Each model is loaded once for all of its modes, in a copy of a process that has the libraries
and the device's kernels: to load them anew took more time than to trace.
"""

import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.demand.models import Entry
from benchmarks.demand.smaller import smaller
from opcheck.errors import OpcheckError
from opcheck.lang.speech import tell
from opcheck.model.codec import to_json
from opcheck.model.matrix import SupportMatrix
from opcheck.model.work import WorkRequest, WorkResult
from opcheck.sandbox.parent.answers import Results

if TYPE_CHECKING:
    from opcheck.source.base import Loaded
    from opcheck.trace.torch_internals.kernels import Kernels

LIBRARIES = ("torch", "torchvision", "timm", "transformers")
SHARED = "npu"
"""Whose trace of a forward all types share."""
STEPPED = ("npu", "cuda")
"""Types that a training step is traced for."""
PROCESSOR_SECONDS = 60
"""That a model may take in all of its modes."""
MEMORY = 6 << 30


class Stepping(NamedTuple):
    """Targets of one type that differentiate alike."""

    device_type: str
    targets: tuple[str, ...]
    registered: Any


class Traces:
    """The folder of what was traced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._last: tuple[str, Mapping[str, Any]] = ("", {})

    def path(self, entry: Entry) -> Path:
        """The file of one entry."""
        return self._folder / f"{slug(entry)}.z"

    def make(self, entries: Sequence[Entry], matrices: Sequence[SupportMatrix]) -> Iterator[str]:
        """Trace what is missing; a line for each model."""
        missing = [entry for entry in entries if not self.path(entry).exists()]
        if not missing:
            return
        kernels, steppings = _prepared(), [*stepped(matrices)]
        for source, group in groupby(missing, key=lambda entry: entry.spec.source):
            modes = [*group]
            begun = time.monotonic()
            status = _in_copy(partial(self._all, modes, kernels, steppings))
            for entry in modes:
                if not self.path(entry).exists():
                    self._keep(entry, f"its process ended with {status}", {})
            errors = [self.error(entry) for entry in modes]
            took = time.monotonic() - begun
            yield f"{source} {len(modes)} {took:.1f} s {next(filter(None, errors), '')}"

    def _all(
        self, entries: Sequence[Entry], kernels: "Kernels", steppings: Sequence[Stepping]
    ) -> None:
        self._forwards([entry for entry in entries if entry.spec.step is None], kernels)
        for entry in entries:
            if entry.spec.step is not None:
                self._one(entry, partial(self._step, entry, kernels, steppings))

    def _forwards(self, entries: Sequence[Entry], kernels: "Kernels") -> None:
        """All modes of a forward of one model, or of each why it cannot be loaded."""
        try:
            loaded = _loaded(entries[0], self._folder.parent) if entries else None
        except Exception as failed:  # of a library, told as it is
            for entry in entries:
                self._keep(entry, _told(failed), {})
            return
        for entry in entries:
            assert loaded is not None  # there are some
            self._one(entry, partial(_forward, loaded, entry.mode, kernels))

    def _step(
        self, entry: Entry, kernels: "Kernels", steppings: Sequence[Stepping]
    ) -> Mapping[str, WorkResult]:
        loaded = _loaded(entry, self._folder.parent)
        return {each.device_type: _trained(loaded, entry, each, kernels) for each in steppings}

    def _one(self, entry: Entry, traced: Callable[[], Mapping[str, WorkResult]]) -> None:
        try:
            results, error = traced(), ""
        except Exception as failed:  # of a library, told as it is
            results, error = {}, _told(failed)
        self._keep(entry, error, results)

    def _keep(self, entry: Entry, error: str, results: Mapping[str, WorkResult]) -> None:
        kept = {"error": error, "results": {kind: [to_json(one)] for kind, one in results.items()}}
        place = self.path(entry)
        place.with_suffix(".part").write_bytes(zlib.compress(json.dumps(kept).encode()))
        place.with_suffix(".part").rename(place)

    def error(self, entry: Entry) -> str | None:
        """Why an entry could not be traced; "" where it was; None where nobody has tried."""
        if not self.path(entry).exists():
            return None
        return str(self._kept(entry)["error"])

    def read(self, entry: Entry, device_type: str) -> tuple[WorkResult, ...]:
        """What was traced for a device type."""
        kept = self._kept(entry)["results"]
        found = kept.get(device_type, [])
        if entry.spec.step is None and device_type != SHARED:
            text = json.dumps(kept.get(SHARED, []))
            found = json.loads(text.replace(f'"{SHARED}"', f'"{device_type}"'))
        results = Results()
        return tuple(results.read(one) for one in found)

    def _kept(self, entry: Entry) -> Mapping[str, Any]:
        """What a file has; that of the last one asked for is at hand."""
        if self._last[0] != entry.name:
            self._last = entry.name, json.loads(zlib.decompress(self.path(entry).read_bytes()))
        return self._last[1]


def _told(error: Exception) -> str:
    """An error in one line."""
    own = tell(error.message) if isinstance(error, OpcheckError) else ""
    return (own or f"{type(error).__name__}: {error}").splitlines()[0]


def slug(entry: Entry) -> str:
    """A name for files."""
    return entry.name.replace("/", "-").replace(":", ".").replace(" ", "-")


def stepped(matrices: Sequence[SupportMatrix]) -> Iterator[Stepping]:
    """Of each type that a step is traced for, the largest set that differentiates alike."""
    from opcheck.emulate.gradients import by_registrations

    found = [m for m in matrices if not m.compiles_graphs]
    for device_type in STEPPED:
        of_type = [m for m in found if m.target.device_type == device_type]
        if not of_type:
            continue
        registered, group = max(by_registrations(of_type), key=lambda each: len(each[1]))
        yield Stepping(device_type, tuple(str(m.target) for m in group), registered)


def _prepared() -> "Kernels":
    """Load what every model comes to need, as the process does that workers are copies of."""
    from opcheck.sandbox.child.late_imports import leave_compiler_out, load_for_runs
    from opcheck.source.building import processes, torchvision_operators
    from opcheck.trace.running import eager
    from opcheck.trace.torch_internals.autocast import falling_through
    from opcheck.trace.torch_internals.kernels import Kernels

    torchvision_operators.prepare()
    processes.prepare()
    for library in (*LIBRARIES, "tests.zoo", "opcheck.trace.run", "opcheck.source.load"):
        importlib.import_module(library)
    torchvision_operators.settle()
    leave_compiler_out()
    eager.prepare()
    load_for_runs(training=True)
    falling_through()
    kernels = Kernels().stay(implicit=False)
    gc.collect()
    gc.freeze()
    return kernels


def _in_copy(work: Callable[[], None]) -> int:
    """Do something in a copy of this process; gives how that ended."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 1
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        work()
        code = 0
    finally:
        os._exit(code)


def _loaded(entry: Entry, folder: Path) -> "Loaded":
    from opcheck.source.base import options_of
    from opcheck.source.load import load

    small = smaller(entry, folder)
    return load(small.spec.source, options_of(WorkRequest(small.spec, ())))


def _forward(loaded: "Loaded", mode: str, kernels: "Kernels") -> Mapping[str, WorkResult]:
    import torch

    from benchmarks.demand.modes import in_mode
    from opcheck.trace import trace_model
    from opcheck.trace.running.model_state import forget

    model, args, kwargs = in_mode(mode, loaded.module, loaded.args, loaded.kwargs)
    with torch.no_grad():
        trace = trace_model(model, args, kwargs, device_type=SHARED, device_kernels=kernels)
    forget()
    return {SHARED: WorkResult(trace, loaded.kind, loaded.digest)}


def _trained(loaded: "Loaded", entry: Entry, on: Stepping, kernels: "Kernels") -> WorkResult:
    from opcheck.source.building.training_data import loss_named
    from opcheck.trace import trace_model
    from opcheck.trace.running.model_state import forget
    from opcheck.trace.running.training import Training
    from opcheck.trace.running.training_step import TrainingStep

    assert entry.spec.step is not None
    step = TrainingStep.of(entry.spec.step, loss_named(entry.spec.step.loss))
    trace = trace_model(
        loaded.module, loaded.args, loaded.kwargs, device_type=on.device_type,
        training=Training(step, on.registered), device_kernels=kernels,
    )  # fmt: skip
    forget()
    return WorkResult(trace, loaded.kind, loaded.digest, targets=on.targets)
