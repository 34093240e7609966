"""What an emulated device was asked for, added up event by event; needs no torch."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from opcheck.model.emulation import Asked, Caution, Event, Happened, HostCalls, Refusal, Site
from opcheck.model.report import KernelCount, Reason
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Verdict

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class _Tally:
    count: int = 0
    nbytes: int = 0
    sites: Counter[Site] = field(default_factory=Counter)

    def places(self) -> tuple[Site, ...]:
        """Every place once, sorted."""
        return tuple(sorted(self.sites))

    def counts(self) -> tuple[int, ...]:
        """How many calls come from each of those."""
        return tuple(self.sites[place] for place in self.places())


class Tallies:
    """Counts by overload and phase."""

    def __init__(self) -> None:
        self.islands = 0
        self.memory_peak = self.steps = self.forwards = 0
        self.notes: dict[str, None] = {}
        self.gaps: dict[Gap, None] = {}
        self._native: Counter[tuple[str, Phase]] = Counter()
        self._missing: Counter[tuple[str, Phase]] = Counter()
        self._conditioned: Counter[tuple[str, Phase]] = Counter()
        self._refused: dict[tuple[str, Phase, Reason | None, str], _Tally] = {}
        self._on_host: dict[tuple[str, Phase, Reason | None], _Tally] = {}
        self._cautions: dict[tuple[str, Phase, Reason | None, Verdict], _Tally] = {}
        self._ashore = True

    def add(self, event: Event) -> None:
        """Count one event."""
        key = (event.op, event.phase)
        match event.kind:
            case Happened.ASKED:
                self._native[key] += 1
                self.memory_peak = max(self.memory_peak, event.nbytes)
            case Happened.LACKED:
                self._missing[key] += 1
            case Happened.STAYED:
                self.islands += self._ashore
                self._ashore = False
            case Happened.LEFT:
                self._ashore = True
                _add(self._on_host, (*key, event.reason), event)
            case Happened.REFUSED:
                self._conditioned[key] += event.by_condition
                _add(self._refused, (*key, event.reason, event.text), event)
            case Happened.CAUTION:
                _add(self._cautions, (*key, event.reason, event.verdict), event)
            case Happened.STEPPED:
                self.steps += 1
            case Happened.CALLED:
                self.forwards += 1
            case Happened.NOTE:
                self.notes[event.text] = None
            case Happened.GAP:
                reason = _reason_or_none(event.reason)
                self.gaps[Gap(event.op, reason.text, reason.code)] = None

    @property
    def any_refused(self) -> bool:
        """Whether anything was refused so far."""
        return bool(self._refused)

    def refusals(self) -> tuple[Refusal, ...]:
        """Everything refused, sorted."""
        return tuple(
            Refusal(
                op, _reason_or_none(reason), error, tally.count, phase, tally.places(),
                tally.counts(),
            )
            for (op, phase, reason, error), tally in _in_order(self._refused)
        )  # fmt: skip

    def host_calls(self) -> tuple[HostCalls, ...]:
        """Everything that ran on the host, sorted."""
        return tuple(
            HostCalls(
                op, _reason_or_none(reason), tally.count, tally.nbytes, phase, tally.places(),
                tally.counts(),
            )
            for (op, phase, reason), tally in _in_order(self._on_host)
        )  # fmt: skip

    def cautions(self) -> tuple[Caution, ...]:
        """Everything that ran otherwise than on the host, sorted."""
        return tuple(
            Caution(
                op, _reason_or_none(reason), tally.count, phase, tally.places(), verdict,
                tally.counts(),
            )
            for (op, phase, reason, verdict), tally in _in_order(self._cautions)
        )  # fmt: skip

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
            for key, count in sorted((self._native + self._missing).items())
        )

    def totals(self) -> Asked:
        """The bare counts, to compare with a prediction."""
        return Asked(dict(self._native), dict(self._missing), dict(+self._conditioned))


def _add(tallies: dict[Key, _Tally], key: Key, event: Event) -> None:
    tally = tallies.setdefault(key, _Tally())
    tally.count += 1
    tally.nbytes += event.nbytes
    if event.site is not None:
        tally.sites[event.site] += 1


def _reason_or_none(reason: Reason | None) -> Reason:
    return reason or Reason("", "")


def _in_order(tallies: dict[Key, _Tally]) -> list[tuple[Key, _Tally]]:
    return sorted(tallies.items(), key=lambda item: str(item[0]))
