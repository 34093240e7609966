"""What tracing a model is asked for, and what it answers."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.errors import OpcheckError, TraceError
from opcheck.model.plan import NodePlan
from opcheck.model.request import ModelSpec
from opcheck.model.trace import Constant, Gap, Node, OpName, Trace, Use


class DeviceWork(Struct, frozen=True):
    """One device type to trace for."""

    device_type: str
    """What tensors say they are on: ``npu``, …"""
    exact: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """``str(Target)`` -> overloads that it registers, for the targets to record kernels of."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """dtype that a cast on the device names -> the dtype that it gives instead."""
    autocast: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Policy of ``torch.autocast`` -> overloads, where the vendor has lists of its own."""
    plan: tuple[str, ...] = ()
    """``str(Target)`` of the targets to find suggestions for."""
    targets: tuple[str, ...] = ()
    """``str(Target)`` of all targets of this type: a training step has a trace for each set of
    them whose gradients are alike."""


VIEWING = frozenset({"xla"})
"""Device types on which ``reshape`` is a view, no alias: ``reshape_symint`` in TensorShape.cpp."""
_RESHAPE_ALIAS, _VIEW = OpName("aten", "_reshape_alias"), OpName("aten", "view")


class WorkRequest(Struct, frozen=True):
    """One model to load and trace."""

    model: ModelSpec
    groups: tuple[tuple[DeviceWork, ...], ...]
    """The device types to trace for: those of one group in one process, each further group in a
    process of its own or a copy of the first."""
    databases: tuple[str, ...] = ()
    """Overlays of the database, for plans."""
    rules: tuple[str, ...] = ()
    """Folders of the user's own rules, for plans."""
    costs: bool = False
    """Whether to record what the calls cost, and what lives at once."""


class WorkResult(Struct, frozen=True):
    """A model loaded and traced for one device type."""

    trace: Trace
    kind: str
    """The source kind that loaded it."""
    digest: str
    """Of the file or config; empty where there is none."""
    notes: tuple[str, ...] = ()
    """What was chosen for the user while loading."""
    plans: Mapping[str, tuple[NodePlan, ...]] = field(default_factory=dict)
    """``str(Target)`` -> the suggestions on it, for the targets asked for."""
    targets: tuple[str, ...] = ()
    """``str(Target)`` of those that the trace holds for; (): of all of its device type."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The user's own files whose code was imported -> digest."""
    alike: tuple[str, ...] = ()
    """Further device types that have the same trace, but for their name."""

    def by_type(self) -> "tuple[WorkResult, ...]":
        """One result for each device type that the trace is true of."""
        plain = replace(self, alike=())
        return (plain, *(replace(plain, trace=_of_type(self.trace, name)) for name in self.alike))


def _of_type(trace: Trace, device_type: str) -> Trace:
    nodes = renamed(trace.nodes, trace.device_type, device_type)
    if device_type in VIEWING:
        nodes = map(viewed, nodes)
    return replace(trace, device_type=device_type, nodes=tuple(nodes))


def viewed(node: Node) -> Node:
    """The call that one of :data:`VIEWING` gets in place of a call."""
    if node.op != _RESHAPE_ALIAS:
        return node
    return replace(node, op=_VIEW, arguments=node.arguments[:2])  # without the strides


def renamed(nodes: Iterable[Node], was: str, now: str) -> Iterator[Node]:
    """Nodes whose arguments name the device ``now`` where they named ``was``."""
    before, after = Constant("device", was), Constant("device", now)
    for node in nodes:
        if any(value == before for _, value in node.arguments):
            given = tuple((n, after if value == before else value) for n, value in node.arguments)
            yield replace(node, arguments=given)
        else:
            yield node


class CutShortError(TraceError):
    """The model's process ended before it had answered; ``results`` is what there is until then."""

    def __init__(self, error: OpcheckError, results: tuple[WorkResult, ...]) -> None:
        super().__init__(error.message, error.hint)
        self.results = results


class Recorded(Struct, frozen=True):
    """What a run has recorded since it last said so; added up, it is the trace so far."""

    nodes: tuple[Node, ...]
    uses: tuple[Use, ...]
    """Places new since then; ``count`` is not yet known."""
    sequence: tuple[int, ...]
    gaps: tuple[Gap, ...]
