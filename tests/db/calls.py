"""Calls of operators that tests hold against conditions."""

from opcheck.model.trace import Node, OpName, TensorMeta, Value


def dense(*shape: int, dtype: str = "float32") -> TensorMeta:
    """A tensor whose elements lie in order."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return TensorMeta(dtype, shape, tuple(reversed(steps)))


def node(op: str, **arguments: Value) -> Node:
    """A call of an overload."""
    return Node(OpName.parse(op), tuple(arguments.items()))
