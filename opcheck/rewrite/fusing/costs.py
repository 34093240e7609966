"""What calls move through memory at least, as the cost model counts it: by dtypes and sizes."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, Node
from torch.utils._pytree import tree_leaves

from opcheck.rewrite.fusing.nodes import example_of, is_check, source, value


def cost(nodes: Iterable[Node]) -> tuple[int, int]:
    """How many calls do work on a device, and the bytes that they read and write."""
    working = [node for node in nodes if _works(node)]
    return len(working), sum(map(_moved, working))


def graph_cost(graph: Graph) -> tuple[int, int]:
    """The same of a whole graph."""
    return cost(graph.nodes)


def _works(node: Node) -> bool:
    """Whether a call is more than a view, a check, or its first argument as it is."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or is_check(node):
        return False
    if source(node) is not node:
        return False
    views = [r.alias_info for r in target._schema.returns if r.alias_info is not None]
    return not any(not alias.is_write for alias in views)


def _moved(node: Node) -> int:
    return sum(map(_size, tree_leaves((node.args, dict(node.kwargs))))) + sum(
        map(_bytes, tree_leaves(value(node)))
    )


def _size(argument: Any) -> int:
    return _bytes(value(argument))


def _bytes(tensor: Any) -> int:
    """The bytes of a tensor; what it repeats counts once."""
    if not isinstance(tensor, Tensor):
        return 0
    elements = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        elements *= 1 if isinstance(stride, int) and stride == 0 else example_of(size)
    return elements * tensor.element_size()
