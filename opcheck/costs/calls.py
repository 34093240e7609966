"""The calls that a target really runs, and the memory that they need at once."""

from collections import Counter
from collections.abc import Iterator, Sequence

from opcheck.costs.roofline import Leaf, MemoryNeed
from opcheck.model.costs import Costs
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Node, OpName, Phase, Trace
from opcheck.model.verdict import Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.walk import Walk

_WHOLE = frozenset({codes.REGISTERED, codes.CHOSEN, codes.THROUGH_OUT, codes.COLLECTIVE})
"""Codes of calls that the target runs as themselves, or as one other."""
_COPY = OpName.parse("aten::copy_")
"""What it calls is PyTorch's own way to a device, and none of the device's kernels."""
NOT_FUSED = "attention-not-fused"
"""Code of the condition under which a vendor's own kernel of attention runs PyTorch's parts."""


class TargetCalls:
    """What one target runs of a trace that has costs."""

    def __init__(self, trace: Trace, matrix: SupportMatrix) -> None:
        self.trace, self.matrix = trace, matrix
        self._walk = Walk(trace.nodes, matrix, trace.torch_version)
        self._leaves: dict[int, Counter[int]] = {}

    @property
    def costs(self) -> Costs:
        """The costs of the trace.

        Raises:
            ValueError: it was made without them.
        """
        if self.trace.costs is None:
            raise ValueError("the trace has no costs")
        return self.trace.costs

    def leaves(self) -> tuple[Leaf, ...]:
        """Every call that the target runs, in the order of the uses."""
        found: list[Leaf] = []
        for number, use in enumerate(self.trace.uses):
            inside = self.is_not_fused(use.node)  # the vendor's kernel, which runs, calls its parts
            for index, count in self.parts(use.node).items():
                verdict = self.verdict(use.node if inside else index)
                found.append(
                    Leaf(
                        index, number, self._name(index), count * use.count,
                        dtype_of(self.trace.nodes[index]), verdict, self.costs.nodes[index],
                        use.phase, use.module,
                    )
                )  # fmt: skip
        return tuple(found)

    def parts(self, index: int) -> Counter[int]:
        """The nodes that one node runs as on the target, itself or what it is made of."""
        if index not in self._leaves:
            node, parts = self.trace.nodes[index], Counter[int]()
            if self.is_whole(index):
                if not self._is_idle(index):
                    parts[index] = 1
            else:
                for child, count in node.children or ():
                    for leaf, times in self.parts(child).items():
                        parts[leaf] += count * times
            self._leaves[index] = parts
        return self._leaves[index]

    def _is_idle(self, index: int) -> bool:
        """Whether the device has nothing to do: a copy is PyTorch's own, and moves bytes there."""
        idle = self._walk.plain(self.trace.nodes[index]).code == codes.NO_DEVICE_WORK
        return idle and not self.costs.nodes[index].moved

    def _name(self, index: int) -> str:
        """The overload that the target runs for a node, which may be another than the node's."""
        resolution = self._walk.plain(self.trace.nodes[index])
        chosen = resolution.verdict is Verdict.DECOMPOSED and len(resolution.leaves) == 1
        return next(iter(resolution.leaves)) if chosen else str(self.trace.nodes[index].op)

    def is_whole(self, index: int) -> bool:
        """Whether the target does not take the call apart, be it that it cannot run it."""
        node = self.trace.nodes[index]
        if node.composite not in self.matrix.inherits or not node.children or node.op == _COPY:
            return True
        return self._walk.plain(node).code in _WHOLE and not self.is_not_fused(index)

    def is_not_fused(self, index: int) -> bool:
        """Whether the vendor's kernel for it is known to run PyTorch's parts after all."""
        return self._walk.resolution(index).code == NOT_FUSED

    def verdict_of(self, node: Node) -> Verdict:
        """How a call would fare that need not be one of the trace's."""
        return self._walk.decide(node).verdict

    def verdict(self, index: int) -> Verdict:
        """How a call of the node fares."""
        return self._walk.resolution(index).verdict


def dtype_of(node: Node) -> str:
    """The dtype that a call computes in: of its first floating-point tensor, else of its first."""
    tensors = [tensor for _, tensor in node.tensors() if not tensor.host]
    tensors += node.output_tensors()
    floating = (t.dtype for t in tensors if t.dtype.startswith(("float", "bfloat", "complex")))
    return next(floating, _first(tensors))


def _first(tensors: Sequence[object]) -> str:
    return str(getattr(tensors[0], "dtype", "")) if tensors else ""


def memory_need(running: TargetCalls) -> MemoryNeed:
    """What the run needs at the moment at which it needs the most.

    A step is taken to be a later one, whose optimizer has its states from the start.
    """
    costs = running.costs
    most, at, worst = 0, -1, Phase.FORWARD
    for number, (phase, live) in enumerate(_moments(running)):
        nbytes = live if phase is Phase.OPTIMIZER else live + costs.states
        if nbytes > most:
            most, at, worst = nbytes, number, phase
    states = min(costs.states, most)
    gradients = sum(nbytes for born, nbytes in costs.gradients if born <= at)
    gradients = min(gradients, most - states)
    return MemoryNeed(
        weights=costs.weights,
        buffers=costs.buffers,
        inputs=costs.inputs,
        activations=most - states - gradients,
        gradients=gradients,
        states=states,
        batch=costs.batch,
        phase=worst,
    )


def _moments(running: TargetCalls) -> Iterator[tuple[Phase, int]]:
    """Bytes alive at each call of the run; more where the target takes the call apart."""
    trace, costs = running.trace, running.costs
    inside: dict[int, int] = {}
    for number, live in zip(trace.sequence, costs.live, strict=True):
        use = trace.uses[number]
        if use.node not in inside:
            whole = running.is_whole(use.node)
            inside[use.node] = 0 if whole else costs.nodes[use.node].inside
        yield use.phase, live + inside[use.node]
