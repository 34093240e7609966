"""What the process that runs the user's model is asked, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from opcheck.model.emulation import EmulationRequest
from opcheck.model.plan import NodePlan
from opcheck.model.trace import Trace

STACK_SECONDS = 0.3
"""So long before its time is over the process writes where the code stands."""
AT_ONCE = 2
"""Processes that work side by side, and share what memory there is."""


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """One device type to trace for."""

    device_type: str
    exact: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    casts: Mapping[str, str] = field(default_factory=dict)
    plan: tuple[str, ...] = ()
    """``str(Target)`` of the targets to find ways out for."""


@dataclass(frozen=True, slots=True)
class WorkRequest:
    """One model to load and trace."""

    source: str
    """A file, a directory or a name, as the user wrote it."""
    device_type: str
    """What tensors say they are on: ``npu``, …"""
    inputs: tuple[str, ...] = ()
    """``--input``, as the user wrote them."""
    trust: bool = False
    """Whether pickled code in the source may run."""
    exact: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """``str(Target)`` -> overloads that it registers, for the targets wanted exactly."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """dtype that a cast on the device asks for -> the dtype that it gives instead."""
    others: tuple[DeviceWork, ...] = ()
    """Further device types, which one process can trace for together with the first."""
    apart: tuple[tuple[DeviceWork, ...], ...] = ()
    """More, which each need a process of their own or a copy of this one."""
    plan: tuple[str, ...] = ()
    """``str(Target)`` of the targets to find ways out for."""
    databases: tuple[str, ...] = ()
    """Overlays of the database, for plans."""
    rules: tuple[str, ...] = ()
    """Folders of the user's own rules, for plans."""

    @property
    def groups(self) -> tuple[tuple[DeviceWork, ...], ...]:
        """Everything to trace for, by process."""
        first = DeviceWork(self.device_type, self.exact, self.casts, self.plan)
        return ((first, *self.others), *self.apart)


@dataclass(frozen=True, slots=True)
class WorkResult:
    """A model loaded and traced for one device type."""

    trace: Trace
    kind: str
    """The source kind that loaded it."""
    digest: str
    """Of the file or config; empty where there is none."""
    notes: tuple[str, ...] = ()
    """What was chosen for the user while loading."""
    plans: Mapping[str, tuple[NodePlan, ...]] = field(default_factory=dict)
    """``str(Target)`` -> the ways out on it, for the targets asked for."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request as the process gets it, with what it may use."""

    request: WorkRequest | EmulationRequest
    memory: int
    """Bytes that it may allocate."""
    ends: float | None
    """When it is ended, as ``time.time`` tells it; None: never."""
    stack: str
    """The file to write to where the code stands when it crashes or time runs out."""
    shared: bool = False
    """Whether copies of the process share its memory, instead of having as much each."""
    aside: int | None = None
    """File descriptor for what is printed by copies beside the first, which print the same."""

    @property
    def memory_hint(self) -> str:
        """What either process says when memory ran out."""
        if isinstance(self.request, EmulationRequest) and self.request.values:
            return "raise --memory, give smaller inputs, or leave --values out"
        return "raise --memory, or do not load weights: they are not needed"
