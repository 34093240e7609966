"""A changed model and the unchanged one, run with values; results and gradients compared."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.commands.emulate.answer import emulate
from opcheck.commands.fix.suggestions import AppliedSuggestion
from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.emulation import Difference, Emulation, EmulationRequest
from opcheck.model.jobs import HostRequest, HostRun, Tolerance
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Compared, Label
from opcheck.model.request import ScanRequest, TrainingSpec
from opcheck.pipeline.database import Progress


class Limits(Struct, frozen=True):
    """How far each result and each gradient may be off."""

    promised: bool
    """Whether there is a figure; there is none where something else is computed."""
    moved: Mapping[str, float]
    """How far the unchanged model's move when what was replaced is off by what is stated."""
    own: Mapping[str, float] = field(default_factory=dict)
    """How far the device's are off without any change."""
    lost: frozenset[str] = frozenset()
    """Gradients that the device has none of, or no numbers, without any change."""

    def allowed(self, name: str) -> float | None:
        """The largest difference of one; None: any figure."""
        if not self.promised or name in self.lost:
            return None
        return self.moved.get(name, 0.0) + self.own.get(name, 0.0)

    def beside(self, plain: Iterable[Difference]) -> "Limits":
        """The same for a device that is off by so much without any change."""
        plain = tuple(plain)
        lost = frozenset(d.name for d in plain if d.of_backward and d.largest is None)
        return replace(self, own={d.name: d.largest for d in plain if d.largest}, lost=lost)

    @property
    def is_wider(self) -> bool:
        """Whether the device is off by itself."""
        return bool(self.own or self.lost)

    def hold(self, found: Iterable[Difference]) -> bool:
        """Whether every one is as near as it is allowed to be."""
        return all(self._excess(difference) <= 1.0 for difference in found)

    def compared(self, results: int, found: Sequence[Difference]) -> Compared:
        """What came of comparing; ``found`` may hold one result several times."""
        worst = max(found, key=lambda d: (self._excess(d), d.largest or 0.0), default=None)
        if worst is None:
            return Compared(results)
        return Compared(
            results, worst.name, worst.dtype, worst.largest, self.allowed(worst.name),
            self.hold(found),
        )  # fmt: skip

    def _excess(self, found: Difference) -> float:
        """The difference in units of what is allowed."""
        if found.largest is None:
            return 0.0 if found.name in self.lost else float("inf")
        allowed = self.allowed(found.name)
        if not found.largest or allowed is None:
            return 0.0
        return found.largest / allowed if allowed else float("inf")


_ATTENTION = "aten::scaled_dot_product_attention"
_OF_ATTENTION = frozenset(("aten::matmul", "aten::bmm", "aten::softmax.int", "aten::_softmax"))
"""What libraries write attention as for a torch without a kernel of it; the host has one."""


def tolerances(ways: Iterable[AppliedSuggestion]) -> Mapping[str, Tolerance]:
    """How far each replaced overload may be off; empty where something else is computed."""
    found: dict[str, Tolerance] = {}
    for op, way in ways:
        if way.label is Label.APPROXIMATE:
            return {}
        known = found.get(way.replaces, Tolerance(0.0, ()))
        fused = (_ATTENTION,) if way.replaces in _OF_ATTENTION else ()
        calls = dict.fromkeys((*known.calls, op, *fused))
        found[way.replaces] = Tolerance(max(known.eps, way.tolerance), tuple(calls))
    return found


def named_as(found: Sequence[Difference], names: Iterable[str]) -> tuple[Difference, ...]:
    """Give results the names that the unchanged model's have: a saved graph's are in its order."""
    names = tuple(names)
    if len(names) != len(found):
        return tuple(found)
    return tuple(replace(d, name=name) for d, name in zip(found, names, strict=True))


class Change(Struct, frozen=True):
    """A changed model beside the unchanged one."""

    unchanged: ScanRequest
    """How to load the model as it is."""
    changed: ScanRequest
    """How to load it as it became; the same where only shims are new."""
    ways: tuple[AppliedSuggestion, ...]
    """What was followed."""
    shims: tuple[str, ...] = ()
    """Files with kernels for the device."""


class Runs(Struct, frozen=True):
    """What running both came to."""

    forward: Compared
    backward: Compared | None
    no_backward: str
    """Why ``backward`` is None."""
    emulated: Emulation | None
    """The forward on the emulated device; None where there is none of the target."""
    note: str

    @property
    def holds(self) -> bool:
        """Whether the changed model ran, and gives what the unchanged one does."""
        finished = self.emulated is None or self.emulated.finished
        return finished and self.forward.holds and (self.backward is None or self.backward.holds)


def run_both(change: Change, matrix: SupportMatrix, progress: Progress, output: Progress) -> Runs:
    """Run both on the host, and the changed one on the emulated device, where that can be.

    Raises:
        SourceError, EmulationError: a model cannot be loaded or run at all.
    """
    before, after = _on_host(change, progress, output)
    least = max((way.label for _, way in change.ways), key=lambda label: label.rank)
    known = before.moved is not None and least is not Label.APPROXIMATE
    moved = before.moved or {}
    device = _Device(change, progress, output) if _can_be_emulated(matrix) else None
    forward = _Side(after.forward, Limits(known or least is Label.EXACT, moved))
    backward = _Side(after.backward, Limits(known, moved))
    reason = before.no_backward or after.no_backward
    ran = None
    if device is not None and change.unchanged.model.step is not None:
        ran = device.run(forward, backward)  # one run gives both
    elif device is not None:
        ran = device.run(forward)
        if not reason and ran.finished:
            reason = device.gradients(backward)
    notes = [_TOO_OLD] if before.moved is None else []
    notes += [_ITSELF] if forward.limits.is_wider or backward.limits.is_wider else []
    notes += [_ALONE] if _is_wrapped(change.unchanged) else []
    return Runs(
        forward.compared(),
        backward.compared() if backward.found else None,
        "" if backward.found else reason,
        ran,
        chained(notes, "; "),
    )


_TOO_OLD = Sentence("what the tolerances come to in this model can be told with torch 2.9 or later")
_ITSELF = Sentence("the device itself is off without any change, and that much is allowed")
_ALONE = Sentence(
    "values are those of one process that trains alone: the others are not there to send any"
)


class _Side:
    """What is compared, forward or backward."""

    def __init__(self, on_host: Sequence[Difference], limits: Limits) -> None:
        self.on_host = on_host
        self.found = [*on_host]
        self.limits = limits

    def named(self, found: Sequence[Difference]) -> tuple[Difference, ...]:
        """Differences under the names that they have on the host."""
        return named_as(found, [difference.name for difference in self.on_host])

    def allows(self, found: Sequence[Difference]) -> bool:
        """Whether nothing is further off than it may be."""
        return self.limits.hold(self.named(found))

    def compared(self) -> Compared:
        """What came of it."""
        results = len({difference.name for difference in self.found})
        return self.limits.compared(results, self.found)


class _Device:
    """Runs of a model on the emulated device."""

    def __init__(self, change: Change, progress: Progress, output: Progress) -> None:
        self._change = change
        self._progress = progress
        self._output = output

    def run(self, *sides: _Side, gradients: bool = False) -> Emulation:
        """Run the changed model; where that is too far off, the unchanged one as well.

        Of two sides the second is what a step gives beside its outputs.
        """
        ran = self._emulate(self._change.changed, self._change.shims, gradients)
        parts = _parted(ran, sides)
        if ran.finished and not all(map(_Side.allows, sides, parts)):
            self._progress(Sentence("running the unchanged model on the emulated device as well"))
            plain = self._emulate(self._change.unchanged, (), gradients)
            for side, found in zip(sides, _parted(plain, sides), strict=True):
                side.limits = side.limits.beside(side.named(found))
        for side, found in zip(sides, parts, strict=True):
            side.found += side.named(found)
        return ran

    def gradients(self, side: _Side) -> str:
        """Compare gradients; why that cannot be, where the unchanged model's cannot be had."""
        ran = self.run(side, gradients=True)
        if ran.finished:
            return ""
        plain = self._emulate(self._change.unchanged, (), gradients=True)
        if plain.finished:  # the change is to blame
            side.found.append(Difference(Sentence("gradients on the device"), (), "", None))
            return ""
        return Sentence("on the emulated device, backward ends early: {text}", text=plain.error)

    def _emulate(self, scan: ScanRequest, shims: tuple[str, ...], gradients: bool) -> Emulation:
        return emulate(_emulation(scan, shims, gradients), self._progress, self._output)


def _parted(ran: Emulation, sides: Sequence[_Side]) -> Sequence[Sequence[Difference]]:
    """What differs, for each side: all of it for one, of two what is of backward for the second."""
    found = ran.differences or ()
    if len(sides) == 1:
        return (found,)
    return [d for d in found if not d.of_backward], [d for d in found if d.of_backward]


def _emulation(scan: ScanRequest, shims: tuple[str, ...], gradients: bool) -> EmulationRequest:
    return EmulationRequest(
        replace(scan.model, step=_alone(scan.model.step)),
        scan.targets[0],
        gradients=gradients,
        values=True,
        databases=scan.databases,
        shims=shims,
    )


def _alone(step: TrainingSpec | None) -> TrainingSpec | None:
    """The step of one process: what others would send has no values here."""
    return None if step is None else replace(step, wrap="")


def _is_wrapped(scan: ScanRequest) -> bool:
    return scan.model.step is not None and bool(scan.model.step.wrap)


def _on_host(change: Change, progress: Progress, output: Progress) -> tuple[HostRun, HostRun]:
    """The unchanged model on the host, and the changed one compared with it."""
    from opcheck.sandbox.parent.run import on_host

    with tempfile.TemporaryDirectory(prefix="opcheck-") as folder:
        kept = str(Path(folder) / "results.pt")
        first = replace(_host(change.unchanged), keep=kept, tolerances=tolerances(change.ways))
        progress(
            Sentence("running {text} on the host, as it is", text=change.unchanged.model.source)
        )
        before = on_host(first, progress=progress, output=output)
        if change.changed == change.unchanged:
            return before, HostRun((), ())
        progress(
            Sentence("running {text} on the host, as it became", text=change.changed.model.source)
        )
        second = replace(_host(change.changed), against=kept)
        return before, on_host(second, progress=progress, output=output)


def _host(scan: ScanRequest) -> HostRequest:
    return HostRequest(replace(scan.model, step=_alone(scan.model.step)))  # fmt: skip


def _can_be_emulated(matrix: SupportMatrix) -> bool:
    from opcheck.emulate.supported import require_emulated

    try:
        require_emulated(matrix)
    except EmulationError:
        return False
    return True
