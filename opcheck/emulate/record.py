"""What the emulated device was asked for, as it happens."""

from collections import Counter
from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import dataclass, field
from typing import TypeVar

import torch

from opcheck.model.emulation import Asked, Caution, HostCalls, Refusal, Site
from opcheck.model.report import KernelCount, Reason
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class _Tally:
    count: int = 0
    nbytes: int = 0
    sites: dict[Site, None] = field(default_factory=dict)

    def places(self) -> tuple[Site, ...]:
        """Every place once, sorted."""
        return tuple(sorted(self.sites))


class Record:
    """Counts by overload and phase; ``where`` tells the user's line that is running."""

    def __init__(self, where: Callable[[], Site]) -> None:
        self._where = where
        self.phase: Phase | None = None
        """Set by whoever knows; None: backward is recognised, everything else is forward."""
        self.native: Counter[tuple[str, Phase]] = Counter()
        self.missing: Counter[tuple[str, Phase]] = Counter()
        self.conditioned: Counter[tuple[str, Phase]] = Counter()
        """Calls that a condition refused."""
        self.islands = 0
        self.notes: dict[str, None] = {}
        self._refused: dict[tuple[str, Phase, Reason, str], _Tally] = {}
        self._on_host: dict[tuple[str, Phase, Reason], _Tally] = {}
        self._cautions: dict[tuple[str, Phase, Reason], _Tally] = {}
        self._ashore = True

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

    def asked(self, op: str) -> None:
        """Count one call that reached a kernel of the device."""
        self.native[(op, self.now)] += 1

    def lacked(self, op: str) -> None:
        """Count one call that found no kernel."""
        self.missing[(op, self.now)] += 1

    def stayed(self) -> None:
        """Note that a kernel ran on the device."""
        self.islands += self._ashore
        self._ashore = False

    def left(self, op: str, reason: Reason, nbytes: int) -> None:
        """Note a call that ran on the host."""
        self._ashore = True
        self._add(self._on_host, (op, self.now, reason), nbytes)

    def refused(self, op: str, reason: Reason, error: BaseException, by_condition: bool) -> None:
        """Note a call that the device refuses."""
        if by_condition:
            self.conditioned[(op, self.now)] += 1
        text = f"{type(error).__name__}: {str(error).strip()}"
        self._add(self._refused, (op, self.now, reason, text))

    def caution(self, op: str, reason: Reason) -> None:
        """Note a call that runs otherwise than on the host."""
        self._add(self._cautions, (op, self.now, reason))

    def note(self, text: str) -> None:
        """Keep a sentence about the run, once."""
        self.notes[text] = None

    def _add(self, tallies: dict[Key, _Tally], key: Key, nbytes: int = 0) -> None:
        tally = tallies.setdefault(key, _Tally())
        tally.count += 1
        tally.nbytes += nbytes
        tally.sites[self._where()] = None

    def cut(self) -> "Record":
        """Give what was counted so far as a record of its own, and be as new from here.

        A phase that an error left behind, in the middle of an optimizer's step, is forgotten too.
        """
        before = copy(self)
        vars(self).update(vars(Record(self._where)))
        return before

    @property
    def any_refused(self) -> bool:
        """Whether anything was refused so far."""
        return bool(self._refused)

    def refusals(self) -> tuple[Refusal, ...]:
        """Everything refused, sorted."""
        return tuple(
            Refusal(op, reason, error, tally.count, phase, tally.places())
            for (op, phase, reason, error), tally in _in_order(self._refused)
        )

    def host_calls(self) -> tuple[HostCalls, ...]:
        """Everything that ran on the host, sorted."""
        return tuple(
            HostCalls(op, reason, tally.count, tally.nbytes, phase, tally.places())
            for (op, phase, reason), tally in _in_order(self._on_host)
        )

    def cautions(self) -> tuple[Caution, ...]:
        """Everything that ran otherwise than on the host, sorted."""
        return tuple(
            Caution(op, reason, tally.count, phase, tally.places())
            for (op, phase, reason), tally in _in_order(self._cautions)
        )

    def kernels(self) -> tuple[KernelCount, ...]:
        """Every overload that was asked for, at its worst verdict, sorted."""
        refused = {(op, phase) for op, phase, *_ in self._refused}
        on_host = {(op, phase) for op, phase, _ in self._on_host}

        def verdict(key: tuple[str, Phase]) -> Verdict:
            if key in refused:
                return Verdict.UNSUPPORTED
            return Verdict.FALLBACK if key in on_host else Verdict.NATIVE

        return tuple(
            KernelCount(key[0], verdict(key), count, key[1])
            for key, count in sorted((self.native + self.missing).items())
        )

    def totals(self) -> Asked:
        """The bare counts, to compare with a prediction."""
        return Asked(dict(self.native), dict(self.missing), dict(self.conditioned))


def _in_order(tallies: dict[Key, _Tally]) -> list[tuple[Key, _Tally]]:
    return sorted(tallies.items(), key=lambda item: str(item[0]))
