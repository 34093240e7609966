"""One trace a device type: what is traced in which process, and the traces as one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import TraceInfo
from opcheck.model.target import Target
from opcheck.model.trace import NOT_AS_OLDER, Trace
from opcheck.model.work import DeviceWork

_PLUGIN = "PrivateUse1"


def works(
    matrices: Sequence[SupportMatrix], *, exact: bool = False, plan: bool = False
) -> tuple[DeviceWork, ...]:
    """What to trace for targets, in an order in which one process may do it.

    A type that PrivateUse1 has to be named after comes first: any name will do to stand in for one
    of PyTorch's own.
    """
    groups: dict[str, list[SupportMatrix]] = defaultdict(list)
    for matrix in sorted(matrices, key=_stood_in_for):
        groups[matrix.target.device_type].append(matrix)
    wanted = _wanted_exactly(exact, matrices)
    return tuple(
        DeviceWork(
            device_type,
            {str(m.target): wanted[str(m.target)] for m in group if str(m.target) in wanted},
            _casts(group),
            _autocast(group),
            tuple(str(m.target) for m in group) if plan else (),
            tuple(str(m.target) for m in group),
        )
        for device_type, group in groups.items()
    )


def processes(
    matrices: Sequence[SupportMatrix], *, exact: bool = False, plan: bool = False
) -> tuple[tuple[DeviceWork, ...], ...]:
    """The same by process: PrivateUse1 has one name in each, and there any type is stood in for.

    Where there are several processes two of them work at a time: the first has half of the types.
    """
    found = works(matrices, exact=exact, plan=plan)
    own = {m.target.device_type for m in matrices if _stood_in_for(m)}
    named = [work for work in found if work.device_type not in own]
    stood_in_for = [work for work in found if work.device_type in own]
    kept = len(stood_in_for) if len(named) < 2 else (len(found) + 1) // 2 - 1
    first = (*named[:1], *stood_in_for[:kept])
    others = [[work] for work in named[1:]]
    for number, work in enumerate(stood_in_for[kept:]):
        others[number % len(others)].append(work)
    return (first, *map(tuple, others))


def _stood_in_for(matrix: SupportMatrix) -> bool:
    return matrix.dispatch_key != _PLUGIN


def _wanted_exactly(
    exact: bool, matrices: Sequence[SupportMatrix]
) -> Mapping[str, tuple[str, ...]]:
    """Targets whose exact kernels are recorded: all on request, else the only one.

    None where a stand-in is traced: what it is asked for is not what the target is.
    """
    if not exact and len(matrices) > 1:
        return {}
    return {str(m.target): tuple(sorted(m.entries)) for m in matrices if not _stood_in_for(m)}


def _casts(matrices: Sequence[SupportMatrix]) -> Mapping[str, str]:
    """Casts that give another dtype than asked on every one of the targets, which share a trace."""
    common = set(matrices[0].casts.items())
    for matrix in matrices[1:]:
        common &= set(matrix.casts.items())
    return dict(sorted(common))


def _autocast(matrices: Sequence[SupportMatrix]) -> Mapping[str, tuple[str, ...]]:
    """The vendor's lists, where all of the targets, which share a trace, have the same ones."""
    first = matrices[0].autocast
    return first if all(matrix.autocast == first for matrix in matrices) else {}


class Traced(Struct, frozen=True):
    """One trace, and the targets that it is true of."""

    trace: Trace
    targets: tuple[str, ...] = ()
    """``str(Target)``; (): all of its device type."""

    @property
    def for_whom(self) -> str:
        """Its device type, or where others of that type differ, its targets."""
        return ", ".join(self.targets) or self.trace.device_type

    @property
    def instead(self) -> bool:
        """Whether it stands for its targets in place of one that all of its device type have."""
        older = self.trace.older is not None
        return older or any(gap.code == NOT_AS_OLDER for gap in self.trace.gaps)

    def holds_for(self, target: Target) -> bool:
        """Whether the trace is true of ``target``."""
        alike = self.trace.device_type == target.device_type
        return str(target) in self.targets or (alike and not self.targets)


_DIFFERS = "traced for {list}: {count} calls of {count_of} operators"


class Scanned(Struct, frozen=True):
    """A model loaded, and traced so that there is a trace for each of its targets."""

    parts: tuple[Traced, ...]
    """At least one."""
    kind: str
    """The source kind that loaded it."""
    digest: str
    """Of the file or config; empty where there is none."""
    notes: tuple[str, ...]
    """What was chosen for the user while loading."""

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Every trace, in the order in which they were made."""
        return tuple(part.trace for part in self.parts)

    @property
    def first(self) -> Trace:
        """The trace whose figures stand for all."""
        return self.parts[0].trace

    @property
    def empty(self) -> bool:
        """Whether nothing was called, and nothing hindered it."""
        return not any(trace.uses or trace.gaps for trace in self.traces)

    def of(self, target: Target) -> Trace:
        """The trace that is true for one of the targets."""
        held = [part for part in self.parts if part.holds_for(target)]
        return next((part for part in held if part.instead), held[0]).trace

    def info(self) -> TraceInfo:
        """What the findings rest on; where traces differ in size, a note tells."""
        traces = self.traces
        calls, operators = _size(self.first)
        differ = [
            Sentence(_DIFFERS, list=part.for_whom, count=size[0], count_of=size[1])
            for part in self.parts
            if (size := _size(part.trace)) != (calls, operators)
        ]
        notes = (*self.notes, *(note for trace in traces for note in trace.notes), *differ)
        return TraceInfo(
            mode=self.first.mode,
            device_type=", ".join(dict.fromkeys(trace.device_type for trace in traces)),
            calls=calls,
            operators=operators,
            gaps=tuple(sorted({gap for trace in traces for gap in trace.gaps})),
            modules_not_called=self.first.modules_not_called,
            notes=tuple(dict.fromkeys(notes)),
            compiled=tuple(sorted({region for trace in traces for region in trace.compiled})),
            launches=tuple(sorted({launch for trace in traces for launch in trace.launches})),
        )


def _size(trace: Trace) -> tuple[int, int]:
    return trace.calls, len({trace.nodes[use.node].op for use in trace.uses})
