"""A device tried in processes of their own, which it may end or hang without ending ours.

Many samples share a process, since to start one takes seconds. Where it ends or hangs, what it said
last names the sample and the call. The sample is then run alone: one that goes through alone was
hit by something before it in its process, which is looked for by halves.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import from_json, sentence_from_json, to_json
from opcheck.model.probe import Finished, Observed, Outcome, ProbeJob, Sample, Tried, Unit
from opcheck.sandbox.parent.process import ERRORS, signal_name

PYTHON = (sys.executable, "-P")
"""A file of the user's named like a library must not be taken for it."""
_EMULATED = {"CUDA_VISIBLE_DEVICES": "-1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


class Child:
    """The process, heard line by line."""

    def __init__(self, job: ProbeJob, program: Sequence[str] = PYTHON) -> None:
        """``program``: what runs a module, as Python does."""
        package = str(Path(__file__).resolve().parents[3])
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        self._heard: queue.Queue[dict[str, Any]] = queue.Queue()
        self._popen = subprocess.Popen(
            [*program, "-m", "opcheck.sandbox.child.probe"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={
                **os.environ,
                **(_EMULATED if job.emulated else {}),
                "PYTHONPATH": os.pathsep.join([*paths, package]),
                "PYTHONUTF8": "1",
            },
            start_new_session=True,
        )
        assert self._popen.stdin is not None  # asked for above
        with contextlib.suppress(BrokenPipeError), self._popen.stdin as pipe:
            pipe.write(json.dumps(to_json(job)))
        threading.Thread(target=self._listen, daemon=True).start()

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None where there is none for so long."""
        try:
            return self._heard.get(timeout=seconds)
        except queue.Empty:
            return None

    def kill(self) -> None:
        """End the process and what it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.kill()
        self._popen.wait()

    def _listen(self) -> None:
        assert self._popen.stdout is not None  # asked for above
        for line in self._popen.stdout:
            with contextlib.suppress(ValueError):  # a line that was cut short
                message = json.loads(line)
                if isinstance(message, dict):
                    self._heard.put(message)
        self._heard.put({"ended": _how(self._popen.wait())})


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal_name(-code)


START_SECONDS = 300.0
"""What loading torch, its test database and a vendor's runtime may take."""
BATCH = 24
"""Units that share a process."""
Keep = Callable[[Finished], None]


class Message(Struct):
    """What one process said until it ended."""

    device: Tried | None = None
    units: list[Unit] = field(default_factory=list)
    finished: list[Finished] = field(default_factory=list)
    running: Sample | None = None
    """The sample that it had begun when it ended; None where it came to its end."""
    call: Observed | None = None
    """The call of that sample that it had begun."""
    ended: str = ""
    """How it ended, if not by itself."""
    hung: bool = False

    @property
    def whole(self) -> bool:
        """Whether it did all that it was to do."""
        return not self.ended


class Prober:
    """Runs jobs, each in a process, and says what came of every sample."""

    def __init__(self, job: ProbeJob, timeout: float, program: Sequence[str] = PYTHON) -> None:
        """``job`` holds what every process is told; ``timeout``: seconds for one sample."""
        self._job = job
        self._timeout = timeout
        self._program = program

    def survey(self) -> tuple[Tried, tuple[Unit, ...]]:
        """The device, and the units that there are.

        Raises:
            EmulationError: there is no such device, or its process ended.
        """
        told = self._heard(replace(self._job, units=None))
        if told.device is None or not told.whole:
            raise EmulationError(
                Sentence(
                    "the process that looks for the device {said}",
                    said=told.ended or Sentence("said nothing"),
                ),
                Sentence("import torch and the vendor's plugin by hand to see what they say"),
            )
        return told.device, tuple(told.units)

    def run(self, units: Sequence[Unit], keep: Keep) -> None:
        """Run every sample of some units, whatever they do to their process.

        ``keep`` gets each as soon as it was run.

        Raises:
            EmulationError: the device is no longer there.
        """
        todo = list(units)
        while todo:
            told = self._heard(self._of(todo), keep)
            if told.whole:
                return
            if told.running is None:
                raise EmulationError(
                    Sentence(
                        "the process that tries the device {said} between samples", said=told.ended
                    ),
                    Sentence("see whether the device is still well; what was run is kept"),
                )
            for each in self._blamed(told):
                keep(each)
            todo = _left(todo, told.running)

    def _blamed(self, told: Message) -> Iterable[Finished]:
        """What is to be said of the sample that the process ended at."""
        at = told.running
        assert at is not None  # asked for above
        alone = self._heard(self._of([_only(at)]))
        if not alone.whole:
            yield _fatal(alone, at)
            return
        culprit = self._culprit([each.sample for each in told.finished], at)
        after = f", after {culprit.unit} {culprit.name}" if culprit else ", and not again"
        yield _fatal(replace(told, ended=f"{told.ended}{after}"), at)
        yield from (each for each in alone.finished if culprit is None)

    def _culprit(self, before: Sequence[Sample], at: Sample) -> Sample | None:
        """The one sample after which ``at`` ends its process; None where no half does it again."""
        suspects = list(before)
        while suspects:
            if len(suspects) == 1:
                return suspects[0] if self._ends([*suspects, at]) else None
            half = len(suspects) // 2
            late = suspects[half:]  # what came last is the likelier
            suspects = late if self._ends([*late, at]) else suspects[:half]
        return None

    def _ends(self, samples: Sequence[Sample]) -> bool:
        return not self._heard(self._of([_only(each) for each in samples])).whole

    def _heard(self, job: ProbeJob, keep: Keep | None = None) -> Message:
        return _heard(Child(job, self._program), self._timeout, keep)

    def _of(self, units: Sequence[Unit]) -> ProbeJob:
        return replace(self._job, units=tuple(units))


def _only(sample: Sample) -> Unit:
    """A unit of one sample."""
    return Unit(sample.operator, sample.dtype, only=sample.name)


def _left(units: Sequence[Unit], at: Sample) -> list[Unit]:
    """What is left to run after a sample: the rest of its unit, and the units behind it."""
    names = [unit.name for unit in units]
    place = names.index(at.unit)
    return [replace(units[place], after=at.name), *units[place + 1 :]]


def _fatal(told: Message, at: Sample) -> Finished:
    outcome = Outcome.HANGS if told.hung else Outcome.CRASHES
    if told.call is None:
        return Finished(at, (), f"{told.ended} outside of any call on the device")
    return Finished(at, (replace(told.call, outcome=outcome, text=told.ended),))


# --- one process ---------------------------------------------------------------------------------


def _heard(child: Child, timeout: float, keep: Keep | None) -> Message:
    """Hear a process to its end, or to the end of its time; ``keep`` gets each sample at once."""
    told = Message()
    limit = START_SECONDS
    try:
        while True:
            message = child.next(limit)
            if message is None:
                return _ended(
                    told,
                    Sentence("gave no answer within {figure} s", figure=f"{limit:g}"),
                    hung=True,
                )
            if "ended" in message:
                return _ended(
                    told, Sentence("was ended by {signal}", signal=message["ended"]), hung=False
                )
            if "end" in message:
                return told
            limit = timeout if _noted(told, message) else limit
            if keep is not None and "finished" in message:
                keep(told.finished[-1])
    finally:
        child.kill()


def _ended(told: Message, how: str, *, hung: bool) -> Message:
    """The same, of a process that did not come to its end."""
    return replace(told, ended=how, hung=hung)


def _noted(told: Message, message: Mapping[str, Any]) -> bool:
    """Add what a message says; whether it is of a sample, so that the limit of one holds."""
    match message:
        case {"error": [str(name), what, hint]}:
            raise ERRORS[name](sentence_from_json(what), sentence_from_json(hint))
        case {"bug": text}:
            raise RuntimeError(f"opcheck failed in the process that tries the device:\n{text}")
        case {"device": data}:
            told.device = from_json(Tried, data)
            return False
        case {"units": list(data)}:
            told.units = [from_json(Unit, each) for each in data]
        case {"begins": data}:
            told.running, told.call = from_json(Sample, data), None
        case {"calls": data}:
            told.call = from_json(Observed, data)
        case {"finished": data}:
            told.finished.append(from_json(Finished, data))
            told.running = told.call = None
    return True
