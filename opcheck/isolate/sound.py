"""Whether a trace that another process gave holds together, and is what it was asked for."""

from opcheck.model.codec import MalformedError
from opcheck.model.costs import NodeCost
from opcheck.model.trace import Node, Trace
from opcheck.model.work import Request, WorkRequest, WorkResult


def require_answer(result: WorkResult, request: Request) -> None:
    """Refuse a trace that does not hold together, or that was not asked for.

    Raises:
        MalformedError: it is no answer to the request.
    """
    require_sound(result.trace)
    groups = request.groups if isinstance(request, WorkRequest) else ()
    if result.trace.device_type not in {work.device_type for group in groups for work in group}:
        raise MalformedError(f"a trace for {result.trace.device_type!r} was not asked for")


def require_sound(trace: Trace) -> None:
    """Refuse a trace whose numbers do not fit each other.

    Raises:
        MalformedError: an index points nowhere, a count is below one, or a call contains itself.
    """
    _require_range("uses", [use.node for use in trace.uses], len(trace.nodes))
    _require_range("taken_apart", [use.node for use in trace.taken_apart], len(trace.nodes))
    _require_range("sequence", trace.sequence, len(trace.uses))
    called = [child for node in trace.nodes for child in node.children or ()]
    _require_range("nodes.children", [child for child, _ in called], len(trace.nodes))
    if any(use.count < 1 for use in trace.uses) or any(count < 1 for _, count in called):
        raise MalformedError("Trace: want calls counted from one")
    _require_no_circle(trace.nodes)
    _require_costs(trace)


def _require_costs(trace: Trace) -> None:
    """Refuse costs of other nodes or calls than the trace's, or below none."""
    costs = trace.costs
    if costs is None:
        return
    if len(costs.nodes) != len(trace.nodes) or len(costs.live) != len(trace.sequence):
        raise MalformedError("Trace.costs: want one a node, and what lives after each call")
    _require_range("costs.grad_enabled", costs.grad_enabled, len(trace.uses))
    sizes = [size for one in costs.nodes for size in (one.flops or 0, *_sizes(one))]
    sizes += [costs.weights, costs.trained, costs.buffers, costs.inputs, costs.states]
    sizes += [value for birth in costs.gradients for value in birth]
    if min((*sizes, *costs.live, 0 if costs.batch is None else costs.batch), default=0) < 0:
        raise MalformedError("Trace.costs: want no sizes below 0")


def _sizes(cost: NodeCost) -> tuple[int, ...]:
    return cost.elements, cost.read, cost.written, cost.weights, cost.inside


def _require_range(what: str, indices: "list[int] | tuple[int, ...]", length: int) -> None:
    if any(not 0 <= index < length for index in indices):
        raise MalformedError(f"Trace.{what}: want indices below {length}")


def _require_no_circle(nodes: tuple[Node, ...]) -> None:
    """Take away, again and again, calls that no call is left to make."""
    callers = [0] * len(nodes)
    for node in nodes:
        for child, _ in node.children or ():
            callers[child] += 1
    free = [index for index, count in enumerate(callers) if not count]
    taken = 0
    while free:
        taken += 1
        for child, _ in nodes[free.pop()].children or ():
            callers[child] -= 1
            if not callers[child]:
                free.append(child)
    if taken < len(nodes):
        raise MalformedError("Trace.nodes: a call contains itself")
