"""Bytes that a run needs at once on a target."""

from collections.abc import Iterator

from opcheck.costs.leaves import Running
from opcheck.costs.values import MemoryNeed
from opcheck.model.trace import Phase


def memory_need(running: Running) -> MemoryNeed:
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


def _moments(running: Running) -> Iterator[tuple[Phase, int]]:
    """Bytes alive at each call of the run; more where the target takes the call apart."""
    trace, costs = running.trace, running.costs
    inside: dict[int, int] = {}
    for number, live in zip(trace.sequence, costs.live, strict=True):
        use = trace.uses[number]
        if use.node not in inside:
            whole = running.is_whole(use.node)
            inside[use.node] = 0 if whole else costs.nodes[use.node].inside
        yield use.phase, live + inside[use.node]
