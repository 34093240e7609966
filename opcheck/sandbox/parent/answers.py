"""Answers of a worker - read, and checked to hold together and to be what was requested."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.codec import Json, MalformedError, from_json
from opcheck.model.costs import NodeCost
from opcheck.model.jobs import Request
from opcheck.model.trace import Node, Trace
from opcheck.model.work import WorkRequest, WorkResult


def require_answer(result: WorkResult, request: Request) -> None:
    """Refuse a trace that does not hold together, or that was not asked for.

    Raises:
        MalformedError: it is no answer to the request.
    """
    require_sound(result.trace)
    groups = request.groups if isinstance(request, WorkRequest) else ()
    asked = {work.device_type for group in groups for work in group}
    for device_type in (result.trace.device_type, *result.alike):
        if device_type not in asked:
            raise MalformedError(
                Sentence("a trace for {text} was not asked for", text=repr(device_type))
            )


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


_RESULT, _TRACE, _NODES = "WorkResult", "Trace", 3
"""Where a result in JSON has its nodes: of a trace the fourth part."""


class Results:
    """Reads results one after the other, each as :func:`from_json` would."""

    def __init__(self) -> None:
        self._written: Sequence[str] = ()
        self._read: tuple[Node, ...] = ()

    def read(self, data: Json) -> WorkResult:
        """One result; MalformedError where it is none."""
        nodes = _nodes(data)
        if nodes is None:
            return from_json(WorkResult, data)  # tells what is wrong
        found = from_json(WorkResult, _without_nodes(data))
        # device types differ in few of them: comparing is much quicker than reading; as text, in
        # which 1 is not True
        written = [repr(node) for node in nodes]
        known = zip(written, self._written, self._read, strict=False)
        alike = [one if text == before else None for text, before, one in known]
        alike += [None] * (len(nodes) - len(alike))
        pairs = zip(alike, nodes, strict=True)
        self._read = tuple(one or from_json(Node, node) for one, node in pairs)
        self._written = written
        return replace(found, trace=replace(found.trace, nodes=self._read))


def _nodes(data: Any) -> list[Any] | None:
    """The nodes of a result in JSON; None where it does not look like one."""
    try:
        nodes = data[_RESULT][0][_TRACE][_NODES]
    except (KeyError, IndexError, TypeError):
        return None
    return nodes if isinstance(nodes, list) else None


def _without_nodes(data: Any) -> Json:
    trace, *rest = data[_RESULT]
    parts = list(trace[_TRACE])
    parts[_NODES] = []
    return {**data, _RESULT: [{**trace, _TRACE: parts}, *rest]}
