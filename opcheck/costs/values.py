"""Calls that a target runs itself, and the least time that they can take."""

from enum import StrEnum

from msgspec import Struct

from opcheck.model.costs import NodeCost
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict


class Leaf(Struct, frozen=True):
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


class Bound(Struct, frozen=True):
    """The least time that calls can take on a chip."""

    seconds: float | None
    """None where no figure of the chip's tells."""
    limit: Limit
    whole: bool = True
    """Whether every figure that it needs is known; where not, it is too low a bound."""


class MemoryNeed(Struct, frozen=True):
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
