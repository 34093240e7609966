"""What the emulated device was called on, as it happens, and the journal that outlives a crash."""

import contextlib
import json
from collections.abc import Callable
from copy import copy
from pathlib import Path

import torch

from opcheck.emulate.tallies import Tallies
from opcheck.model.codec import to_json
from opcheck.model.emulation import (
    Asked,
    Caution,
    Emulation,
    Event,
    Happened,
    HostCalls,
    Refusal,
    Site,
)
from opcheck.model.report import KernelCount, Reason
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Verdict


class Record:
    """Counts by overload and phase.

    ``where`` tells the user's line that is running, ``most`` how many bytes were live at most.
    """

    def __init__(self, where: Callable[[], Site], most: Callable[[], int]) -> None:
        self._where, self._most = where, most
        self._tallies = Tallies()
        self.phase: Phase | None = None
        """Set by whoever knows; None: backward is recognised, everything else is forward."""
        self.told: Callable[[Event], None] | None = None
        """Called with every event."""

    @property
    def now(self) -> Phase:
        """The phase that is running."""
        if self.phase is not None:
            return self.phase
        inside = torch._C._current_graph_task_id() != -1
        return Phase.BACKWARD if inside else Phase.FORWARD

    def begin(self, phase: Phase) -> None:
        """Count what follows as of ``phase``."""
        self.phase = phase

    def kernel_ran(self, op: str) -> None:
        """Count one call that reached a kernel of the device."""
        self._add(Event(Happened.ASKED, op, self.now, nbytes=self._most()))

    def lacked(self, op: str) -> None:
        """Count one call that found no kernel."""
        self._add(Event(Happened.LACKED, op, self.now))

    def stayed(self) -> None:
        """Note that a kernel ran on the device."""
        self._add(_STAYED)

    def left(self, op: str, reason: Reason, nbytes: int) -> None:
        """Note a call that ran on the host."""
        self._add(Event(Happened.LEFT, op, self.now, reason, nbytes=nbytes, site=self._where()))

    def refused(self, op: str, reason: Reason, error: BaseException, by_condition: bool) -> None:
        """Note a call that the device refuses."""
        text = f"{type(error).__name__}: {str(error).strip()}"
        self._add(
            Event(
                Happened.REFUSED, op, self.now, reason, text,
                by_condition=by_condition, site=self._where(),
            )
        )  # fmt: skip

    def caution(self, op: str, reason: Reason, verdict: Verdict) -> None:
        """Note a call that runs otherwise than on the host (NATIVE), or may not run (UNKNOWN)."""
        where = self._where()
        self._add(Event(Happened.CAUTION, op, self.now, reason, verdict=verdict, site=where))

    def stepped(self) -> int:
        """Count a step of an optimizer; gives how many there were."""
        self._add(Event(Happened.STEPPED))
        return self._tallies.steps

    def called(self) -> int:
        """Count a call of an outermost module; gives how many there were."""
        self._add(Event(Happened.CALLED))
        return self._tallies.forwards

    def note(self, text: str) -> None:
        """Keep a sentence about the run, once."""
        if text not in self._tallies.notes:
            self._add(Event(Happened.NOTE, text=text))

    def gap(self, gap: Gap) -> None:
        """Keep what the run cannot show, once."""
        if gap not in self._tallies.gaps:
            reason = Reason(gap.code, gap.reason)
            self._add(Event(Happened.GAP, gap.where, reason=reason))

    def _add(self, event: Event) -> None:
        self._tallies.add(event)
        if self.told is not None:
            self.told(event)

    def cut(self) -> "Record":
        """Give what was counted so far as a record of its own, and be as new from here.

        A phase that an error left behind, in the middle of an optimizer's step, is forgotten too.
        """
        before = copy(self)
        vars(self).update(vars(Record(self._where, self._most)))
        return before

    @property
    def islands(self) -> int:
        """Maximal runs of kernels that stay on the device."""
        return self._tallies.islands

    @property
    def steps(self) -> int:
        """Steps of optimizers."""
        return self._tallies.steps

    @property
    def forwards(self) -> int:
        """Calls of outermost modules."""
        return self._tallies.forwards

    @property
    def notes(self) -> dict[str, None]:
        """What was told about the run."""
        return self._tallies.notes

    @property
    def gaps(self) -> dict[Gap, None]:
        """What the run could not show."""
        return self._tallies.gaps

    @property
    def any_refused(self) -> bool:
        """Whether anything was refused so far."""
        return self._tallies.any_refused

    def refusals(self) -> tuple[Refusal, ...]:
        """Everything refused, sorted."""
        return self._tallies.refusals()

    def host_calls(self) -> tuple[HostCalls, ...]:
        """Everything that ran on the host, sorted."""
        return self._tallies.host_calls()

    def cautions(self) -> tuple[Caution, ...]:
        """Everything that ran otherwise than on the host, sorted."""
        return self._tallies.cautions()

    def kernels(self) -> tuple[KernelCount, ...]:
        """Every overload that was asked for, at its worst verdict, sorted."""
        return self._tallies.kernels()

    def totals(self) -> Asked:
        """The bare counts, to compare with a prediction."""
        return self._tallies.totals()


_STAYED = Event(Happened.STAYED)


class Journal:
    """A file of lines: the answer as it is before anything happens, then every event.

    It is unbuffered, as the tracer's is: what ends the process takes no more than one event.
    """

    def __init__(self, path: Path, begun: Emulation) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  # for the process's life
        self._begun = begun

    def follow(self, record: Record) -> None:
        """Follow ``record`` from now on; what another run did is forgotten."""
        with contextlib.suppress(OSError):
            self._file.seek(0)
            self._file.truncate()
        self._write(self._begun)
        record.told = self._write

    def _write(self, value: Emulation | Event) -> None:
        with contextlib.suppress(OSError):  # no room, or the user's code closed it
            self._file.write(json.dumps(to_json(value)).encode() + b"\n")
