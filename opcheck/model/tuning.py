"""What a model costs on a target, what bounds it there, and what would make it cost less."""

from dataclasses import dataclass
from enum import StrEnum

from opcheck.model.cost import NodeCost
from opcheck.model.report import ModelInfo, TraceInfo
from opcheck.model.trace import Phase
from opcheck.model.verdict import Evidence, Verdict

SCHEMA = "opcheck.tune/1"


@dataclass(frozen=True, slots=True)
class Leaf:
    """Calls of one overload that the target runs itself, from one place in the model."""

    node: int
    """Index into ``Trace.nodes``."""
    use: int
    """Index into ``Trace.uses``: the call of the model's that they are part of."""
    op: str
    """The overload: ``aten::addmm``."""
    count: int
    """How often, in the whole run."""
    dtype: str
    """Of its first floating-point tensor, else of its first tensor; "" without one."""
    verdict: Verdict
    """How one such call fares."""
    cost: NodeCost
    """Of one such call."""
    phase: Phase = Phase.FORWARD
    module: str = ""
    """Where it is made, as in a use."""

    @property
    def base(self) -> str:
        """The operator without namespace and overload: ``addmm``."""
        return self.op.partition("::")[2].partition(".")[0]


class Limit(StrEnum):
    """What a call waits for, at best."""

    COMPUTE = "compute"
    BANDWIDTH = "bandwidth"
    HOST = "host"
    """It runs on the host: how fast that is nobody has said."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Bound:
    """The least time that calls can take on a chip."""

    seconds: float | None
    """None where no figure of the chip's tells."""
    limit: Limit
    whole: bool = True
    """Whether every figure that it needs is known; where not, it is too low a bound."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Bytes that a run needs on the device at once.

    What the vendor's runtime, its allocator and the kernels' work spaces take is not in it.
    """

    weights: int
    buffers: int
    inputs: int
    activations: int
    """At the moment at which the most is needed, as are the next two."""
    gradients: int = 0
    states: int = 0
    batch: int | None = None
    """The first size that all inputs share; None: they share none."""
    phase: Phase = Phase.FORWARD
    """When the most is needed."""

    @property
    def fixed(self) -> int:
        """What a larger batch leaves as it is."""
        return self.weights + self.buffers + self.gradients + self.states

    @property
    def total(self) -> int:
        """All of it."""
        return self.fixed + self.inputs + self.activations


@dataclass(frozen=True, slots=True)
class Gain:
    """What an advice brings at most, by the bounds."""

    share: float | None = None
    """Of the time that bounds the run, between 0 and 1; None: not known."""
    seconds: float | None = None
    """The same as time; None: not known."""
    nbytes: int | None = None
    """Bytes of memory that are saved; None: not known, or none."""
    text: str = ""
    """How it was computed, or why it is not known; one clause."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to change, why, and what it brings."""

    code: str
    """The advice: ``half-precision``."""
    title: str
    """What to do, as an order."""
    where: tuple[str, ...]
    """Module patterns, operators or lines; () for the whole model."""
    reason: str
    """What in the trace speaks for it, with its figures."""
    gain: Gain
    actions: tuple[str, ...] = ()
    """What to do in words, one clause each."""
    lines: tuple[str, ...] = ()
    """Lines of code to write, or commands to run."""
    evidence: tuple[Evidence, ...] = ()
    """What says so of the chip or the vendor's software."""
    needed: bool = False
    """Whether the model does not run there, or gives wrong values, without it."""


@dataclass(frozen=True, slots=True)
class OperatorCost:
    """All calls of one overload on the target, together."""

    op: str
    calls: int
    flops: int | None
    """None where nobody has said how many for some of them."""
    moved: int
    """Bytes read and written."""
    bound: Bound
    share: float | None
    """Of the time that bounds the run; None: not known."""
    module: str
    """Where the most of it is."""


@dataclass(frozen=True, slots=True)
class ChipFigure:
    """One figure of the chip's that the bounds rest on."""

    name: str
    """``memory``, ``bandwidth``, ``peak float16``."""
    value: float | None
    """In bytes, bytes a second or operations a second; None: not known."""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class TunedTarget:
    """What a model costs on one target, and what would make it cost less."""

    target: str
    vendor: str
    chip: str
    title: str
    """What the vendor calls the chip: ``NVIDIA A100``."""
    product: str
    """The product whose figures are taken: ``A100 80GB SXM``; "" where none is known."""
    others: tuple[str, ...]
    """Other products with the chip."""
    runs: bool | None
    """As in a report: None where that is not known."""
    figures: tuple[ChipFigure, ...]
    flops: int
    """Of all products of matrices whose operations are known."""
    elements: int
    """Element operations beside those."""
    moved: int
    """Bytes read and written by all calls."""
    bound: Bound
    operators: tuple[OperatorCost, ...]
    """The dearest first."""
    memory: MemoryNeed
    largest_batch: int | None
    """How many examples the chip's memory has room for, if all that lives at once grows with them;
    None where that is not known."""
    advice: tuple[Advice, ...]
    """What is needed first, then what brings the most, then what is not known to."""
    unknown: tuple[str, ...] = ()
    """What is not known, and kept something from being said; one sentence each."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What ``opcheck tune`` found."""

    opcheck_version: str
    torch_version: str
    model: ModelInfo
    trace: TraceInfo
    targets: tuple[TunedTarget, ...]
