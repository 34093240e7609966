"""Traces made in one line, and read as text."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from opcheck.model.trace import Node, OpName, Trace
from opcheck.trace import trace_model


def traced(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Trace:
    """The trace of one forward on an ``npu``."""
    return trace_model(model, args, kwargs, device_type="npu")


def calls(trace: Trace) -> list[str]:
    """The overloads that the model calls, in order."""
    return [str(trace.nodes[trace.uses[use].node].op) for use in trace.sequence]


def node(trace: Trace, op: str) -> Node:
    """The only node of an overload."""
    (found,) = [n for n in trace.nodes if str(n.op) == op]
    return found


def below(trace: Trace, parent: Node) -> list[str] | None:
    """What a node becomes: ``aten::mul.Tensor``, ``aten::view x2``; None: not known."""
    if parent.children is None:
        return None
    return [
        f"{trace.nodes[child].op}{f' x{count}' if count > 1 else ''}"
        for child, count in parent.children
    ]


def summed(trace: Trace, op: str) -> list[str]:
    """What the only node of an overload becomes, wherever the tensors begin in their storage."""
    counts: Counter[OpName] = Counter()
    for child, count in node(trace, op).children or ():
        counts[trace.nodes[child].op] += count
    return [f"{name}{f' x{count}' if count > 1 else ''}" for name, count in counts.items()]


def written(trace: Trace) -> list[str]:
    """Every use with what it becomes, one line a call, children indented."""
    return [line for use in trace.uses for line in _lines(trace, use.node, use.count, "")]


def _lines(trace: Trace, index: int, count: int, indent: str) -> list[str]:
    inner = trace.nodes[index]
    lines = [f"{indent}{inner.op}{f' x{count}' if count > 1 else ''}"]
    for child, times in inner.children or ():
        lines += _lines(trace, child, times, indent + "  ")
    return lines


def reasons(trace: Trace) -> list[str]:
    """Why something could not be seen, without where."""
    return [gap.reason for gap in trace.gaps]
